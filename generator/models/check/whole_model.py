"""A whole model on a runtime: loaded as it is, run once, or run and judged node by node."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from onnx import ModelProto

from conformance.checked_models.model_calls import ModelFacts
from conformance.checked_models.model_nodes import typed_value
from conformance.checked_models.outside_data import LostData
from conformance.checked_models.whole_model import Against, LoadFacts, WholeModelFacts
from conformance.checked_models.whole_reading import read_as_it_is, read_whole
from conformance.judging.responses import Crashed, Loaded, NotOffered, Refused, TimedOut
from conformance.processes.worker_limits import Limits
from conformance.running.session import WholeRequest
from conformance.runtimes.runtimes import Runtime
from generator.exploring.fuzzing.workers import RunningRuntime
from generator.exploring.shrinking.judged_calls import Ask
from generator.models.check.model_inputs import InputSource as InputSource
from generator.models.check.model_inputs import ModelInputs, declared_inputs, drawn_inputs, filed_inputs
from generator.models.check.model_inputs import NumberLimits as NumberLimits
from generator.models.check.node_by_node import NodeByNode
from generator.models.check.observed_values import LOST, returned, run_plain, whole_case
from generator.models.check.reference_run import beside
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.tensors import Tensor

_SECONDS_OF_TRIES = 60.0
_SCRATCH = re.compile(r"[^\s\"']*/opcert-scratch-[^\s\"']*/")
"""Where a worker runs: of the name of a file that it looked for there, the part that is another each time."""


def load_model(running: RunningRuntime, facts: ModelFacts, path: Path) -> LoadFacts:
    """What a runtime says to the model of `path`, which `facts` are of.

    A runtime that does nothing with a model before it is run is given inputs drawn by what the model
    declares: only where every extent is stated, or where it says that it does not offer the model, is a
    refusal of these one of the model. A model that lost data is given without them: a runtime that takes it
    so says nothing of the model. Raises RuntimeUnavailable where the runtime cannot be started.
    """
    lost: list[str] = []
    try:
        raw = read_as_it_is(facts, path, lost)
        model = ModelProto.FromString(raw)
    except UserError as error:
        return LoadFacts("unknown", str(error))
    found = _load(running, raw, model)
    if not lost:
        return found
    if found.fails:
        said = _SCRATCH.sub("", found.message)
        return replace(found, message=f"{lost[0]}; without these data: {said}")
    return LoadFacts("unknown", lost[0], by_run=found.by_run)


def _load(running: RunningRuntime, raw: bytes, model: ModelProto) -> LoadFacts:
    response = running.load(_request(raw, model))
    match response:
        case Loaded():
            return LoadFacts("loads") if running.offer.loads else _by_run(running, model, raw)
        case Refused():
            return LoadFacts("refused", f"{response.kind}: {response.message}")
        case NotOffered():
            return LoadFacts("refused", response.reason)
        case Crashed():
            return LoadFacts("lost", response.reason)
        case TimedOut():
            return LoadFacts("lost", f"no answer to load within {response.limit:g} s")
    return LoadFacts("unknown", str(getattr(response, "reason", response)))


def _request(raw: bytes, model: ModelProto) -> WholeRequest:
    held = {initializer.name for initializer in model.graph.initializer}
    values = [
        typed_value(value_info.name, value_info.type)
        for value_info in model.graph.input
        if value_info.name not in held
    ]
    return WholeRequest(
        raw,
        [
            (value.name, value.element_type, tuple(_extent(one) for one in value.shape or ()))
            for value in values
            if value.element_type is not None
        ],
        [value_info.name for value_info in model.graph.output],
    )


def _extent(extent: int | str | None) -> int | None:
    return extent if isinstance(extent, int) else None


def _by_run(running: RunningRuntime, model: ModelProto, raw: bytes) -> LoadFacts:
    try:
        wanted = declared_inputs(model)
        tries = list(drawn_inputs(wanted, 0))
    except UserError as error:
        return LoadFacts("unknown", str(error), by_run=True)
    names = [value_info.name for value_info in model.graph.output]
    first: LoadFacts | None = None
    end = time.monotonic() + _SECONDS_OF_TRIES
    for given in tries:
        response = running.ask(whole_case(raw, given.values, names))
        answer = returned(response, names)
        if not isinstance(answer, str):
            return LoadFacts("loads", by_run=True)
        if answer.startswith(LOST):
            return LoadFacts("lost", answer.removeprefix(LOST), by_run=True)
        stated = len(tries) == 1 or (isinstance(response, Refused) and response.unsupported is not None)
        said = f"{response.kind}: {response.message}" if isinstance(response, Refused) else answer
        first = first or LoadFacts("refused" if stated else "unknown", said, by_run=True)
        if first.fails or time.monotonic() > end:
            break
    assert first is not None
    return first


def check_inputs(facts: ModelFacts, path: Path, inputs: InputSource) -> None:
    """Raise UserError where inputs are missing or do not fit the model, before anything is run with them."""
    if inputs.folder is not None:
        model = ModelProto.FromString(read_as_it_is(facts, path, []))
        filed_inputs(declared_inputs(model), inputs.folder)


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
    try:
        model = read_whole(facts, path)
    except LostData as error:
        return WholeModelFacts(name, "whole", (), (), does_not_run=str(error))
    return NodeByNode(ask, name, model, inputs, limits, tell).run()


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
