"""Outputs that a device gave as files: what it did with a case, read without trust from the case's folder.

A folder of outputs has one folder for each case, named as `case_folder` says or by the case id as a path. In
it lie `output_0`, `output_1` and so on, each as `.npy` or `.pb` (a TensorProto), or all in `outputs.npz`;
`status.json` may say what happened instead (`status`, `message`, `seconds`), or describe outputs that lie
there as plain bytes (`outputs`: `file`, `element_type`, `shape`; elements as the worker protocol has them).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.adopting.foreign_values import parse_array, parse_arrays, parse_tensor
from conformance.judging.responses import Answered, Crashed, Refused, Response, TimedOut, WorkerFailed
from conformance.models.case_models import Form
from conformance.processes.frames import LONGEST_MESSAGE, MOST_OUTPUTS, MOST_SECONDS, PROTOCOLS, cut
from conformance.running.requests import Offer, read_offer
from conformance.runtimes.adapter import load_adapter
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.strict_json import parse_json
from opcert.vocabulary.tensors import Tensor

FORM: Form = "inputs"
STATUS = "status.json"
ARCHIVE = "outputs.npz"
_MOST_BYTES = 1 << 30
_LONGEST_STATUS = 1 << 20
_LARGEST_INDEX = 1 << 28
_ANSWERED = "answered"
_STATUSES = (_ANSWERED, "unsupported", "rejected", "crashed", "timed_out")
_OUTPUT = re.compile(r"output_(0|[1-9][0-9]{0,3})\.(npy|pb)")


def case_folder(case_id: str) -> str:
    """The name of a case's folder where all of them lie beside each other."""
    return case_id.replace("/", "__")


@dataclass(frozen=True)
class Device:
    """Who computed: a name, and a version; what it takes nobody asked, and files hold tensors alone."""

    name: str
    version: str

    def offer(self) -> Offer:
        """What a record says that it takes: every ONNX model with tensors at its ends."""
        return read_offer(
            {
                "type": "hello",
                "protocol": PROTOCOLS[-1],
                "runtime": {"name": self.name, "version": self.version},
                "platform": {},
                "domains": {"ai.onnx": "onnx", "*": "onnx"},
                "forms": [FORM],
                "devices": [],
            }
        )


def read_index(path: Path, digest: str) -> frozenset[str]:
    """The cases that an export lists in its index; raises UserError where it is of another suite, or none."""
    try:
        found = parse_json(read_regular(path, _LARGEST_INDEX))
        cases = frozenset(str(case["id"]) for case in found["cases"])
        suite = str(found["suite"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        told = one_line(f"{type(error).__name__}: {error}")
        raise UserError("no index of an export", got=told, where=Place(str(path))) from error
    if suite != digest:
        raise UserError(
            "the index is of another suite",
            got=suite,
            expected=digest,
            where=Place(str(path)),
            remedy="Name the suite that the cases were exported from.",
        )
    return cases


class _Unreadable(Exception):
    """What a folder holds is not what it must be: nothing can be said of the device."""


@dataclass(frozen=True)
class ReturnedFiles:
    """The outputs of one device; `seconds` is what a case counts as that ran out of time."""

    folder: Path
    seconds: float

    @classmethod
    def at(cls, folder: Path, seconds: float) -> ReturnedFiles:
        """Those in a folder; raises UserError where there is none."""
        if not folder.is_dir():
            raise UserError("no folder of outputs", got=str(folder), remedy="Name the folder that came back.")
        return cls(folder, seconds)

    def response(self, case_id: str) -> Response | None:
        """What the device did with a case; None where nothing came back of it."""
        place = self._place(case_id)
        if place is None:
            return None
        try:
            return self._read(place)
        except (OSError, UserError, ValueError) as error:
            told = f"{type(error).__name__}: {error}"
        except _Unreadable as error:
            told = str(error)
        return WorkerFailed("Unreadable", one_line(told, LONGEST_MESSAGE), "run")

    def foreign(self, case_ids: Collection[str]) -> list[str]:
        """Folders that are of no case of the suite, by name."""
        known = {case_folder(case_id) for case_id in case_ids}
        roots = {case_id.partition("/")[0] for case_id in case_ids}
        found = (entry.name for entry in self.folder.iterdir() if entry.is_dir())
        return sorted(name for name in found if name not in known and name not in roots)

    def _place(self, case_id: str) -> Path | None:
        for name in (case_folder(case_id), case_id):
            place = self.folder / name
            if place.is_dir() and not place.is_symlink() and any(place.iterdir()):
                return place
        return None

    def _read(self, place: Path) -> Response | None:
        stated = _status(place)
        status, seconds = stated.get("status", _ANSWERED), _seconds(stated)
        outputs = tuple(_outputs(place, stated.get("outputs")))
        if status not in _STATUSES:
            raise _Unreadable(f"{STATUS} has the status {status!r}; expected one of {', '.join(_STATUSES)}")
        if status == _ANSWERED:
            # One with a status alone answered a call without outputs; of one with neither nothing came back.
            return Answered(outputs, seconds) if outputs or stated else None
        if outputs:
            raise _Unreadable(f"{STATUS} says {status}, and there are {len(outputs)} outputs")
        message = cut(str(stated.get("message", "")), LONGEST_MESSAGE)
        match status:
            case "crashed":
                return Crashed(message or "the device says that it crashed", seconds=seconds)
            case "timed_out":
                return TimedOut(self.seconds, "run")
            case "unsupported":
                rule = load_adapter("files").find_rule("Unsupported", message, "unsupported")
                return Refused("Unsupported", message, "load", rule.example if rule else None, seconds)
        return Refused("Rejected", message, "run", None, seconds)


def _status(place: Path) -> Mapping[str, Any]:
    path = place / STATUS
    if not path.exists():
        return {}
    found = parse_json(read_regular(path, _LONGEST_STATUS))
    if not isinstance(found, dict):
        raise _Unreadable(f"{STATUS} is no object")
    return found


def _seconds(stated: Mapping[str, Any]) -> float:
    found = stated.get("seconds", 0.0)
    return float(found) if type(found) in (int, float) and 0 <= found <= MOST_SECONDS else 0.0


def _outputs(place: Path, described: object) -> Iterator[Tensor]:
    """The outputs of a case in order; raises where one is missing, there twice, or cannot be read."""
    if described is not None:
        if not isinstance(described, list) or len(described) > MOST_OUTPUTS:
            raise _Unreadable(f"{STATUS} has outputs that are no list of at most {MOST_OUTPUTS}")
        yield from (_described(place, entry) for entry in described)
        return
    if (place / ARCHIVE).exists():
        yield from _archived(read_regular(place / ARCHIVE, _MOST_BYTES))
        return
    names: dict[int, str] = {}
    for entry in sorted(place.iterdir()):
        if match := _OUTPUT.fullmatch(entry.name):
            if int(match[1]) in names:
                raise _Unreadable(f"there are {names[int(match[1])]} and {entry.name}")
            names[int(match[1])] = entry.name
        elif entry.name != STATUS and entry.suffix in (".npy", ".pb", ".npz"):
            raise _Unreadable(f"{entry.name} is no output of the case: expected output_0.npy and so on")
    for number in range(len(names)):
        if number not in names:
            raise _Unreadable(f"output_{number} is missing, and output_{max(names)} is there")
        raw = read_regular(place / names[number], _MOST_BYTES)
        yield parse_tensor(raw) if names[number].endswith(".pb") else parse_array(raw)


def _described(place: Path, entry: object) -> Tensor:
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        raise _Unreadable(f"{STATUS} has an output without a file")
    name, shape = entry["file"], entry.get("shape")
    if Path(name).name != name:
        raise _Unreadable(f"{STATUS} names {one_line(name, 80)}, which is no file of the case's folder")
    raw = read_regular(place / name, _MOST_BYTES)
    if name.endswith(".npy"):
        return parse_array(raw)
    if name.endswith(".pb"):
        return parse_tensor(raw)
    element_type = ELEMENT_TYPES.get(str(entry.get("element_type")))
    if element_type is None:
        raise _Unreadable(f"{STATUS} gives {name} no element type that there is")
    if not isinstance(shape, list) or not all(type(extent) is int and extent >= 0 for extent in shape):
        raise _Unreadable(f"{STATUS} gives {name} no shape")
    return Tensor.from_bytes(element_type, tuple(shape), raw)


def _archived(raw: bytes) -> Iterator[Tensor]:
    found = parse_arrays(raw, _MOST_BYTES)
    expected = [f"output_{number}" for number in range(len(found))]
    if len(found) > MOST_OUTPUTS:
        raise _Unreadable(f"{ARCHIVE} holds {len(found)} arrays; at most {MOST_OUTPUTS} are allowed")
    if sorted(found) != sorted(expected):
        raise _Unreadable(f"{ARCHIVE} holds {', '.join(sorted(found))}; expected {', '.join(expected)}")
    yield from (found[name] for name in expected)
