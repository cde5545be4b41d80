"""A whole model run on a runtime, each node judged by the reference from what it was given there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from conformance.checked_models.model_calls import ModelFacts
from conformance.checked_models.whole_model import WholeModelFacts
from conformance.checked_models.whole_reading import read_whole
from conformance.runtimes.runtimes import Runtime
from generator.exploring.fuzzing.workers import RunningRuntime
from generator.exploring.shrinking.judged_calls import Ask
from generator.models.check.node_by_node import NodeByNode
from generator.models.check.number_limits import InputSource as InputSource
from generator.models.check.number_limits import NumberLimits as NumberLimits

Tell = Callable[[str], None]


def check_numbers(
    facts: ModelFacts,
    path: Path,
    runtime: Runtime,
    inputs: InputSource,
    limits: NumberLimits,
    tell: Tell,
) -> WholeModelFacts:
    """Run the model of `path`, which `facts` are of, on a runtime, and judge what each node gave.

    `tell` is told in a sentence what takes time. Raises UserError where inputs are missing or do not fit the
    model, or the model's data cannot be read; RuntimeUnavailable where the runtime cannot be started.
    """
    with RunningRuntime(runtime, limits.worker, tell) as running:
        name = f"{running.offer.name} {running.offer.version}"
        return check_numbers_with(running.ask, name, facts, path, inputs, limits, tell)


def check_numbers_with(
    ask: Ask,
    name: str,
    facts: ModelFacts,
    path: Path,
    inputs: InputSource,
    limits: NumberLimits,
    tell: Tell,
) -> WholeModelFacts:
    """The same with a runtime that is asked by a function; `name` is what it is called."""
    model = read_whole(facts, path)
    return NodeByNode(ask, name, model, inputs, limits, tell).run()
