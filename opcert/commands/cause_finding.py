"""Puts what is known of causes beside a run: from entries, and from experiments on the runtime."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from conformance.judging.verdicts import REJECTED_VALID
from opcert.commands.terminal import note, say
from opcert.vocabulary.errors import RuntimeUnavailable
from reports.causes.kept_findings import with_open_cases
from reports.text.phrasing import plural

if TYPE_CHECKING:
    from conformance.judging.kept_diagnosis import Diagnosis, EntryTrial, SmallerCall
    from conformance.processes.worker_limits import Limits
    from conformance.runtimes.runtimes import Runtime
    from conformance.suite.cases import Case
    from generator.exploring.diagnosis.claims import Pointing
    from generator.exploring.fuzzing.workers import RunningRuntime
    from opcert.commands.kept_experiments import KeptExperiments
    from reference.readings.disagreements import Disagreement
    from reports.results.case_results import Followed, Results

MOST_SECONDS = 90.0
PART_OF_RUN, PART_WHERE_TOLD = 0.3, 0.1
"""Experiments take no longer without being asked to, and no more than this part of the run's own time: of one
whose causes were all told before, as there they find out no more than what each needs, and costs."""
SHOWN_SECONDS = 45.0
"""So long the calls that are shown of all causes are made smaller, without being asked to."""
LEAST_SECONDS = 0.5
"""A run that leaves less is not followed by any: nothing is shown in so short a time."""
_CALL_SECONDS = 5.0
_GO_ON = "`opcert run --resume` with the same record goes on from there, with --diagnose SECONDS for as long"


def with_known_causes(
    results: Results, folders: tuple[Path, ...] = (), files: tuple[Path, ...] = ()
) -> Results:
    """The results with the entries that explain failures of theirs, those of the user's files first,
    those that came with the suite last.

    A wrong answer is explained by what was shown of it: by the recorded answer, or by the runtime when it was
    asked (`diagnosis.json` beside the record).
    Raises UserError, or SeveralErrors with every mistake in a file.
    """
    from conformance.judging.kept_diagnosis import FILE, read_diagnosis

    footer = results.record.footer or {}
    path = results.record.path.with_name(FILE)
    kept = read_diagnosis(path, results.suite.digest, footer.get("digest"))
    return _claimed(
        results, pointing_of(results, folders, files), () if kept is None else kept.trials, folders
    )


def _claimed(
    results: Results, pointing: Pointing, trials: Iterable[EntryTrial], folders: tuple[Path, ...]
) -> Results:
    """The results with what entries explain by the recorded answers and by these trials."""
    from opcert.commands.tried_entries import trials_by_answers

    by_answers = trials_by_answers(results.suite, results.record, pointing, keep=not folders)
    found = pointing.claims([*by_answers, *trials])
    return with_open_cases(
        replace(
            results,
            known=found.explaining,
            mended=found.mended,
            suspected=found.suspected,
            followed=followed_options(),
        )
    )


def pointing_of(results: Results, folders: tuple[Path, ...], files: tuple[Path, ...]) -> Pointing:
    """Which entries may be about which failures of a run; raises as `with_known_causes`."""
    # Imported here: a run in which nothing fails has no use for it.
    from generator.exploring.diagnosis.claims import point

    return point(results.suite, results.record, known_entries(results, folders, files), folders)


def known_entries(results: Results, folders: tuple[Path, ...], files: tuple[Path, ...]) -> list[Disagreement]:
    """The entries of the user's files and folders, then those that ship, then those of the suite alone."""
    from reference.readings.disagreements import load_disagreements, parse_disagreements, read_disagreements

    entries = [entry for each in files for entry in read_disagreements(each)]
    entries += [entry for each in folders for entry in load_disagreements(each)]
    entries += load_disagreements()
    # Those that are here are newer than what a suite was made with.
    here = {each.id for each in entries}
    carried = parse_disagreements(results.suite.known_entries(), results.suite.path)
    return [*entries, *(each for each in carried if each.id not in here)]


@cache
def followed_options() -> Followed:
    """Which options of the readings of operators that ship runtimes followed when they were last asked."""
    from reference.readings.followed import load_all_followed

    found: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {}
    for measured in load_all_followed():
        for operator, readings in measured.followed.items():
            for reading, options in readings.items():
                told = found.setdefault(operator, {}).setdefault(reading, {})
                for option in options:
                    told[option] = (*told.get(option, ()), measured.runtime)
    return found


def with_others(results: Results, paths: tuple[Path, ...] = (), kept: Path = Path("out")) -> Results:
    """The results with runs of other runtimes on the same suite: those named, and those kept in `out/`.

    A run of the same runtime that optimises less is there as well.

    Raises UserError where a record that was named cannot be read, or is of another suite.
    """
    from conformance.recording.records import read_record
    from opcert.vocabulary.errors import Place, UserError
    from reports.causes.optimisation import OPTION, level_of, optimises_less
    from reports.overview.headline import runtime_label
    from reports.results.others import OtherRun

    own, digest = results.record.path.resolve(), results.suite.digest
    found: dict[str, OtherRun] = {}
    for path in (*paths, *_kept_records(kept, digest)):
        if path.resolve() == own:
            continue
        record = read_record(path)
        if record.header.get("suite") != digest:
            raise UserError(
                "the record beside is of another suite",
                got=str(record.header.get("suite")),
                expected=digest,
                where=Place(str(path)),
            )
        label = runtime_label(record)
        if optimises_less(record, results.record):
            label = f"{label} with {OPTION}={level_of(record)}"
            found.setdefault(label, OtherRun(label, record.verdicts, optimises_less=True))
        elif label != runtime_label(results.record):
            found.setdefault(label, OtherRun(label, record.verdicts))
    return replace(results, others=tuple(found.values()))


def _kept_records(folder: Path, digest: str) -> list[Path]:
    """The records of a suite that runs have left there; what cannot be read is none."""
    found = []
    for path in sorted(folder.glob("*/run.jsonl")):
        try:
            with path.open("rb") as file:
                if digest.encode() in file.readline(1 << 20):
                    found.append(path)
        except OSError:
            continue
    return found


def with_experiments(
    results: Results,
    runtime: Runtime,
    limits: Limits,
    folders: tuple[Path, ...] = (),
    seconds: float | None = None,
    resume: bool = False,
    *,
    files: tuple[Path, ...] = (),
    keep_calls: bool = True,
) -> Results:
    """The results with experiments on the runtime, which `diagnosis.json` beside the record keeps.

    First the entries that may be about wrong answers are tried, then causes are looked for of what none of
    them explains. Without `seconds` this takes at most 30 % of the run's own time, 10 % where every cause is
    told, and 90 s; then the calls that are shown of causes are made smaller, for at most 45 s. With
    `keep_calls` those that the same build of the runtime was asked behind earlier runs are not asked again,
    and their seconds count. Where no footer ends the record, nothing fails that they
    could tell of, or the runtime does not start again, there are none. With `resume` those that came to no
    end go on from the calls that the file holds.
    Raises UserError where the file cannot be read or written.
    """
    from conformance.judging.kept_diagnosis import FILE, read_diagnosis
    from generator.exploring.diagnosis.claims import point
    from opcert.commands.kept_experiments import KeptExperiments

    footer = results.record.footer
    if footer is None or (not any(_asked(results)) and not results.suspected):
        return results
    path = results.record.path.with_name(FILE)
    entries = known_entries(results, folders, files)
    experiments = _Experiments(
        results,
        entries,
        point(results.suite, results.record, entries, folders),
        folders,
        path,
        seconds,
        read_diagnosis(path, results.suite.digest, footer.get("digest")) if resume else None,
        KeptExperiments(runtime, results.record) if keep_calls and not folders else None,
    )
    if experiments.allowed <= 0 or experiments.came_to_an_end:
        return experiments.results
    if experiments.write_asked_before():
        return replace(experiments.results)
    experiments.go_on()
    experiments.ask(runtime, limits)
    # A copy, which finds its classes anew: those that `results` found are of before the experiments.
    return with_open_cases(replace(experiments.results))


@dataclass
class _Experiments:
    """Experiments behind one run: what they begin with, and what they come to.

    `path` is the file that keeps them. `seconds` are those that somebody allowed, `earlier` is what they go
    on from, `kept` what the same build was asked behind other runs.
    """

    results: Results
    entries: Sequence[Disagreement]
    pointing: Pointing
    folders: tuple[Path, ...]
    path: Path
    seconds: float | None
    earlier: Diagnosis | None
    kept: KeptExperiments | None

    def __post_init__(self) -> None:
        from opcert.commands.tried_entries import untried

        earlier, kept = self.earlier, self.kept
        self._trials = (*(earlier.trials if earlier else ()), *(kept.trials if kept is not None else ()))
        self._claim()
        self._pointed = untried(self.pointing, self._trials) if self.results.suspected else []
        part = PART_OF_RUN if self._wrong or self._pointed else PART_WHERE_TOLD
        self.allowed = _allowed(self.results, part) if self.seconds is None else self.seconds

    def _claim(self) -> None:
        """Let entries explain what the trials say, and see which failures are left."""
        self.results = _claimed(self.results, self.pointing, self._trials, self.folders)
        self._wrong, self._told = _asked(self.results)

    @property
    def came_to_an_end(self) -> bool:
        """Whether nothing is left of experiments that are gone on from."""
        return self.earlier is not None and self.earlier.stopped is None and not self._pointed

    def write_asked_before(self) -> bool:
        """Whether the same build was asked for the causes of these failures before; then they are written."""
        if self.kept is None or self.earlier is not None or self._pointed or self.seconds is not None:
            return False
        same = self.kept.diagnosis(self._wrong, self._told)
        # One that was ended sooner, as somebody had said, is not all that there is time for.
        if same is None or (same.stopped is not None and same.seconds < self.allowed):
            return False
        self._write(same)
        made = plural(len(same.calls), "call")
        note(f"the causes of these failures were asked for before, in {made}")
        return True

    def go_on(self) -> None:
        """Go on from the calls of the same build, where there is nothing else to go on from."""
        if self.kept is None or self.earlier is not None:
            return
        self.earlier = self.kept.calls()
        if self.earlier is not None and self.seconds is None:
            self.allowed = max(LEAST_SECONDS, self.allowed - self.earlier.seconds)

    def ask(self, runtime: Runtime, limits: Limits) -> None:
        """Ask the runtime, and write what it comes to; says what ends that before it is done."""
        # Imported here: much, and where the same was asked before nobody needs it.
        from generator.exploring.fuzzing.workers import RunningRuntime

        told = f"asking the runtime for causes, at most {round(self.allowed, 1):g} s"
        if self.earlier is not None:
            told += f", beside {plural(len(self.earlier.calls), 'call')} that were made before"
        note(told)
        short = replace(limits, case_seconds=min(limits.case_seconds, _CALL_SECONDS))
        try:
            with RunningRuntime(runtime, short, lambda line: say(line, error=True)) as running:
                found = self._find_causes(running)
                found = replace(found, smaller=self._shown(running))
        except RuntimeUnavailable as error:
            note(f"no more experiments: {error}")
            return
        except KeyboardInterrupt:
            note(f"the calls that were made are kept in {self.path}; {_GO_ON}")
            raise
        self._write(found)
        if self.kept is not None:
            self.kept.keep(found, self._wrong, self._told)
        if found.stopped is not None:
            note(f"experiments came to no end ({found.stopped}); {_GO_ON}")

    def _find_causes(self, running: RunningRuntime) -> Diagnosis:
        """Try the entries, then look for causes of what none of them explains."""
        from generator.exploring.diagnosis.diagnose import diagnose

        begun = monotonic()
        stopped = self._try_entries(running) if self._pointed else None
        taken = monotonic() - begun
        found = diagnose(
            self._wrong,
            self._told,
            running.ask,
            seconds=min(self.allowed, max(LEAST_SECONDS, self.allowed - taken)),
            folders=self.folders,
            earlier=self.earlier,
            keep=lambda some: self._write(replace(some, trials=self._trials)),
        )
        seconds = round(found.seconds + taken, 3)
        found = replace(found, seconds=seconds, stopped=found.stopped or stopped, trials=self._trials)
        self._write(found)
        return found

    def _try_entries(self, running: RunningRuntime) -> str | None:
        """Try the entries that may be about wrong answers; what ended that, None where it came to its end."""
        from conformance.judging.kept_diagnosis import Diagnosis
        from opcert.commands.tried_entries import trials_by_asking

        calls, seconds = (self.earlier.calls, self.earlier.seconds) if self.earlier else ((), 0.0)

        def keep(some: Sequence[EntryTrial]) -> None:
            trials = (*self._trials, *some)
            self._write(Diagnosis((), (), (), seconds, "interrupted", calls, trials=trials))

        further, stopped = trials_by_asking(self.results.suite, self._pointed, running, self.allowed, keep)
        self._trials += tuple(further)
        self._claim()
        return stopped

    def _shown(self, running: RunningRuntime) -> tuple[SmallerCall, ...]:
        """The calls to show of the causes that the experiments leave."""
        from opcert.commands.smaller_calls import smaller_calls
        from reports.causes.failure_classes import classes_of

        seconds = SHOWN_SECONDS if self.seconds is None else min(SHOWN_SECONDS, self.seconds)
        if seconds <= 0:
            return ()
        # A copy: its classes are those behind the experiments.
        after = with_open_cases(replace(self.results))
        before = () if self.earlier is None else self.earlier.smaller
        return tuple(
            smaller_calls(after, classes_of(after), running, seconds, self.folders, self.entries, before)
        )

    def _write(self, found: Diagnosis) -> None:
        from conformance.judging.kept_diagnosis import write_diagnosis

        suite, footer = self.results.suite, self.results.record.footer or {}
        write_diagnosis(self.path, suite.digest, footer.get("digest"), found)


def _asked(results: Results) -> tuple[list[Case], list[list[Case]]]:
    """The wrong answers whose cause nobody told, and the cases of each cause that was told."""
    from reports.causes.failure_classes import find_classes

    wrong, told = [], []
    # As they were without experiments, so that those that go on take the same way.
    for each in find_classes(results.cases, results.known, None, results.others, results.suspected):
        cases = [results.suite.case(str(case.id)) for case in each.cases if _may_be_asked(case.verdict)]
        if each.told == "suspected":
            continue  # first it is to be seen whose they are
        if each.told in ("entry", "message", "either", "together"):
            told.append(cases)
        else:
            wrong += cases
    return wrong, [each for each in told if each]


def _may_be_asked(verdict: str) -> bool:
    # Each lost process costs a start, and rules that are not checked have nothing that could be changed.
    return verdict in ("mismatch", REJECTED_VALID)


def _allowed(results: Results, part: float) -> float:
    from reports.text.phrasing import parse_moment

    header, footer = results.record.header, results.record.footer or {}
    begun, ended = parse_moment(str(header.get("started"))), parse_moment(str(footer.get("finished")))
    if begun is None or ended is None:
        return 0.0
    allowed = part * (ended - begun).total_seconds()
    return min(MOST_SECONDS, allowed) if allowed >= LEAST_SECONDS else 0.0
