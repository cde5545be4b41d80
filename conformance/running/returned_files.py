"""Outputs that a device gave as files: read without trust from the folders of cases, and judged as a run's.

A folder of outputs has one folder for each case, named as `case_folder` says or by the case id as a path. In
it lie `output_0`, `output_1` and so on, each as `.npy` or `.pb` (a TensorProto), or all in `outputs.npz`;
`status.json` may say what happened instead (`status`, `message`, `seconds`), or describe outputs that lie
there as plain bytes (`outputs`: `file`, `element_type`, `shape`; elements as the worker protocol has them).
The outputs of a batch, several cases in one model, lie in one folder; the export's index says whose each is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from conformance.adopting.foreign_values import parse_array, parse_arrays, parse_tensor
from conformance.judging.responses import (
    Answered,
    Crashed,
    HarnessFailed,
    Refused,
    Response,
    TimedOut,
    WorkerFailed,
)
from conformance.models.case_models import Form
from conformance.processes.frames import LONGEST_MESSAGE, MOST_OUTPUTS, MOST_SECONDS, PROTOCOLS, cut
from conformance.processes.worker_limits import CONFINED
from conformance.processes.worker_process import Launch
from conformance.recording.records import Record
from conformance.running.collector import Collector
from conformance.running.harness import few_collections, make_header
from conformance.running.progress import Progress, Silent
from conformance.running.requests import Offer, read_offer
from conformance.running.resuming import RecordPlace
from conformance.running.run_options import RunRequest, Task
from conformance.runtimes.adapter import load_adapter
from conformance.runtimes.runtimes import Installed
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.strict_json import parse_json
from opcert.vocabulary.tensors import Tensor

FORM: Form = "inputs"
BATCH = "batch-"
"""How the folders of batches begin; no case's folder does, for that begins with a domain."""
STATUS = "status.json"
ARCHIVE = "outputs.npz"
_MOST_BYTES = 1 << 30
_LONGEST_STATUS = 1 << 20
_LARGEST_INDEX = 1 << 28
_ANSWERED = "answered"
_STATUSES = (_ANSWERED, "unsupported", "rejected", "crashed", "timed_out")
_MOST_OPENED = 16
Numbered = dict[int, Callable[[], Tensor]]
"""How each output that lies in a folder is read, by its number."""
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


@dataclass(frozen=True)
class Batched:
    """Where the outputs of a case lie that was exported in a batch: the batch's folder, and their numbers."""

    folder: str
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class ExportIndex:
    """The cases that an export lists, and where the outputs of those lie that it has in batches."""

    cases: frozenset[str]
    batched: Mapping[str, Batched]


def read_index(path: Path, digest: str) -> ExportIndex:
    """The index of an export; raises UserError where it is of another suite, or none."""
    try:
        found = parse_json(read_regular(path, _LARGEST_INDEX))
        cases = frozenset(str(case["id"]) for case in found["cases"])
        batched = {str(case["id"]): _read_batched(case) for case in found["cases"] if "batch" in case}
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
    taken = [(place.folder, number) for place in batched.values() for number in place.outputs]
    if len(set(taken)) < len(taken):
        raise UserError("the index gives an output of a batch to two cases", where=Place(str(path)))
    return ExportIndex(cases, batched)


def _read_batched(case: Mapping[str, Any]) -> Batched:
    folder, outputs = case["batch"], tuple(case["outputs"])
    if not isinstance(folder, str) or Path(folder).name != folder or not folder.startswith(BATCH):
        raise ValueError(f"{folder!r} is no batch's folder")
    if not outputs or not all(type(number) is int and number >= 0 for number in outputs):
        raise ValueError(f"the outputs of {case['id']} have no numbers")
    return Batched(folder, outputs)


class _Unreadable(Exception):
    """What a folder holds is not what it must be: nothing can be said of the device."""


@dataclass(frozen=True)
class ReturnedFiles:
    """The outputs of one device; `seconds` is what a case counts as that ran out of time.

    `batched` says where those lie that the device computed several cases at a time for. A case's own folder
    comes before its batch's: there lies what a device gave that took the batch apart.
    """

    folder: Path
    seconds: float
    batched: Mapping[str, Batched] = field(default_factory=dict)
    _opened: dict[str, tuple[float, Numbered]] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def at(cls, folder: Path, seconds: float, batched: Mapping[str, Batched] | None = None) -> ReturnedFiles:
        """Those in a folder; raises UserError where there is none."""
        if not folder.is_dir():
            raise UserError("no folder of outputs", got=str(folder), remedy="Name the folder that came back.")
        return cls(folder, seconds, batched or {})

    def response(self, case_id: str) -> Response | None:
        """What the device did with a case; None where nothing came back of it."""
        place, batch = self._place(case_id), self.batched.get(case_id)
        if place is None and batch is None:
            return None
        try:
            if place is not None:
                return self._read(place)
            return None if batch is None else self._read_batched(batch)
        except (OSError, UserError, ValueError) as error:
            told = f"{type(error).__name__}: {error}"
        except _Unreadable as error:
            told = str(error)
        return WorkerFailed("Unreadable", one_line(told, LONGEST_MESSAGE), "run")

    def foreign(self, case_ids: Collection[str]) -> list[str]:
        """Folders that are of no case of the suite, by name."""
        known = {case_folder(case_id) for case_id in case_ids} | {one.folder for one in self.batched.values()}
        roots = {case_id.partition("/")[0] for case_id in case_ids}
        found = (entry.name for entry in self.folder.iterdir() if entry.is_dir())
        return sorted(name for name in found if name not in known and name not in roots)

    def refused_batches(self) -> Iterator[tuple[str, str]]:
        """The batches that the device did not compute, with what it says: nobody knows whose fault it is."""
        for name in dict.fromkeys(place.folder for place in self.batched.values()):
            try:
                stated = _status(self._of_batch(name))
            except (OSError, UserError, ValueError, _Unreadable):
                continue
            if stated.get("status", _ANSWERED) in _STATUSES[1:]:
                yield name, one_line(f"{stated['status']}: {stated.get('message', '')}".rstrip(": "), 200)

    def _of_batch(self, name: str) -> Path:
        place = self.folder / name
        if place.is_symlink():
            raise _Unreadable(f"{name} is a link")
        return place

    def _read_batched(self, batch: Batched) -> Response | None:
        """What a case has of its batch; a status of the batch says nothing of one case, so it was not run."""
        if not self._of_batch(batch.folder).is_dir():
            return None
        if batch.folder not in self._opened:
            while len(self._opened) >= _MOST_OPENED:
                del self._opened[next(iter(self._opened))]
            self._opened[batch.folder] = self._open(batch.folder)
        seconds, given = self._opened[batch.folder]
        missing = [number for number in batch.outputs if number not in given]
        if missing and len(missing) < len(batch.outputs):
            raise _Unreadable(f"output_{missing[0]} is missing, and others of the case are there")
        return None if missing else Answered(tuple(given[number]() for number in batch.outputs), seconds)

    def _open(self, name: str) -> tuple[float, Numbered]:
        """How long each case of a batch took, and how outputs are read; raises where that is unclear."""
        place = self.folder / name
        stated = _status(place)
        status = stated.get("status", _ANSWERED)
        own = [one.outputs for one in self.batched.values() if one.folder == name]
        most = max(number for outputs in own for number in outputs) + 1
        given = _numbered(place, stated.get("outputs"), most)
        _check_status(status, len(given))
        beyond = [number for number in sorted(given) if number >= most]
        if beyond:
            raise _Unreadable(f"output_{beyond[0]} is none of the {most} outputs of {name}")
        return _seconds(stated) / len(own), given

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
        _check_status(status, len(outputs))
        if status == _ANSWERED:
            # One with a status alone answered a call without outputs; of one with neither nothing came back.
            return Answered(outputs, seconds) if outputs or stated else None
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


def _check_status(status: object, outputs: int) -> None:
    if status not in _STATUSES:
        raise _Unreadable(f"{STATUS} has the status {status!r}; expected one of {', '.join(_STATUSES)}")
    if status != _ANSWERED and outputs:
        raise _Unreadable(f"{STATUS} says {status}, and there are {outputs} outputs")


def _seconds(stated: Mapping[str, Any]) -> float:
    found = stated.get("seconds", 0.0)
    return float(found) if type(found) in (int, float) and 0 <= found <= MOST_SECONDS else 0.0


def _outputs(place: Path, described: object) -> Iterator[Tensor]:
    """The outputs of a case in order; raises where one is missing, there twice, or cannot be read."""
    found = _numbered(place, described, MOST_OUTPUTS)
    for number in range(len(found)):
        if number not in found:
            raise _Unreadable(f"output_{number} is missing, and output_{max(found)} is there")
        yield found[number]()


def _numbered(place: Path, described: object, most: int) -> Numbered:
    """How each output in a folder is read, by its number; raises where that is unclear.

    Described ones, and those in an archive, have numbers below `most`; one that is null is not there.
    """
    found: Numbered = {}
    if described is not None:
        if not isinstance(described, list) or len(described) > most:
            raise _Unreadable(f"{STATUS} has outputs that are no list of at most {most}")
        there = [(number, entry) for number, entry in enumerate(described) if entry is not None]
        found = {number: partial(_described, place, entry) for number, entry in there}
    elif (place / ARCHIVE).exists():
        arrays = parse_arrays(read_regular(place / ARCHIVE, _MOST_BYTES), _MOST_BYTES)
        numbers = {f"output_{number}": number for number in range(most)}
        if not arrays.keys() <= numbers.keys():
            raise _Unreadable(f"{ARCHIVE} holds {', '.join(sorted(arrays))}; expected output_0 and so on")
        found = {numbers[name]: partial(_itself, array) for name, array in arrays.items()}
    else:
        names: dict[int, str] = {}
        for entry in sorted(place.iterdir()):
            if match := _OUTPUT.fullmatch(entry.name):
                if int(match[1]) in names:
                    raise _Unreadable(f"there are {names[int(match[1])]} and {entry.name}")
                names[int(match[1])] = entry.name
            elif entry.name != STATUS and entry.suffix in (".npy", ".pb", ".npz"):
                raise _Unreadable(f"{entry.name} is no output of the case: expected output_0.npy and so on")
        found = {number: partial(_from_file, place / name) for number, name in names.items()}
    return found


def _itself(array: Tensor) -> Tensor:
    return array


def _from_file(path: Path) -> Tensor:
    raw = read_regular(path, _MOST_BYTES)
    return parse_tensor(raw) if path.suffix == ".pb" else parse_array(raw)


def _described(place: Path, entry: object) -> Tensor:
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        raise _Unreadable(f"{STATUS} has an output without a file")
    name, shape = entry["file"], entry.get("shape")
    if Path(name).name != name:
        raise _Unreadable(f"{STATUS} names {one_line(name, 80)}, which is no file of the case's folder")
    if name.endswith((".npy", ".pb")):
        return _from_file(place / name)
    raw = read_regular(place / name, _MOST_BYTES)
    element_type = ELEMENT_TYPES.get(str(entry.get("element_type")))
    if element_type is None:
        raise _Unreadable(f"{STATUS} gives {name} no element type that there is")
    if not isinstance(shape, list) or not all(type(extent) is int and extent >= 0 for extent in shape):
        raise _Unreadable(f"{STATUS} gives {name} no shape")
    return Tensor.from_bytes(element_type, tuple(shape), raw)


_NO_OUTPUTS = "no_outputs"
"""Why a record of a device is not whole."""
_LACKING = dict.fromkeys(CONFINED, "its outputs came as files")


def judge_files(
    request: RunRequest,
    files: ReturnedFiles,
    device: Device,
    place: RecordPlace,
    progress: Progress | None = None,
) -> Record:
    """Judge the selected cases by a device's files and write the record; returns it as it was written.

    A case of which nothing came back is not run, and the footer says so in `stopped` (`no_outputs`). Raises
    NothingRan where nothing is selected, UserError where the record cannot be written.
    """
    progress = progress or Silent()
    selected, offer = request.selected(), device.offer()
    request = replace(request, options=replace(request.options, forms=FORM))
    header = make_header(
        request.suite.digest, request.runtime, Installed(Launch(())), _LACKING, offer, request.options, [FORM]
    )
    beginning = place.begin(request.plan(selected, [FORM]), header, progress)
    writer = beginning.open(header)
    try:
        collector = Collector(request.suite, writer, progress, request.options, 0)
        collector.begin((), beginning.plan)
        with few_collections():
            missing = 0
            for task in beginning.plan.tasks():
                response = offer.refusal(task.case) or files.response(task.case_id)
                if response is None:
                    missing += 1
                else:
                    collector.take(task, response)
            collector.settle(partial(_answers, files))
        if missing:
            collector.halt.set(_NO_OUTPUTS, f"nothing came back of {missing} of {len(selected)} cases")
        return collector.finish(beginning.plan.tasks(), ())
    finally:
        writer.close()
        progress.finish()


def _answers(files: ReturnedFiles, tasks: Iterable[Task]) -> Iterator[tuple[Task, Response]]:
    """Valid cases that others were made from; one of which nothing came back was not answered."""
    for task in tasks:
        yield task, files.response(task.case_id) or HarnessFailed("nothing came back of it")
