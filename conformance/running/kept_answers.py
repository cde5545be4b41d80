"""What runs knew of their tasks, in the user's cache: a file for each suite, offer and state of our code."""

from __future__ import annotations

import json
import mmap
import platform
import re
import struct
import zlib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import numpy as np
import onnx

import conformance
from conformance.processes.scratch_folders import ScratchFolder, make_scratch_folder
from conformance.recording.rows import Result
from conformance.running.kept_tasks import KeptTask, split_row, unpack_task
from conformance.running.ready_requests import ReadyRequest
from conformance.running.responses import Answered, NotOffered, Response
from conformance.running.tasks import Task
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.kept_suites import suites_folder
from opcert.vocabulary.file_digests import digest_by_name
from opcert.vocabulary.kept_files import remove_oldest
from opcert.vocabulary.regular_files import open_regular
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.whole_files import open_new, put_in_place

FORMAT = b"opcert-kept-run/2\n"
MOST_KEPT = 64
MOST_BYTES = 512 << 20
"""So many files stay, of so many bytes together: those that were used last."""
_MOST_TASKS = 250_000
_LARGEST = 1 << 20
"""Tasks of more bytes are not kept: what is saved is little of what they take."""
_LARGEST_FILE = 2 << 30
_FEWEST_NEW = 0.01
"""A file is written anew where at least this part of it would be new."""
_END = struct.Struct("<QQI")
_KEY = re.compile(r"[0-9a-f]{64}")
_ROOT = Path(conformance.__file__).parents[1]
_CODE = ("conformance", "opcert/vocabulary")


def runs_folder() -> Path:
    """Where the files are kept: beside the suites, in a folder of its own."""
    return suites_folder().with_name("runs")


def kept_run(suite: str, runtime: str, offer: Mapping[str, Any]) -> KeptRun:
    """What is kept of runs of a suite, by its digest, on a runtime that makes such an offer."""
    versions = [platform.python_version(), np.__version__, onnx.__version__, version("protobuf")]
    key = sha256(canonical_json([suite, runtime, offer, versions, _code_digest()]))
    return KeptRun(runs_folder() / key)


@cache
def _code_digest() -> str:
    """Of all that has a say in what is sent, and in what a row says."""
    files = [each for name in _CODE for each in (_ROOT / name).rglob("*.py")]
    return digest_by_name({each.relative_to(_ROOT).as_posix(): each for each in files})


class KeptRun:
    """One file, and what a run adds to it: entries one behind the other, and where each lies.

    May be used by several threads, each task by one of them. A file that cannot be read or written, or is
    damaged, keeps nothing, nor does an entry that this user's opcert has not written (`seals.py`), and nobody
    is told: the run is the same without it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._raw: mmap.mmap | None = None
        self._places: dict[str, tuple[int, int]] = {}
        self._requests: dict[str, ReadyRequest | NotOffered] = {}
        self._new: list[tuple[str, int]] = []
        self._making: tuple[ScratchFolder, IO[bytes]] | None = None
        self._full = False
        with suppress(OSError, ValueError, KeyError, TypeError, struct.error):
            self._open()

    def __len__(self) -> int:
        return len(self._places)

    def _open(self) -> None:
        with open_regular(self._path, _LARGEST_FILE) as file:
            raw = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        begin, length, check = _END.unpack(raw[-_END.size :])
        index = raw[begin : begin + length]
        if raw[: len(FORMAT)] != FORMAT or zlib.crc32(index) != check:
            return
        told = json.loads(index)
        self._places = dict(
            zip(told["tasks"], zip(told["begins"], told["lengths"], strict=True), strict=True)
        )
        self._raw = raw
        self._path.touch()

    def find(self, case_id: str, form: str) -> KeptTask | None:
        """What is known of a case in a form; None where nothing is."""
        place = self._places.get(_name(case_id, form))
        if place is None or self._raw is None:
            return None
        sealed = self._raw[place[0] : place[0] + place[1]]
        return unpack_task(self._sealed_as(_name(case_id, form)), sealed)

    def _sealed_as(self, name: str) -> str:
        return f"{self._path.name} {name}"

    def requested(self, task: Task, request: ReadyRequest | NotOffered) -> None:
        """A task of which nothing was known is sent as this."""
        self._requests[_name(task.case_id, task.form)] = request

    def learn(self, task: Task, answer: bytes, response: Response, result: Result, line: bytes) -> None:
        """Keep what is known of a task, from the end of the run on, and forget what it was sent as.

        `answer` is the digest of its response (`answer_digest`), `line` that of its row. One call at a time.
        """
        name = _name(task.case_id, task.form)
        request = self._requests.pop(name, None if task.kept is None else task.kept.request)
        given = response.outputs if isinstance(response, Answered) else ()
        size = 0
        for entry, output in zip(result.outputs, given, strict=True):
            if isinstance(entry, str):
                continue
            if "data" not in entry or not isinstance(output, Tensor):
                return
            size += len(output.to_bytes())
        if request is not None:
            kept = KeptTask(request, task.must_be_refused, task.valid_case_id, answer, split_row(line), size)
            self._add(name, kept.pack(self._sealed_as(name)))

    def _add(self, name: str, entry: bytes) -> None:
        if self._full or len(entry) > _LARGEST or len(self._new) >= _MOST_TASKS:
            return
        try:
            if self._making is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                folder = make_scratch_folder("run", self._path.parent)
                self._making = folder, open_new(folder.path / "made")
                self._making[1].write(FORMAT)
            self._making[1].write(entry)
        except OSError:
            # How much of the entry was written is not known, and so not where the next one would lie.
            self._full = True
        else:
            self._new.append((name, len(entry)))

    def close(self, *, whole: bool) -> None:
        """Put the file to its place where the run came to its end, and enough is new."""
        if self._making is None:
            return
        folder, file = self._making
        self._making = None
        try:
            with suppress(OSError), file:
                if whole and not self._full and len(self._new) >= _FEWEST_NEW * len(self._places):
                    self._write_rest(file)
                    file.flush()
                    put_in_place(folder.path / "made", self._path)
                    _trim(self._path.parent)
        finally:
            with suppress(OSError):
                folder.remove()

    def _write_rest(self, file: IO[bytes]) -> None:
        """Write the entries that stay, and the index, behind the new ones."""
        begins, at = {}, len(FORMAT)
        lengths = dict(self._new)
        for name, length in self._new:
            begins[name] = at
            at += length
        for name, (begin, length) in self._places.items():
            if name not in begins and self._raw is not None:
                file.write(self._raw[begin : begin + length])
                begins[name], lengths[name] = at, length
                at += length
        told = {
            "tasks": list(begins),
            "begins": list(begins.values()),
            "lengths": [lengths[each] for each in begins],
        }
        index = json.dumps(told).encode("ascii")
        file.write(index)
        file.write(_END.pack(at, len(index), zlib.crc32(index)))


def _name(case_id: str, form: str) -> str:
    return f"{case_id} {form}"


def _trim(folder: Path) -> None:
    remove_oldest((each for each in folder.iterdir() if _KEY.fullmatch(each.name)), MOST_KEPT, MOST_BYTES)
