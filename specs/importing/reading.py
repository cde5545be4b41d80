"""Reading many documents: patterns, bounds of time and memory, several processes, progress."""

from __future__ import annotations

import glob
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.process_pools import process_pool
from specs.documents.text.documents import Text, read_document
from specs.importers import import_text
from specs.model.spec import Spec

try:
    import resource
except ImportError:  # a system that has no such limits
    resource = None  # type: ignore[assignment] # the name stands for a module elsewhere

SECONDS = 60.0
MEBIBYTES = 1024


class _OutOfTime(BaseException):
    """Raised by the clock; no importer's own error handling takes it for a mistake in the document."""


@contextmanager
def limited(where: Place, seconds: float = SECONDS, mebibytes: int = MEBIBYTES) -> Iterator[None]:
    """Let what happens inside take so much of the processor's time, and so much memory more than now.

    Raises UserError, naming the place, where it takes more or is nested deeper than the interpreter goes.
    The clock runs in the main thread alone; memory is bounded where the system tells and limits it.
    """
    try:
        with _memory(mebibytes), _clock(seconds):
            yield
    except _OutOfTime:
        raise UserError("the document takes too long to read", got=f"more than {seconds:g} s",
                        expected="text as operator documents have it", where=where) from None  # fmt: skip
    except MemoryError:
        raise UserError("the document takes too much memory to read", got=f"more than {mebibytes} MiB",
                        expected="text as operator documents have it", where=where) from None  # fmt: skip
    except RecursionError:
        raise UserError("the document is nested too deeply to be read", where=where) from None


@contextmanager
def _clock(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: object) -> None:
        raise _OutOfTime

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _memory(mebibytes: int) -> Iterator[None]:
    size = _address_space()
    if resource is None or size is None:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    wanted = size + mebibytes * 2**20
    if before[0] != resource.RLIM_INFINITY:
        wanted = min(wanted, before[0])
    resource.setrlimit(resource.RLIMIT_AS, (wanted, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _address_space() -> int | None:
    """The bytes of address space that the process has now; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):
        return None
    return pages * resource.getpagesize()


PROCESSES = min(8, os.cpu_count() or 1)
BATCH_BYTES = 128 * 1024
"""Small documents go to a process together."""
WORTH_PROCESSES = 1024 * 1024
"""Starting processes takes as long as reading about so many bytes."""


@dataclass(frozen=True)
class Job:
    """One document to read: whether the user named it, and the operators and dialect that were asserted."""

    path: Path
    named: bool = False
    asserted: tuple[OperatorName, ...] = ()
    dialect: str | None = None


@dataclass(frozen=True)
class ReadingOutcome:
    """What became of a job: the document and its layers, or the error."""

    job: Job
    text: Text | None = None
    layers: tuple[Spec, ...] = ()
    error: UserError | None = None


@dataclass(frozen=True)
class ReadingStep:
    """How far the reading of documents is."""

    documents: int
    of_documents: int
    size: int
    of_size: int


Progress = Callable[[ReadingStep], object]


def find_files(paths: Iterable[Path]) -> list[tuple[Path, bool]]:
    """Files, the files of folders, and those that a pattern fits, each with whether it was named itself.

    Hidden files and those of hidden folders are left out of folders. UserError where a pattern fits nothing.
    """
    found: dict[Path, bool] = {}
    for path in paths:
        if path.is_dir():
            _add_folder(found, path)
        elif glob.has_magic(str(path)) and not path.exists():
            fitting = _fitting(path)
            if not fitting:
                raise UserError("no file fits the pattern", got=repr(str(path)))
            for each in fitting:
                if each.is_dir():
                    _add_folder(found, each)
                elif each.is_file():
                    found.setdefault(each, False)
        else:
            found[path] = True
    return list(found.items())


def _fitting(pattern: Path) -> list[Path]:
    """What a pattern fits, in order; names that begin with a dot only where the pattern says so."""
    parts = pattern.parts
    first = next(position for position, part in enumerate(parts) if glob.has_magic(part))
    base = Path(*parts[:first])
    hidden = any(part.startswith(".") for part in parts[first:])
    found = sorted(base.glob(str(Path(*parts[first:]))))
    return [path for path in found if hidden or not _is_hidden(path, base)]


def _add_folder(found: dict[Path, bool], folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not _is_hidden(path, folder):
            found.setdefault(path, False)


def _is_hidden(path: Path, base: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(base).parts)


def read_one(job: Job) -> ReadingOutcome:
    """Read one document within bounds of time and memory; what is wrong with it is the outcome's error."""
    where = Place(str(job.path))
    try:
        with limited(where):
            text = read_document(job.path)
            wanted: list[OperatorName | None] = [*dict.fromkeys(job.asserted)] or [None]
            layers = tuple(layer for operator in wanted for layer in import_text(text, operator, job.dialect))
    except UserError as error:
        if error.where is not None and error.where.file == job.path.name:
            error.where = replace(error.where, file=str(job.path))
        return ReadingOutcome(job, error=error)
    except Exception as error:
        error.add_note(f"while reading {job.path}")
        raise
    return ReadingOutcome(job, text, layers)


def _read_batch(jobs: Sequence[Job]) -> list[ReadingOutcome]:
    return [read_one(job) for job in jobs]


def read_jobs(
    jobs: Sequence[Job], processes: int = 1, progress: Progress = lambda _: None
) -> list[ReadingOutcome]:
    """The outcome of each job, in the jobs' order, which does not depend on `processes`."""
    sizes = {job: _size(job.path) for job in jobs}
    told = _Told(len(sizes), sum(sizes.values()), progress)
    outcomes: dict[Job, ReadingOutcome] = {}
    for done in _completed(jobs, sizes, processes):
        for outcome in done:
            outcomes[outcome.job] = outcome
            told.add(sizes[outcome.job])
    return [outcomes[job] for job in jobs]


@dataclass
class _Told:
    """Counts what was read and tells of it."""

    of_documents: int
    of_size: int
    progress: Progress
    documents: int = 0
    size: int = 0

    def add(self, size: int) -> None:
        self.documents += 1
        self.size += size
        self.progress(ReadingStep(self.documents, self.of_documents, self.size, self.of_size))


def _completed(jobs: Sequence[Job], sizes: dict[Job, int], processes: int) -> Iterator[list[ReadingOutcome]]:
    batches = list(_batches(jobs, sizes))
    if processes < 2 or len(batches) < 2 or sum(sizes.values()) < WORTH_PROCESSES:
        yield from ([read_one(job)] for job in jobs)
        return
    waiting: dict[Future[list[ReadingOutcome]], Sequence[Job]] = {}
    count = min(processes, len(batches))
    with process_pool(count, "reading", partial(_paths, waiting), _leave_ctrl_c) as pool:
        waiting |= {pool.submit(_read_batch, batch): batch for batch in batches}
        while waiting:
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield future.result()
                del waiting[future]


def _paths(waiting: Mapping[Future[list[ReadingOutcome]], Sequence[Job]]) -> Iterator[str]:
    """The documents that are not read yet, a word for each batch."""
    for first, *others in waiting.values():
        yield f"{first.path} and {len(others)} more" if others else str(first.path)


def _leave_ctrl_c() -> None:
    """Let the process that started this one answer Ctrl-C; it ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _batches(jobs: Sequence[Job], sizes: dict[Job, int]) -> Iterator[list[Job]]:
    """Jobs that are read together, the largest first, so that no process is left with it at the end."""
    batch: list[Job] = []
    size = 0
    for job in sorted(jobs, key=lambda job: sizes[job], reverse=True):
        batch.append(job)
        size += sizes[job]
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
