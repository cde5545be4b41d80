"""Looking at processes that may go or forbid it at any moment, in a /proc of our own making."""

from __future__ import annotations

import builtins
import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from conformance.processes.descendants import MemoryWatch, descendants, marked

PAGE = os.sysconf("SC_PAGE_SIZE")
MIB = 1 << 20
Family = Mapping[int, tuple[int, int | None]]
ERRORS = (errno.ESRCH, errno.ENOENT, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EIO, errno.EMFILE)
FAMILIES = some.dictionaries(
    some.integers(2, 12), some.lists(some.integers(1, 12), max_size=4), min_size=1, max_size=10
)
"""Each process with its children: also itself, its own ancestors, and some that are not there."""


def write_process(
    proc: Path, process: int, children: list[int], resident: int = 0, part: int | None = None
) -> None:
    """A process of two threads, of which one has no children."""
    folder = proc / str(process)
    for task, started in ((process, children), (process + 100, [])):
        (folder / "task" / str(task)).mkdir(parents=True, exist_ok=True)
        (folder / "task" / str(task) / "children").write_text(" ".join(map(str, started)))
    (folder / "statm").write_text(f"99999 {resident // PAGE} 1 1 0 1 0\n")
    (folder / "environ").write_bytes(b"A=1\0HOME=/somewhere/mark/home\0")
    if part is not None:
        told = f"Rss: {resident >> 10} kB\nPss:      {part >> 10} kB\nPss_Dirty: 7 kB\n"
        (folder / "smaps_rollup").write_text(told)


def reached(family: dict[int, list[int]], process: int) -> set[int]:
    """The descendants of a process, by closing the relation step by step."""
    found = set(family.get(process, ()))
    while True:
        more = {child for each in found for child in family.get(each, ())} - found
        if not more:
            return found - {process}
        found |= more


@contextmanager
def failing_looks(failures: Iterator[int]) -> Iterator[None]:
    """Every look at a file or folder may fail, as `failures` has it: an error's number, or 0."""
    real_open, real_listdir = builtins.open, os.listdir

    def fail_perhaps() -> None:
        number = next(failures, 0)
        if number:
            raise OSError(number, os.strerror(number))

    class Reading:
        """A file whose process may go after it was opened."""

        def __init__(self, file: Any) -> None:
            self._file = file

        def __enter__(self) -> Reading:
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

        def read(self) -> Any:
            fail_perhaps()
            return self._file.read()

        readall = read

    def open_perhaps(*words: Any, **more: Any) -> Any:
        fail_perhaps()
        return Reading(real_open(*words, **more))

    def list_perhaps(folder: Any) -> list[str]:
        fail_perhaps()
        return real_listdir(folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "open", open_perhaps)
        patch.setattr(os, "listdir", list_perhaps)
        yield


@settings(deadline=None)
@given(FAMILIES)
def test_descendants_are_found_once_each_whatever_is_told_of_them(family: dict[int, list[int]]) -> None:
    with TemporaryDirectory() as folder:
        for process, children in family.items():
            write_process(Path(folder), process, children)
        for process in family:
            found = descendants(process, folder)
            assert len(found) == len(set(found))
            assert set(found) == reached(family, process)


@settings(deadline=None)
@given(FAMILIES, some.lists(some.sampled_from((0, 0, *ERRORS)), max_size=60))
def test_a_look_may_fail_at_any_moment(family: dict[int, list[int]], failures: list[int]) -> None:
    first = next(iter(family))
    with TemporaryDirectory() as folder:
        for process, children in family.items():
            write_process(Path(folder), process, children, 8 * MIB, 4 * MIB)
        watch = MemoryWatch(first, 9 * MIB, every=0.0, proc=folder)
        with failing_looks(iter(failures)):
            found = descendants(first, folder)
            assert len(found) == len(set(found))
            assert set(found) <= reached(family, first)
            assert set(marked("mark", folder)) <= set(family)
            for _ in range(3):
                watch.look()


def test_errors_are_reached_by_the_looks() -> None:
    with TemporaryDirectory() as folder:
        write_process(Path(folder), 7, [8])
        assert descendants(7, folder) == [8]
        for failures in ([errno.ESRCH], [0, errno.ESRCH, errno.ESRCH], [0, 0, errno.ESRCH, errno.ESRCH]):
            with failing_looks(iter(failures)):
                assert descendants(7, folder) == []


def test_what_is_no_process_is_passed_over(tmp_path: Path) -> None:
    write_process(tmp_path, 7, [8])
    (tmp_path / "7" / "task" / "7" / "children").write_bytes(b"8 x \xff 9")
    (tmp_path / "9").write_text("no folder")
    (tmp_path / "sys").mkdir()
    assert descendants(7, str(tmp_path)) == [8, 9]
    assert marked("mark", str(tmp_path)) == [7]
    assert marked("other", str(tmp_path)) == []
    assert descendants(7, str(tmp_path / "nowhere")) == []


def test_a_process_does_not_find_itself(tmp_path: Path) -> None:
    write_process(tmp_path, os.getpid(), [])
    write_process(tmp_path, 7, [])
    assert marked("mark", str(tmp_path)) == [7]


def watch_family(proc: Path, limit: int, *looks: Family) -> list[int | None]:
    """What each look at process 2 and its children finds; each process sees so much, and has so much part."""
    watch = MemoryWatch(2, limit, every=0.0, proc=str(proc))
    found = []
    for look in looks:
        for process, (resident, part) in look.items():
            write_process(proc, process, [*look][1:] if process == 2 else [], resident, part)
        watch._due = 0.0
        found.append(watch.look())
    return found


def test_shared_pages_count_once(tmp_path: Path) -> None:
    family: Family = {2: (80 * MIB, 30 * MIB)} | dict.fromkeys(range(3, 23), (80 * MIB, 1 * MIB))
    assert watch_family(tmp_path, 100 * MIB, *[family] * 3) == [None] * 3


def test_pages_of_their_own_count_from_the_second_look_on(tmp_path: Path) -> None:
    family: Family = dict.fromkeys(range(2, 5), (80 * MIB, 40 * MIB))
    assert watch_family(tmp_path, 100 * MIB, *[family] * 3) == [None, None, 120 * MIB]


def test_a_child_that_seems_to_double_its_parent_for_a_moment_is_not_counted(tmp_path: Path) -> None:
    looks: list[Family] = [{2: (80 * MIB, 80 * MIB), child: (80 * MIB, 80 * MIB)} for child in range(3, 9)]
    assert watch_family(tmp_path, 100 * MIB, *looks) == [None] * 6


def test_one_process_with_too_much_needs_no_second_look(tmp_path: Path) -> None:
    assert watch_family(tmp_path, 100 * MIB, {2: (101 * MIB, 1 * MIB)}) == [101 * MIB]


def test_what_hides_its_parts_has_all_that_it_sees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    family: Family = dict.fromkeys(range(2, 4), (80 * MIB, 1 * MIB))
    real_open = builtins.open

    def refuse(path: Any, *words: Any, **more: Any) -> Any:
        if str(path).endswith("smaps_rollup"):
            raise PermissionError(errno.EACCES, "no")
        return real_open(path, *words, **more)

    monkeypatch.setattr(builtins, "open", refuse)
    assert watch_family(tmp_path, 100 * MIB, *[family] * 3) == [None, None, 160 * MIB]


def test_where_nobody_tells_of_parts_nobody_is_blamed_for_what_is_shared(tmp_path: Path) -> None:
    family: Family = dict.fromkeys(range(2, 9), (80 * MIB, None))
    assert watch_family(tmp_path, 100 * MIB, *[family] * 4) == [None] * 4
