"""Folders in the layout of ONNX's backend tests, read without trust.

A test is a folder with `model.onnx` and `test_data_set_<n>/input_<k>.pb` and `output_<k>.pb`; `data.json`
beside the model may state `rtol` and `atol`. Nothing outside the folder is read: links are not followed.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opcert.vocabulary.errors import Place, UserError, unreadable

MODEL = "model.onnx"
MOST_BYTES = 256 << 20
"""The largest file that is read."""

MOST_TESTS = 100_000
_MOST_SETS = 1_000
_MOST_FILES = 1_000
_DEPTH = 8
_DATA_SET = re.compile(r"test_data_set_(0|[1-9][0-9]{0,5})")
_VALUE = re.compile(r"(input|output)_(0|[1-9][0-9]{0,5})\.pb")
_RTOL, _ATOL = 1e-3, 1e-7  # what ONNX's own runner takes where nothing is stated


@dataclass(frozen=True)
class TestFolder:
    """One test: its name (the path from the folder that was named, with `/`), and where it is."""

    name: str
    path: Path

    __test__ = False  # no test of pytest's

    def model(self) -> bytes:
        """The bytes of its model."""
        return read_file(self.path / MODEL)

    def data_sets(self) -> list[Path]:
        """Its data sets, by number; raises UserError on none, or on more than can be meant."""
        found = []
        with os.scandir(self.path) as entries:
            for entry in entries:
                match = _DATA_SET.fullmatch(entry.name)
                if match is not None and entry.is_dir(follow_symlinks=False):
                    found.append((int(match[1]), Path(entry.path)))
        if not found:
            raise UserError("no data set", expected="test_data_set_0 beside the model")
        if len(found) > _MOST_SETS:
            raise UserError("too many data sets", got=str(len(found)), expected=f"at most {_MOST_SETS}")
        return [path for _, path in sorted(found)]

    def tolerances(self) -> tuple[float, float]:
        """`rtol` and `atol`; raises UserError where data.json states anything but finite numbers from 0."""
        path = self.path / "data.json"
        if not path.exists():
            return _RTOL, _ATOL
        try:
            stated = json.loads(read_file(path).decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise UserError("not JSON", got=str(error), where=Place("data.json")) from error
        if not isinstance(stated, dict):
            raise UserError("not an object", got=type(stated).__name__, where=Place("data.json"))
        return _tolerance(stated, "rtol", _RTOL), _tolerance(stated, "atol", _ATOL)


def _tolerance(stated: dict[str, Any], key: str, default: float) -> float:
    value = stated.get(key, default)
    if type(value) not in (int, float) or not 0 <= value <= 1e300 or not math.isfinite(value):
        raise UserError(
            "not a tolerance",
            got=repr(value)[:50],
            expected="a number from 0",
            where=Place("data.json", key=key),
        )
    return float(value)


def find_tests(folder: Path) -> Iterator[TestFolder]:
    """Every test in a folder and below it, by name; the folder itself may be one.

    A folder that has data sets and no model counts as one too, so that its reader says what is missing.
    Raises UserError where there is no folder, or more tests than can be meant.
    """
    if not folder.is_dir():
        raise UserError("there is no such folder", where=Place(str(folder)))
    for number, path in enumerate(_walk(folder, 0)):
        if number == MOST_TESTS:
            raise UserError(f"more than {MOST_TESTS} tests", where=Place(str(folder)))
        relative = path.relative_to(folder).as_posix()
        yield TestFolder(folder.resolve().name or "test" if relative == "." else relative, path)


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        raise unreadable("the folder", folder, error) from error
    folders = [entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
    sets = [each for each in folders if _DATA_SET.fullmatch(each)]
    if sets or any(entry.name == MODEL for entry in found):
        yield folder
    elif depth < _DEPTH:
        for each in folders:
            yield from _walk(folder / each, depth + 1)


def list_values(data_set: Path) -> tuple[list[Path], list[Path]]:
    """The files of a data set's inputs and outputs, in order; raises UserError where a number is missing."""
    found: dict[str, dict[int, Path]] = {"input": {}, "output": {}}
    with os.scandir(data_set) as entries:
        for entry in entries:
            match = _VALUE.fullmatch(entry.name)
            if match is not None:
                found[match[1]][int(match[2])] = Path(entry.path)
    for side, files in found.items():
        if len(files) > _MOST_FILES:
            raise UserError(f"too many files of {side}s", got=str(len(files)))
        if sorted(files) != list(range(len(files))):
            missing = next(each for each in range(len(files)) if each not in files)
            raise UserError("a file is missing", expected=f"{data_set.name}/{side}_{missing}.pb")
    inputs, outputs = ([files[file] for file in sorted(files)] for files in found.values())
    return inputs, outputs


def read_file(path: Path) -> bytes:
    """A file's bytes; raises UserError where it is a link, no file, too large, or cannot be read."""
    shown = Place(path.name)
    try:
        # Without waiting for a writer, should it be a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise unreadable("the file", Path(path.name), error) from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UserError("not a plain file", where=shown)
        if status.st_size > MOST_BYTES:
            raise UserError(
                "the file is too large",
                got=f"{status.st_size} bytes",
                expected=f"at most {MOST_BYTES}",
                where=shown,
            )
        return file.read(status.st_size)
