"""Runs the cases of a model's calls on each runtime, with and without the runtime's own optimisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.processes.worker_limits import Limits
from conformance.runtimes.runtimes import Runtime, find_runtime
from opcert.commands.terminal import note, say
from opcert.vocabulary.errors import ExitCode, RuntimeUnavailable, UserError
from opcert.vocabulary.harmless import one_line
from reports.causes.optimisation import LEVELS, OPTION
from reports.checked_models.call_answers import answer_calls
from reports.checked_models.chain_answers import answer_chains, without_chains
from reports.checked_models.model_check import RuntimeAnswers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.checked_models.model_calls import ModelFacts
    from conformance.checked_models.whole_model import LoadFacts, WholeModelFacts
    from conformance.clusters.cluster import Cluster
    from conformance.processes.worker_limits import Limits
    from conformance.recording.records import Record
    from conformance.running.first_worker import FirstWorker
    from conformance.runtimes.runtimes import Runtime
    from conformance.suite.suites import Suite
    from generator.models.check.whole_model import InputSource
    from reports.checked_models.call_evidence import CheckedCall
    from reports.checked_models.chain_answers import CheckedChain
    from reports.results.case_results import Results

UNOPTIMISED = "unoptimised"
MOST_LOST = 2
"""Of one call so many cases may lose their worker before its others are left out: each costs many starts."""
MOST_DEATHS = 40
"""So many workers are lost in a row where nothing was answered before the runtime counts as dead."""
MOST_EXPERIMENTS = 10.0
"""Seconds of experiments on one runtime, where nobody says how many."""


@dataclass(frozen=True)
class Asking:
    """How runtimes are asked: what `opcert run` takes as well, and the folder of the whole check.

    `diagnose_seconds` are for experiments; None: as many as seem right. A `cluster` runs the cases, if there
    is one, with `python` as the interpreter on its machines.
    """

    folder: Path
    jobs: int = 1
    limits: Limits = field(default_factory=Limits)
    known: tuple[Path, ...] = ()
    diagnose_seconds: float | None = None
    cluster: Cluster | None = None
    python: str | None = None


@dataclass(frozen=True, eq=False)
class RuntimeRuns:
    """A runtime and its runs; without any where it is `unavailable`, or where there was nothing to ask.

    `load` says whether the model itself loads; `numbers` is what came of it with actual inputs, where that
    was asked for.
    """

    runtime: Runtime
    results: Results | None = None
    plain: Results | None = None
    unavailable: str = ""
    internal: str = ""
    numbers: WholeModelFacts | None = None
    load: LoadFacts | None = None

    @property
    def error(self) -> ExitCode | None:
        """Why nothing can be said of the model on the runtime, or None."""
        if self.internal:
            return ExitCode.INTERNAL
        return ExitCode.RUNTIME_UNAVAILABLE if self.unavailable else None


def without_optimisation(runtime: Runtime) -> Runtime | None:
    """The same runtime with its optimisation off; None where it has no such option, or it was named."""
    values = runtime.adapter.options.get(OPTION, ())
    if LEVELS[0] not in values or OPTION in runtime.text:
        return None
    head, bracket, rest = runtime.text.partition("[")
    if bracket:
        text = f"{head}[{OPTION}={LEVELS[0]},{rest}"
    else:
        name, equals, version = head.partition("==")
        text = f"{name}[{OPTION}={LEVELS[0]}]{equals}{version}"
    return replace(find_runtime(text, runtime.python), upgrade=False)


def ask_runtime(
    runtime: Runtime,
    suite: Suite | None,
    forms: Mapping[str, Sequence[str]],
    asking: Asking,
    first: FirstWorker | None = None,
) -> RuntimeRuns:
    """Run the suite on a runtime; `forms` are those that each case goes in. Without a suite nothing runs.

    A runtime that cannot be started, or that never survives, is `unavailable`: the others are asked still.
    Raises UserError where a record cannot be written.
    """
    if suite is None:
        return RuntimeRuns(runtime)
    folder = asking.folder / runtime.slug
    try:
        results = _run(runtime, suite, forms, asking, folder, first)
        off = without_optimisation(runtime)
        plain = None if off is None else _run(off, suite, forms, asking, folder / UNOPTIMISED)
    except RuntimeUnavailable as error:
        note(f"runtime: {runtime.text}: {error}")
        return RuntimeRuns(runtime, unavailable=str(error))
    return _checked(RuntimeRuns(runtime, results, plain))


def _run(
    runtime: Runtime,
    suite: Suite,
    forms: Mapping[str, Sequence[str]],
    asking: Asking,
    folder: Path,
    first: FirstWorker | None = None,
) -> Results:
    # Imported here, because a runtime starts in the meantime.
    from conformance.running.resuming import RecordPlace
    from conformance.running.run_options import RunOptions, RunRequest
    from opcert.commands.cause_finding import with_known_causes
    from opcert.commands.running import record_run
    from reports.results.case_results import put_together

    note(f"testing on {runtime.text}")
    options = RunOptions(
        jobs=asking.jobs, forms="all", limits=asking.limits, max_deaths=MOST_DEATHS, most_lost=MOST_LOST
    )
    request = RunRequest(suite, runtime, options, own_forms=forms)
    place = RecordPlace(folder / "run.jsonl")
    record = record_run(request, place, ours=True, first=first, cluster=asking.cluster, python=asking.python)
    results = put_together(suite, record, str(suite.path))
    return with_known_causes(results, (), asking.known)


def _checked(asked: RuntimeRuns) -> RuntimeRuns:
    """The same, with what makes a run say nothing of its runtime."""
    from opcert.commands.run_summary import left_by_machines, run_error, state_error

    for results in (asked.results, asked.plain):
        if results is None:
            continue
        code = run_error(results.record)
        if code == ExitCode.INTERNAL:
            say(state_error(results.record), error=True)
            return replace(asked, internal=state_error(results.record))
        if code == ExitCode.RUNTIME_UNAVAILABLE:
            say(state_error(results.record), error=True)
            return replace(asked, unavailable=state_error(results.record).removeprefix("opcert: "))
        if left_by_machines(results.record):
            note(f"run: {_reason(results.record)}")
            return replace(asked, unavailable=_reason(results.record))
    return asked


def _reason(record: Record) -> str:
    stopped = (record.footer or {}).get("stopped") or {}
    return str(stopped.get("reason") or "it never survives")


def with_causes(every: Sequence[RuntimeRuns], asking: Asking) -> list[RuntimeRuns]:
    """The same with what is known of causes: who else fails, and experiments on what nobody explains."""
    from reports.overview.headline import runtime_label
    from reports.results.others import OtherRun

    runs = [
        OtherRun(runtime_label(each.results.record), each.results.record.verdicts)
        for each in every
        if each.results is not None
    ]
    found = []
    for each in every:
        results = each.results
        if results is None:
            found.append(each)
            continue
        own = runtime_label(results.record)
        beside = tuple(other for other in runs if other.label != own)
        results = _with_experiments(replace(results, others=beside), each, asking)
        plain = None if each.plain is None else replace(each.plain, others=beside)
        found.append(replace(each, results=results, plain=plain))
    return found


def _with_experiments(results: Results, asked: RuntimeRuns, asking: Asking) -> Results:
    """Experiments, where something is wrong that no entry and no word of the runtime explains."""
    from opcert.commands.cause_finding import with_experiments
    from reports.causes.failure_classes import find_classes

    classes = find_classes(results.cases, results.known, None, results.others, results.suspected)
    unexplained = [failures for failures in classes if failures.told not in ("entry", "message", "rule")]
    if not unexplained or asked.error is not None:
        return results
    seconds = MOST_EXPERIMENTS if asking.diagnose_seconds is None else asking.diagnose_seconds
    return with_experiments(results, asked.runtime, asking.limits, (), seconds, files=asking.known)


def answers_of(
    calls: Sequence[CheckedCall], asked: RuntimeRuns, chains: Sequence[CheckedChain] = ()
) -> RuntimeAnswers:
    """What a runtime makes of every call, and of every chain."""
    results = None if asked.error is not None else asked.results
    plain = None if results is None else asked.plain
    why = asked.unavailable or asked.internal
    answers = answer_calls(calls, without_chains(results), without_chains(plain))
    rows = () if why else answer_chains(chains, answers, results, plain)
    if why:
        answers = tuple(replace(answer, why="the runtime could not be run") for answer in answers)
    return RuntimeAnswers(asked.runtime.text, answers, results, plain, why, asked.numbers, rows, asked.load)


RANDOM = "random"


def source_of(inputs: str) -> InputSource:
    """Where the values of a model's inputs are from: a folder, or `random`."""
    from generator.models.check.whole_model import InputSource

    return InputSource() if inputs == RANDOM else InputSource(Path(inputs))


_LONGEST = 400


def load_on(runtime: Runtime, facts: ModelFacts, model: Path, timeout: float) -> LoadFacts | None:
    """Whether the model as it is loads on a runtime; None where the runtime cannot be started.

    Where it does not, and the runtime's own optimisation can be off, it is loaded without that as well. What
    comes is told at once on standard error: the test cases take their time.
    """
    from conformance.checked_models.whole_model import UnoptimisedLoad
    from reports.checked_models.check_words import load_text

    note(f"loading the model on {runtime.text}")
    found = _load(runtime, facts, model, timeout)
    if found is None:
        return None  # whoever asks it for cases says why
    off = without_optimisation(runtime) if found.fails else None
    if off is not None and (other := _load(off, facts, model, timeout)) is not None:
        found = replace(found, unoptimised=UnoptimisedLoad(off.text, other.verdict, other.message))
    subject = "" if found.verdict == "unknown" else "the model "
    note(one_line(f"{runtime.text}: {subject}{load_text(found)}", _LONGEST))
    return found


def _load(runtime: Runtime, facts: ModelFacts, model: Path, timeout: float) -> LoadFacts | None:
    from generator.exploring.fuzzing.workers import RunningRuntime
    from generator.models.check.whole_model import load_model

    try:
        with RunningRuntime(runtime, _limits(timeout), note) as one:
            return load_model(one, facts, model)
    except RuntimeUnavailable:
        return None


def _limits(timeout: float) -> Limits:
    """Those of a worker that is given a whole model."""
    from conformance.processes.worker_limits import Limits
    from generator.models.check.model_inputs import NumberLimits

    return Limits(case_seconds=max(timeout, NumberLimits().worker.case_seconds))


def with_numbers(
    asked: RuntimeRuns, facts: ModelFacts, model: Path, inputs: str, timeout: float, *, owed: bool = True
) -> RuntimeRuns:
    """The same with what each node of the model gave on that runtime for what it took.

    `inputs` is a folder of values, or `random`. Where nobody asked for that it is not `owed`: inputs that
    cannot be drawn, or that are refused, then say nothing of the model. Raises UserError where values are
    missing or do not fit.
    """
    from generator.models.check.whole_model import NumberLimits, check_numbers

    if asked.error is not None:
        return asked
    source, limits = source_of(inputs), NumberLimits(worker=_limits(timeout))
    try:
        found = check_numbers(facts, model, asked.runtime, source, limits, note)
        if not owed and found.does_not_run:
            told = f"with inputs that were drawn the model does not run: {found.does_not_run}"
            found = replace(found, does_not_run="", notes=(*found.notes, told))
        return replace(asked, numbers=_beside_unoptimised(asked.runtime, found, facts, model, timeout))
    except UserError:
        if owed:
            raise
        return asked
    except RuntimeUnavailable as error:
        note(f"runtime: {asked.runtime.text}: {error}")
        return replace(asked, unavailable=str(error))


def _beside_unoptimised(
    runtime: Runtime, found: WholeModelFacts, facts: ModelFacts, model: Path, timeout: float
) -> WholeModelFacts:
    """The same with what the model gives where the runtime's own optimisation is off, if it can be."""
    from generator.models.check.whole_model import beside_values, run_once

    off = without_optimisation(runtime)
    if off is None or found.answered is None:
        return found
    values = run_once(off, facts, model, found.given, _limits(timeout))
    if isinstance(values, str):
        return replace(found, notes=(*found.notes, f"without optimisation it does not run: {values}"))
    return beside_values(found, values, "unoptimised")


def beside_each_other(every: Sequence[RuntimeRuns]) -> list[RuntimeRuns]:
    """The same with what other runtimes give for the very same inputs."""
    from generator.models.check.whole_model import beside_values

    found = []
    for runs in every:
        numbers = runs.numbers
        for other in every:
            if numbers is None or other is runs or other.numbers is None or other.numbers.answered is None:
                continue
            if numbers.given == other.numbers.given:
                numbers = beside_values(numbers, other.numbers.answered, "runtime", other.numbers.runtime)
        found.append(replace(runs, numbers=numbers))
    return found
