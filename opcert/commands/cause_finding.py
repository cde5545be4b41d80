"""Puts what is known of causes beside a run: from entries, and from experiments on the runtime."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from opcert.commands.terminal import say
from opcert.vocabulary.errors import RuntimeUnavailable
from reports.causes.open_cases import with_open_cases
from reports.text.phrasing import plural

if TYPE_CHECKING:
    from conformance.judging.kept_diagnosis import Diagnosis, EntryTrial, SmallerCall
    from conformance.processes.worker_limits import Limits
    from conformance.runtimes.runtimes import Runtime
    from conformance.suite.cases import Case
    from generator.exploring.diagnosis.claims import Pointing
    from generator.exploring.fuzzing.workers import RunningRuntime
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
    from conformance.judging.kept_diagnosis import FILE, Diagnosis, read_diagnosis, write_diagnosis
    from generator.exploring.diagnosis.claims import point
    from opcert.commands.kept_experiments import KeptExperiments
    from opcert.commands.tried_entries import untried

    footer = results.record.footer
    if footer is None or (not any(_asked(results)) and not results.suspected):
        return results
    path, digests = results.record.path.with_name(FILE), (results.suite.digest, footer.get("digest"))
    earlier = read_diagnosis(path, *digests) if resume else None
    entries = known_entries(results, folders, files)
    pointing = point(results.suite, results.record, entries, folders)
    kept = KeptExperiments(runtime, results.record) if keep_calls and not folders else None
    trials = [*(earlier.trials if earlier is not None else ()), *(kept.trials if kept is not None else ())]
    results = _claimed(results, pointing, trials, folders)
    pointed = untried(pointing, trials) if results.suspected else []
    wrong, told = _asked(results)
    part = PART_OF_RUN if wrong or pointed else PART_WHERE_TOLD
    allowed = _allowed(results, part) if seconds is None else seconds
    if allowed <= 0 or (earlier is not None and earlier.stopped is None and not pointed):
        return results
    if kept is not None and earlier is None and not pointed:
        same = kept.diagnosis(wrong, told) if seconds is None else None
        # One that was ended sooner, as somebody had said, is not all that there is time for.
        if same is not None and (same.stopped is None or same.seconds >= allowed):
            write_diagnosis(path, *digests, same)
            made = plural(len(same.calls), "call")
            say(f"opcert: the causes of these failures were asked for before, in {made}", error=True)
            return replace(results)
    if kept is not None and earlier is None:
        earlier = kept.calls()
        if earlier is not None and seconds is None:
            allowed = max(LEAST_SECONDS, allowed - earlier.seconds)
    # Imported here: much, and where the same was asked before nobody needs it.
    from generator.exploring.diagnosis.diagnose import diagnose
    from generator.exploring.fuzzing.workers import RunningRuntime
    from opcert.commands.tried_entries import trials_by_asking

    so_far = f", beside {plural(len(earlier.calls), 'call')} that were made before" if earlier else ""
    say(f"opcert: asking the runtime for causes, at most {round(allowed, 1):g} s{so_far}", error=True)
    short = replace(limits, case_seconds=min(limits.case_seconds, _CALL_SECONDS))
    calls = earlier.calls if earlier is not None else ()
    before = earlier.seconds if earlier is not None else 0.0

    def keep(found: Diagnosis) -> None:
        write_diagnosis(path, *digests, replace(found, trials=tuple(trials)))

    def keep_trials(found: Sequence[EntryTrial]) -> None:
        keep(Diagnosis((), (), (), before, "interrupted", calls, trials=tuple(found)))

    try:
        with RunningRuntime(runtime, short, lambda line: say(line, error=True)) as running:
            begun, stopped = monotonic(), None
            if pointed:
                further, stopped = trials_by_asking(
                    results.suite, pointed, running, allowed, lambda some: keep_trials([*trials, *some])
                )
                trials += further
                results = _claimed(results, pointing, trials, folders)
                wrong, told = _asked(results)
            taken = monotonic() - begun
            found = diagnose(
                wrong,
                told,
                running.ask,
                seconds=min(allowed, max(LEAST_SECONDS, allowed - taken)),
                folders=folders,
                earlier=earlier,
                keep=keep,
            )
            found = replace(
                found,
                seconds=round(found.seconds + taken, 3),
                stopped=found.stopped or stopped,
                trials=tuple(trials),
            )
            keep(found)
            left = SHOWN_SECONDS if seconds is None else min(SHOWN_SECONDS, seconds)
            found = replace(found, smaller=_shown(results, running, left, folders, entries, earlier))
    except RuntimeUnavailable as error:
        say(f"opcert: no more experiments: {error}", error=True)
    except KeyboardInterrupt:
        say(f"opcert: the calls that were made are kept in {path}; {_GO_ON}", error=True)
        raise
    else:
        keep(found)
        if kept is not None:
            kept.keep(found, wrong, told)
        if found.stopped is not None:
            say(f"opcert: experiments came to no end ({found.stopped}); {_GO_ON}", error=True)
    # A copy, which finds its classes anew: those that `results` found are of before the experiments.
    return with_open_cases(replace(results))


def _shown(
    results: Results,
    running: RunningRuntime,
    seconds: float,
    folders: tuple[Path, ...],
    entries: Sequence[Disagreement],
    earlier: Diagnosis | None,
) -> tuple[SmallerCall, ...]:
    """The calls to show of the causes that the experiments leave."""
    from opcert.commands.smaller_calls import smaller_calls
    from reports.causes.failure_classes import classes_of

    if seconds <= 0:
        return ()
    # A copy: its classes are those behind the experiments.
    after = with_open_cases(replace(results))
    before = () if earlier is None else earlier.smaller
    return tuple(smaller_calls(after, classes_of(after), running, seconds, folders, entries, before))


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
    return verdict in ("mismatch", "rejected_valid")


def _allowed(results: Results, part: float) -> float:
    from reports.text.phrasing import parse_moment

    header, footer = results.record.header, results.record.footer or {}
    begun, ended = parse_moment(str(header.get("started"))), parse_moment(str(footer.get("finished")))
    if begun is None or ended is None:
        return 0.0
    allowed = part * (ended - begun).total_seconds()
    return min(MOST_SECONDS, allowed) if allowed >= LEAST_SECONDS else 0.0
