"""Where a run's record goes: going on with one that was ended, and one that stands for the run asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.processes.worker_process import LARGEST
from conformance.recording.outputs import outputs_folder
from conformance.recording.records import Order, Record, RecordWriter, day_to_come, read_record, timestamp
from conformance.recording.rows import Result
from conformance.running.progress import Progress
from conformance.running.run_options import RunPlan
from conformance.runtimes.runtimes import Runtime, environment_state
from conformance.suite.store import KeptWork
from opcert.vocabulary.errors import OpcertError, Place, UserError, unreadable
from opcert.vocabulary.file_digests import digest_of
from opcert.vocabulary.regular_files import open_regular

_OF_THE_TIME = ("started", "resumed")


class WrittenRecords:
    """What is known, in the user's cache, of the records that whole runs of a runtime have written.

    A record stands for another run where it is byte for byte the one that was written here, with the outputs
    beside it, its header says the same of suite, runtime, options and machine, opcert's own files are the
    same, and so is each library that the runtime ran code from and each file of its environment, its modules
    among them (`environment_state`). Only of a runtime that opcert installed: one that somebody works on is
    asked again each time. With `again` no record stands for a run.
    """

    def __init__(self, runtime: Runtime, *, again: bool = False) -> None:
        self._work = KeptWork("records")
        self._runtime, self._again = runtime, again
        # Before anything of it is loaded, where it is there already.
        self._state = None if runtime.upgrade else environment_state(runtime)

    def find(self, path: Path, header: Mapping[str, Any]) -> Record | None:
        """The record at a place, where it stands for the run that would have this header; or else None."""
        self._state = self._state or environment_state(self._runtime)
        if self._again or self._state is None or not path.is_file():
            return None
        kept = self._work.find(self._key(header))
        with suppress(OpcertError, OSError, KeyError, TypeError, AttributeError):
            files: Mapping[str, str] = kept["files"]
            same = [digest_of(path), _outputs(path)] == [kept["record"], kept["outputs"]]
            if same and all(digest_of(Path(name), LARGEST) == digest for name, digest in files.items()):
                found = read_record(path)
                # Of a clock that was set back since, nothing can be certified today.
                return None if day_to_come(str((found.footer or {}).get("finished"))) else found
        return None

    def keep(
        self, record: Record, header: Mapping[str, Any], loaded: Mapping[Path, Mapping[str, Any]]
    ) -> None:
        """Remember the record of a run, and what its workers ran code from; none of an ended run."""
        footer = record.footer
        if footer is None or "stopped" in footer:
            return
        if self._state is None or self._state != environment_state(self._runtime):
            return  # nobody knows which of its files were changed before they were read
        with suppress(OSError):
            files = {str(path): each["sha256"] for path, each in loaded.items()}
            if files:
                content = {"record": digest_of(record.path), "outputs": _outputs(record.path), "files": files}
                self._work.keep(self._key(header), content)

    def _key(self, header: Mapping[str, Any]) -> str:
        stated = {name: each for name, each in header.items() if name not in _OF_THE_TIME}
        return self._work.key(stated, self._state)


def _outputs(path: Path) -> list[str]:
    """The names of the files of outputs beside a record; each says what is in it."""
    folder = outputs_folder(path)
    return sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []


_LONGEST_HEADER = 16 << 20
_SAME_OPTIONS = (
    *("pattern", "forms", "sampled", "repeat", "shard"),
    *("timeout", "load_timeout", "start_timeout", "memory"),
)


@dataclass(frozen=True)
class RecordPlace:
    """Where a run's record goes, and what becomes of one that is there.

    With `resume` the cases that it holds already are not run again. `replacing` is called before anything
    changes of it. With `written` it stands for a run of the same build, and nothing is run.
    """

    path: Path
    resume: bool = False
    replacing: Callable[[], None] = lambda: None
    written: WrittenRecords | None = None

    def standing(self, header: Mapping[str, Any], progress: Progress) -> Record | None:
        """The record that stands for the run that would have this header; None where one is to be made."""
        found = None if self.written is None else self.written.find(self.path, header)
        if found is not None:
            progress.note(
                f"the same build ran these cases here, {found.header['started']}: --again runs them anew"
            )
        return found

    def begin(self, plan: RunPlan, header: dict[str, Any], progress: Progress) -> Beginning:
        """What is left of a plan, and the record that it goes on from; then its header says so.

        Raises UserError where that is the record of another run.
        """
        earlier = find_begun(self.path, header, progress) if self.resume else None
        if earlier is None:
            return Beginning(self, plan)
        if is_through(earlier):
            progress.note("the record is whole already: nothing is left to run")
            return Beginning(self, plan, earlier, whole=True)
        return Beginning(self, go_on(earlier, plan, header, progress), earlier)


@dataclass(frozen=True)
class Beginning:
    """What a run begins with: the rows that are left to it, and those of an earlier record that stay.

    Of a `whole` record nothing is left.
    """

    place: RecordPlace
    plan: RunPlan
    earlier: Record | None = None
    whole: bool = False

    def kept(self) -> Iterable[tuple[Result, Order]]:
        """The rows that stay, each with its place."""
        return () if self.earlier is None else kept_rows(self.earlier, self.plan)

    def open(self, header: Mapping[str, Any], most_in_memory: int | None = None) -> RecordWriter:
        """Begin the record, with the rows that stay, in the place of what is there."""
        self.place.replacing()
        kept = None if self.earlier is None else self.kept()
        return RecordWriter(self.place.path, header, kept, most_in_memory)


def find_begun(path: Path, header: Mapping[str, Any], progress: Progress) -> Record | None:
    """The record at a place, whole or partial, of the run that has this header; None where it begins anew.

    That is where there is none, not even its header, or a whole one that ended on a day to come: nobody
    believes when it was, and nothing can be certified of it. Raises UserError for a damaged record, and for
    one of another run.
    """
    earlier = _find_record(path)
    if earlier is None:
        return None
    _check_same_run(earlier, header)
    day = day_to_come(str((earlier.footer or {}).get("finished"))) if is_through(earlier) else ""
    if not day:
        return earlier
    progress.note(f"the run of the record ended on {day}, which is not yet by this clock: it begins anew")
    return None


def _find_record(path: Path) -> Record | None:
    try:
        with open_regular(path) as file:
            if not file.readline(_LONGEST_HEADER).endswith(b"\n"):
                return None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable("the record", path, error) from error
    return read_record(path)


def is_through(record: Record) -> bool:
    """Whether nothing of a run is left to do."""
    return record.footer is not None and "stopped" not in record.footer


def _check_same_run(record: Record, header: Mapping[str, Any]) -> None:
    """Raise UserError where a record is of another suite, runtime, version, machine or set of options."""
    before, now = _identity(record.header), _identity(header)
    if "processor" not in record.header:
        # Of a record that does not say it nothing is known.
        now.pop("instruction sets", None)
    for key, value in now.items():
        if before.get(key) != value:
            raise UserError(
                "the record is of another run",
                got=f"{key}: {before.get(key)}",
                expected=str(value),
                where=Place(str(record.path)),
                remedy="Resume with the same suite, runtime and options, or run without --resume.",
            )


def _identity(header: Mapping[str, Any]) -> dict[str, Any]:
    runtime, options, platform = (header.get(key) or {} for key in ("runtime", "options", "platform"))
    found = {"suite": header.get("suite")}
    found |= {f"runtime {key}": runtime.get(key) for key in ("name", "version", "source", "options")}
    # A cluster's machines are told apart row by row, and which one begins is chance.
    alike = ("system", "opcert") if header.get("cluster") else ("system", "machine", "opcert")
    found |= {"on a cluster": bool(header.get("cluster"))}
    found |= {f"platform {key}": platform.get(key) for key in alike}
    if not header.get("cluster"):
        found |= {"instruction sets": (header.get("processor") or {}).get("flags")}
    return found | {f"option {key}": options.get(key) for key in _SAME_OPTIONS}


def whole_cases(record: Record, plan: RunPlan) -> frozenset[str]:
    """The cases that are there with all of a plan's rows; a row that was not run is none."""
    asked = Counter(result.case for result in record.results if result.response != "none")
    return frozenset(case for case, count in asked.items() if count == plan.rows_of(case))


def kept_rows(record: Record, plan: RunPlan) -> Iterator[tuple[Result, Order]]:
    """The rows of the cases that a plan has done, each with its place."""
    positions = {case_id: position for position, case_id in enumerate(plan.selected)}
    for result in record.results:
        if result.case in plan.done and result.response != "none":
            yield result, (positions[result.case], plan.forms.index(result.form), result.repeat)


def go_on(earlier: Record, plan: RunPlan, header: dict[str, Any], progress: Progress) -> RunPlan:
    """A plan without the cases that a record has whole; its header says since when, and that it goes on."""
    plan = replace(plan, done=whole_cases(earlier, plan))
    progress.note(f"{plan.rows_done} of {plan.rows} rows are recorded already")
    header["started"] = earlier.header.get("started")
    header["resumed"] = [*earlier.header.get("resumed", ()), timestamp()]
    return plan
