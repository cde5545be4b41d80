"""Outputs in a record: a reference to the golden, the bytes themselves, or a file beside the record."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.judging.responses import ReturnedOther
from conformance.suite.canonical import sha256
from conformance.suite.cases import Case
from conformance.suite.properties import runs_twice
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import Place, UserError, unreadable, unwritable
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.whole_files import open_new, put_in_place

INLINE_BYTES = 4096
"""Outputs up to this size stand in the record itself, as base64."""
FILE_BYTES = 16 << 20
"""Outputs up to this size are kept in a file; of larger ones the digest alone."""
TOTAL_BYTES = 1 << 30
"""When the outputs kept of a record have this size together, digests alone are kept of further ones."""
_FILE = re.compile(r"[0-9a-f]{64}\.bin")


def outputs_folder(record: Path) -> Path:
    """Where the outputs lie that do not fit into a record: `<record>.outputs`."""
    return record.with_name(record.name + ".outputs")


def describe_output(output: Tensor | ReturnedOther, matched: int | None) -> Any:
    """The one entry of an output in a record, without the name of its file where it has one.

    `matched` is the number of the expectation that it equals bit for bit. What does not stand in the entry
    itself is there by its digest.
    """
    if isinstance(output, ReturnedOther):
        return {"not_a_tensor": output.kind, "text": output.text}
    if matched is not None:
        return "golden" if matched == 0 else f"golden:{matched}"
    raw = output.to_bytes()
    if len(raw) > INLINE_BYTES:
        return digest_entry(output)
    return {**_type_and_shape(output), "data": base64.b64encode(raw).decode("ascii")}


def digest_entry(output: Tensor) -> dict[str, Any]:
    """The entry of an output that does not stand in the record itself."""
    raw = output.to_bytes()
    return {**_type_and_shape(output), "sha256": sha256(raw), "bytes": len(raw)}


def _type_and_shape(output: Tensor) -> dict[str, Any]:
    return {"element_type": output.element_type.name, "shape": list(output.shape)}


class OutputStore:
    """Keeps outputs for one record. Raises UserError where a file cannot be written."""

    def __init__(self, record: Path) -> None:
        self._folder = outputs_folder(record)
        self._written = 0

    def clear(self) -> None:
        """Remove the files of an earlier run into the same record; anything else there is left alone."""
        if self._folder.is_dir():
            for path in self._folder.iterdir():
                if _FILE.fullmatch(path.name) or path.suffix == ".begun":
                    path.unlink()

    def keep(self, output: Tensor | ReturnedOther, matched: int | None) -> Any:
        """The entry of an output; `matched` is the number of the expectation that it equals bit for bit."""
        entry = describe_output(output, matched)
        if not isinstance(output, Tensor) or isinstance(entry, str):
            return entry
        raw = output.to_bytes()
        if "data" in entry and self._written + len(raw) <= TOTAL_BYTES:
            self._written += len(raw)
            return entry
        entry = digest_entry(output)
        if len(raw) > FILE_BYTES or self._written + len(raw) > TOTAL_BYTES:
            return entry
        name = f"{entry['sha256']}.bin"
        self._write(name, raw)
        return {**entry, "file": name}

    def adopt(self, name: str, raw: bytes) -> bool:
        """Keep a file that was made elsewhere by its name; whether there was room.

        Raises ValueError where its bytes are not what the name says.
        """
        if _FILE.fullmatch(name) is None or f"{sha256(raw)}.bin" != name:
            raise ValueError(f"the file {name!r} is not what its name says")
        if self._written + len(raw) > TOTAL_BYTES:
            return False
        self._write(name, raw)
        return True

    def _write(self, name: str, raw: bytes) -> None:
        path = self._folder / name
        begun = path.with_suffix(".begun")
        try:
            if not path.exists():
                self._folder.mkdir(parents=True, exist_ok=True)
                # Whatever has the name must be whole, also when the disk fills up or the run is killed.
                with open_new(begun) as file:
                    file.write(raw)
                put_in_place(begun, path)
                self._written += len(raw)
        except OSError as error:
            begun.unlink(missing_ok=True)
            remedy = "Make room, or name another file with -o."
            raise unwritable("the outputs of the record", self._folder, error, remedy) from error


def restore_output(entry: Any, position: int, case: Case, record: Path) -> Tensor | ReturnedOther | None:
    """The output of an entry; None where the record holds its digest alone.

    Raises UserError where the entry is damaged, where its file is missing, or where it names the golden of
    another case.
    """
    place = Place(str(record), key=f"outputs of {case.id}")
    try:
        if isinstance(entry, str):
            number = int(entry.partition(":")[2] or 0)
            wanted = case.expectations[number].outputs
            # Those of a second run stand behind those of the first.
            again = len(wanted) if runs_twice(case.properties) and position >= len(wanted) else 0
            return wanted[position - again].expected
        if "not_a_tensor" in entry:
            return ReturnedOther(str(entry["not_a_tensor"]), str(entry.get("text", "")))
        raw = _raw_of(entry, record)
        if raw is None:
            return None
        shape = tuple(int(extent) for extent in entry["shape"])
        return Tensor.from_bytes(ELEMENT_TYPES[entry["element_type"]], shape, raw)
    except (
        KeyError,
        IndexError,
        ValueError,
        TypeError,
        AttributeError,
        OverflowError,
        binascii.Error,
    ) as error:
        problem = f"{type(error).__name__}: {error}"
        raise UserError("an output in the record is damaged", got=problem, where=place) from error


def _raw_of(entry: Mapping[str, Any], record: Path) -> bytes | None:
    if "data" in entry:
        return bytes(base64.b64decode(entry["data"], validate=True))
    if "file" not in entry:
        return None
    if _FILE.fullmatch(entry["file"]) is None:
        raise ValueError(f"the file name {entry['file']!r}")
    path = outputs_folder(record) / entry["file"]
    try:
        raw = read_regular(path, FILE_BYTES)
    except OSError as error:
        raise unreadable("an output of the record", path, error) from error
    if sha256(raw) != entry.get("sha256"):
        raise ValueError(f"{path.name} does not have the digest that the record states")
    return raw
