"""Runs a model itself with actual inputs, beside the cases of its calls."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from opcert.commands.asked_runtimes import without_optimisation
from opcert.commands.terminal import note
from opcert.vocabulary.errors import RuntimeUnavailable, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.checked_models.model_calls import ModelFacts
    from conformance.checked_models.whole_model import LoadFacts, WholeModelFacts
    from conformance.processes.worker_limits import Limits
    from conformance.runtimes.runtimes import Runtime
    from opcert.commands.asked_runtimes import RuntimeRuns

RANDOM = "random"


def load_on(runtime: Runtime, facts: ModelFacts, model: Path, timeout: float) -> LoadFacts | None:
    """Whether the model as it is loads on a runtime; None where the runtime cannot be started."""
    from generator.exploring.fuzzing.workers import RunningRuntime
    from generator.models.check.whole_model import load_model

    note(f"loading the model on {runtime.text}")
    try:
        with RunningRuntime(runtime, _limits(timeout), note) as one:
            return load_model(one, facts, model)
    except RuntimeUnavailable:
        return None  # whoever asks it for cases says why


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
    from generator.models.check.whole_model import InputSource, NumberLimits, check_numbers

    if asked.error is not None:
        return asked
    source = InputSource() if inputs == RANDOM else InputSource(Path(inputs))
    limits = NumberLimits(worker=_limits(timeout))
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
    for each in every:
        numbers = each.numbers
        for other in every:
            if numbers is None or other is each or other.numbers is None or other.numbers.answered is None:
                continue
            if numbers.given == other.numbers.given:
                numbers = beside_values(numbers, other.numbers.answered, "runtime", other.numbers.runtime)
        found.append(replace(each, numbers=numbers))
    return found
