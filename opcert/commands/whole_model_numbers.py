"""Runs a model itself with actual inputs, beside the cases of its calls."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from opcert.commands.terminal import say
from opcert.vocabulary.errors import RuntimeUnavailable

if TYPE_CHECKING:
    from conformance.checked_models.model_calls import ModelFacts
    from opcert.commands.asked_runtimes import Asked

RANDOM = "random"


def with_numbers(asked: Asked, facts: ModelFacts, model: Path, inputs: str, timeout: float) -> Asked:
    """The same with what each node of the model gave on that runtime for what it took.

    `inputs` is a folder of values, or `random`. Raises UserError where values are missing or do not fit.
    """
    from conformance.processes.worker_limits import Limits
    from generator.checking.whole_model import InputSource, NumberLimits, check_numbers

    if asked.error is not None:
        return asked
    source = InputSource() if inputs == RANDOM else InputSource(Path(inputs))
    limits = NumberLimits(worker=Limits(case_seconds=max(timeout, NumberLimits().worker.case_seconds)))
    try:
        found = check_numbers(
            facts, model, asked.runtime, source, limits, lambda line: say(f"opcert: {line}", error=True)
        )
    except RuntimeUnavailable as error:
        say(f"opcert: runtime: {asked.runtime.text}: {error}", error=True)
        return replace(asked, unavailable=str(error))
    return replace(asked, numbers=found)
