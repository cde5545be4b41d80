"""Outputs of a whole model in further runs: without optimisation, and on other runtimes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from conformance.checked_models.model_calls import ModelFacts
from conformance.checked_models.whole_model import Against, WholeModelFacts
from conformance.checked_models.whole_reading import read_whole
from conformance.processes.worker_limits import Limits
from conformance.runtimes.runtimes import Runtime
from generator.exploring.fuzzing.workers import RunningRuntime
from generator.models.check.model_inputs import ModelInputs
from generator.models.check.observed_values import run_plain
from generator.models.check.output_holding import beside
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.tensors import Tensor

_LONGEST = 300


def run_once(
    runtime: Runtime, facts: ModelFacts, path: Path, given: Sequence[tuple[str, Tensor]], limits: Limits
) -> Mapping[str, Tensor] | str:
    """The outputs of the model of `path` as it is, for these inputs, by name; or why there are none.

    Raises RuntimeUnavailable where the runtime cannot be started.
    """
    with RunningRuntime(runtime, limits, lambda _: None) as running:
        model = read_whole(facts, path)
        found = run_plain(running.ask, model, ModelInputs(tuple(given), ("",) * len(given)))
    return one_line(found, _LONGEST) if isinstance(found, str) else found


def beside_values(
    found: WholeModelFacts, values: Mapping[str, Tensor], against: Against, label: str = ""
) -> WholeModelFacts:
    """The same with each output that it has held against that of another run."""
    told = tuple(
        beside(name, own, values[name], against, label, found.steps.get(name))
        for name, own in (found.answered or {}).items()
        if name in values
    )
    return replace(found, outputs=(*found.outputs, *told))
