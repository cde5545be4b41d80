"""Experiments behind a run: entries tried on the runtime, causes looked for, shown calls made smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic

from conformance.judging.kept_diagnosis import (
    FILE,
    Diagnosis,
    EntryTrial,
    SmallerCall,
    TriedCall,
    read_diagnosis,
    write_diagnosis,
)
from conformance.judging.responses import Answered, Refused, Response
from conformance.processes.worker_limits import Limits
from conformance.recording.records import Record
from conformance.runtimes.runtimes import Runtime, environment_state
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.cases import Case
from conformance.suite.store import KeptWork
from generator.exploring.diagnosis.claims import point
from generator.exploring.diagnosis.diagnose import diagnose
from generator.exploring.diagnosis.entry_trials import trials_by_asking, untried
from generator.exploring.diagnosis.smallest_calls import SmallestCalls
from generator.exploring.fuzzing import workers
from opcert.commands.entry_claims import claimed, failures_to_ask_about
from opcert.commands.terminal import note, say
from opcert.vocabulary.errors import RuntimeUnavailable
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.strict_json import read_plain
from reference.readings.disagreements import Disagreement
from reports.causes.failure_class import FailureClass
from reports.causes.failure_classes import classes_of
from reports.causes.kept_findings import with_open_cases
from reports.results.case_results import Results
from reports.single_cases.answer_views import in_words, output_name
from reports.single_cases.case_views import view_case
from reports.text.phrasing import parse_moment, plural

MOST_SECONDS = 90.0
PART_OF_RUN, PART_WHERE_TOLD = 0.3, 0.1
"""Experiments take no longer without being asked to, and no more than this part of the run's own time: of one
whose causes were all told before, as there they find out no more than what each needs, and costs."""
OF_SHORT_RUN = 5.0
"""So long they may take behind the shortest run, where a cause is not told."""
LEAST_SECONDS = 0.5
"""Where less is left nobody is asked: nothing is shown in so short a time."""
SHOWN_SECONDS, ONE_SHOWN_SECONDS = 45.0, 3.0
"""So long the calls that are shown of all causes are made smaller without being asked to, and that of one."""
MOST_DIAGNOSES = 8
"""Of so many sets of failing cases the diagnosis is kept; of all of them every call."""
_CALL_SECONDS = 5.0
_LONGEST = 500
_LIMITS = ("timeout", "load_timeout", "start_timeout", "memory", "network")
_EARLIER = "earlier"
"""What `stopped` says of calls without a diagnosis."""
_GO_ON = "--diagnose SECONDS gives them longer; after `opcert run`, --resume of its record goes on there"

Smaller = Callable[[FailureClass, Case], Case]
"""Makes the case of a cause smaller; one that cannot be made smaller is given back as it is."""


class Experiments:
    """Experiments behind one run: what they begin with, and what they come to.

    `seconds` are those that somebody allowed. They go on from an earlier diagnosis of the same record
    (`resume`), or from what the same build was asked behind other runs (`keep_calls`).
    """

    def __init__(
        self,
        results: Results,
        runtime: Runtime,
        folders: tuple[Path, ...],
        entries: Sequence[Disagreement],
        seconds: float | None,
        resume: bool,
        keep_calls: bool,
    ) -> None:
        suite, record = results.suite, results.record
        self._runtime, self._folders, self._entries, self._seconds = runtime, folders, entries, seconds
        self._path = record.path.with_name(FILE)
        self._of = (suite.digest, (record.footer or {}).get("digest"))
        self._pointing = point(suite, record, entries, folders)
        self._earlier = read_diagnosis(self._path, *self._of) if resume else None
        self._kept = KeptExperiments(runtime, record) if keep_calls and not folders else None
        before = self._earlier.trials if self._earlier else ()
        self._trials = (*before, *(self._kept.trials if self._kept else ()))
        self._claim(results)
        self._pointed = untried(self._pointing, self._trials) if self._results.suspected else []
        self._allowed = self._time_for(record) if seconds is None else seconds

    def results_with(self, limits: Limits) -> Results:
        """The results behind the experiments; raises as `with_experiments`."""
        ended = self._earlier is not None and self._earlier.stopped is None and not self._pointed
        if self._allowed <= 0 or ended:
            return self._results
        if self._write_asked_before():
            return replace(self._results)
        if self._kept is not None and self._earlier is None:
            self._earlier = self._kept.calls()
            if self._earlier is not None and self._seconds is None:
                self._allowed = max(LEAST_SECONDS, self._allowed - self._earlier.seconds)
        self._ask(limits)
        # A copy, which finds its classes anew: those that `results` found are of before the experiments.
        return with_open_cases(replace(self._results))

    def _claim(self, results: Results) -> None:
        """Let entries explain what the trials say, and see which failures are left."""
        self._results = claimed(results, self._pointing, self._trials, self._folders)
        self._wrong, self._told = failures_to_ask_about(self._results)

    def _time_for(self, record: Record) -> float:
        """The seconds that experiments may take behind a run, without being asked to."""
        footer = record.footer or {}
        begun = parse_moment(str(record.header.get("started")))
        ended = parse_moment(str(footer.get("finished")))
        if begun is None or ended is None:
            return 0.0
        seconds = (ended - begun).total_seconds()
        if self._wrong or self._pointed:
            return min(MOST_SECONDS, max(OF_SHORT_RUN, PART_OF_RUN * seconds))
        allowed = PART_WHERE_TOLD * seconds
        return min(MOST_SECONDS, allowed) if allowed >= LEAST_SECONDS else 0.0

    def _write_asked_before(self) -> bool:
        """Whether the same build was asked for the causes of these failures before; then they are written."""
        anew = self._earlier is not None or self._pointed or self._seconds is not None
        same = None if self._kept is None or anew else self._kept.diagnosis(self._wrong, self._told)
        # One that was ended sooner, as somebody had said, is not all that there is time for.
        if same is None or (same.stopped is not None and same.seconds < self._allowed):
            return False
        self._write(same)
        note(f"the causes of these failures were searched for before, in {plural(len(same.calls), 'call')}")
        return True

    def _ask(self, limits: Limits) -> None:
        """Ask the runtime, and write what it comes to; says what ends that before it is done."""
        told = f"experiments on the runtime, which find causes: at most {round(self._allowed, 1):g} s"
        if self._earlier is not None:
            told += f", beside {plural(len(self._earlier.calls), 'call')} that were made before"
        note(told)
        short = replace(limits, case_seconds=min(limits.case_seconds, _CALL_SECONDS))
        try:
            with workers.RunningRuntime(self._runtime, short, partial(say, error=True)) as running:
                found = self._find_causes(running)
                found = replace(found, smaller=self._shown(running))
        except RuntimeUnavailable as error:
            note(f"no more experiments: {error}")
            return
        except KeyboardInterrupt:
            note(f"the calls that were made are kept in {self._path}; {_GO_ON}")
            raise
        self._write(found)
        if self._kept is not None:
            self._kept.keep(found, self._wrong, self._told)
        if found.stopped is not None:
            note(f"experiments stopped early ({found.stopped}); {_GO_ON}")

    def _find_causes(self, running: workers.RunningRuntime) -> Diagnosis:
        """Try the entries, then look for causes of what none of them explains."""
        begun = monotonic()
        stopped = self._try_entries(running) if self._pointed else None
        taken = monotonic() - begun
        found = diagnose(
            self._wrong,
            self._told,
            running.ask,
            seconds=min(self._allowed, max(LEAST_SECONDS, self._allowed - taken)),
            folders=self._folders,
            earlier=self._earlier,
            keep=lambda some: self._write(replace(some, trials=self._trials)),
        )
        seconds = round(found.seconds + taken, 3)
        found = replace(found, seconds=seconds, stopped=found.stopped or stopped, trials=self._trials)
        self._write(found)
        return found

    def _try_entries(self, running: workers.RunningRuntime) -> str | None:
        """Try the entries that may be about wrong answers; what ended that, None where it came to its end."""
        calls, seconds = (self._earlier.calls, self._earlier.seconds) if self._earlier else ((), 0.0)

        def keep(some: Sequence[EntryTrial]) -> None:
            trials = (*self._trials, *some)
            self._write(Diagnosis((), (), (), seconds, "interrupted", calls, trials=trials))

        suite = self._results.suite
        further, stopped = trials_by_asking(suite, self._pointed, running.ask, self._allowed, keep)
        self._trials += tuple(further)
        self._claim(self._results)
        return stopped

    def _shown(self, running: workers.RunningRuntime) -> tuple[SmallerCall, ...]:
        """The calls to show of the causes that the experiments leave."""
        seconds = SHOWN_SECONDS if self._seconds is None else min(SHOWN_SECONDS, self._seconds)
        if seconds <= 0:
            return ()
        # A copy: its classes are those behind the experiments.
        after = with_open_cases(replace(self._results))
        before = () if self._earlier is None else self._earlier.smaller
        smaller = smaller_on(running, min(ONE_SHOWN_SECONDS, seconds), self._folders, self._entries)
        return tuple(smaller_calls(after, smaller, running, seconds, before))

    def _write(self, found: Diagnosis) -> None:
        write_diagnosis(self._path, *self._of, found)


def smaller_on(
    running: workers.RunningRuntime,
    seconds: float,
    folders: tuple[Path, ...],
    entries: Sequence[Disagreement],
) -> Smaller:
    """What makes calls smaller on a runtime, each for so many seconds; `entries` say of what causes are."""
    first = running.offer.forms[0]
    calls = SmallestCalls(running.ask, running.name, entries, seconds, folders)

    def smaller(found: FailureClass, case: Case) -> Case:
        row = found.smallest.row
        if row is None or row.form != first or str(case.id) != row.case:
            return case
        try:
            return calls.of(case, row.verdict, row.reason or "", found.entry, found.smallest.shows)
        except RuntimeUnavailable as error:
            note(error)
            return case

    return smaller


def smaller_calls(
    results: Results,
    smaller: Smaller,
    running: workers.RunningRuntime,
    seconds: float,
    before: Iterable[SmallerCall] = (),
) -> Iterator[SmallerCall]:
    """The calls to show of causes, in their order, as many as there is time for; those of `before` stay."""
    kept = {(smaller_call.case, smaller_call.cause): smaller_call for smaller_call in before}
    until = monotonic() + seconds
    for found in filter(lambda failures: failures.fails, classes_of(results)):
        if monotonic() >= until:
            return
        name = str(found.smallest.id)
        if (name, found.entry) in kept:
            yield kept[name, found.entry]
            continue
        case = results.suite.case(name)
        small = smaller(found, case)
        if small is case:
            continue
        try:
            got = _got(running.ask(small), small)
        except RuntimeUnavailable:
            return
        if got:
            view = view_case(results, replace(small, id=case.id))
            yield SmallerCall(
                name,
                found.entry,
                tuple((attribute.name, attribute.values) for attribute in view.attributes),
                tuple(
                    (viewed_value.name, viewed_value.type, viewed_value.values)
                    for viewed_value in view.inputs
                ),
                view.demand,
                got,
            )


def _got(response: Response, case: Case) -> str:
    """What the runtime made of a call, in words; empty where it made nothing that can be shown."""
    match response:
        case Answered():
            return "; ".join(
                in_words(output_name(case, position), output).line
                for position, output in enumerate(response.outputs)
            )
        case Refused():
            return one_line(f"{response.kind}: {response.message}", _LONGEST)
    return ""


@dataclass(frozen=True)
class _Kept:
    """The libraries that were loaded, by their digests; the calls, the trials of entries, and the diagnoses
    without these, each with the key of its cases."""

    seconds: float
    loaded: Mapping[str, str]
    calls: tuple[TriedCall, ...]
    trials: tuple[EntryTrial, ...]
    diagnoses: tuple[tuple[str, Diagnosis], ...]


class KeptExperiments:
    """Experiments on the same build of a runtime behind earlier runs of the same suite.

    It is the same build where opcert made its environment, no file of that has changed (`environment_state`),
    and each library that was loaded in both runs has one digest: a runtime that somebody is working on has no
    such environment, and is asked again each time.
    Other limits on time and memory are another key.
    """

    def __init__(self, runtime: Runtime, record: Record) -> None:
        footer = record.footer or {}
        self._loaded = {str(each["file"]): str(each["sha256"]) for each in footer.get("loaded") or ()}
        self._key: str | None = None
        self._work = KeptWork("experiments")
        state = environment_state(runtime) if self._loaded else None
        if state is not None:
            header = record.header
            limits = {name: each for name, each in (header.get("options") or {}).items() if name in _LIMITS}
            stated = ("suite", "runtime", "platform", "confinement")
            self._key = self._work.key([limits, state, *map(header.get, stated)])
        self._kept = self._read() or _Kept(0.0, {}, (), (), ())

    @property
    def trials(self) -> tuple[EntryTrial, ...]:
        """What became of entries that may be about wrong answers."""
        return self._kept.trials

    def diagnosis(self, wrong: Sequence[Case], told: Sequence[Sequence[Case]]) -> Diagnosis | None:
        """What was found of the same failing cases; None where that was never asked."""
        found = dict(self._kept.diagnoses).get(_key_of(wrong, told))
        return None if found is None else replace(found, calls=self._kept.calls, trials=self._kept.trials)

    def calls(self) -> Diagnosis | None:
        """The calls of before without what they say, those shown, and the seconds; None without any."""
        if not self._kept.diagnoses:
            return None
        smaller = {
            (smaller_call.case, smaller_call.cause): smaller_call
            for _, found in self._kept.diagnoses
            for smaller_call in found.smaller
        }
        return Diagnosis(
            (), (), (), self._kept.seconds, _EARLIER, self._kept.calls, smaller=tuple(smaller.values())
        )

    def keep(self, found: Diagnosis, wrong: Sequence[Case], told: Sequence[Sequence[Case]]) -> None:
        """Keep a diagnosis of failing cases, its calls and its trials, those of before among them."""
        if self._key is not None:
            asked = _key_of(wrong, told)
            others = [each for each in self._kept.diagnoses if each[0] != asked]
            latest = [*others, (asked, found)][-MOST_DIAGNOSES:]
            plain = tuple((name, replace(each, calls=(), trials=())) for name, each in latest)
            kept = _Kept(found.seconds, self._loaded, found.calls, found.trials, plain)
            self._work.keep(self._key, asdict(kept))

    def _read(self) -> _Kept | None:
        if self._key is not None:
            with suppress(ValueError):
                kept = read_plain(_Kept, self._work.find(self._key))
                # Which libraries a process has loaded hangs on the cases that it has met.
                if all(self._loaded.get(name, digest) == digest for name, digest in kept.loaded.items()):
                    return kept
        return None


def _key_of(wrong: Sequence[Case], told: Sequence[Sequence[Case]]) -> str:
    """Of the failing cases that are asked about."""
    return sha256(canonical_json([[str(each.id) for each in cases] for cases in (wrong, *told)]))
