"""Loads a model as it is on a runtime: without inputs, where the runtime can do that."""

from __future__ import annotations

import time
from pathlib import Path

from onnx import ModelProto

from conformance.checked_models.model_calls import ModelFacts
from conformance.checked_models.model_loading import LoadFacts
from conformance.checked_models.model_values import typed_value
from conformance.checked_models.whole_reading import read_as_it_is
from conformance.judging.responses import Crashed, Loaded, NotOffered, Refused, TimedOut
from conformance.running.session import WholeRequest
from generator.exploring.fuzzing.workers import RunningRuntime
from generator.models.check.model_inputs import declared_inputs, drawn_inputs
from generator.models.check.model_runs import LOST, returned, whole_case
from opcert.vocabulary.errors import UserError

_SECONDS_OF_TRIES = 60.0


def load_model(running: RunningRuntime, facts: ModelFacts, path: Path) -> LoadFacts:
    """What a runtime says to the model of `path`, which `facts` are of.

    A runtime that does nothing with a model before it is run is given inputs drawn by what the model
    declares: only where every extent is stated, or where it says that it does not offer the model, is a
    refusal of these one of the model. Raises RuntimeUnavailable where the runtime cannot be started.
    """
    try:
        raw = read_as_it_is(facts, path)
        model = ModelProto.FromString(raw)
    except UserError as error:
        return LoadFacts("unknown", str(error))
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
    held = {each.name for each in model.graph.initializer}
    values = [typed_value(each.name, each.type) for each in model.graph.input if each.name not in held]
    return WholeRequest(
        raw,
        [
            (each.name, each.element_type, tuple(_extent(one) for one in each.shape or ()))
            for each in values
            if each.element_type is not None
        ],
        [each.name for each in model.graph.output],
    )


def _extent(extent: int | str | None) -> int | None:
    return extent if isinstance(extent, int) else None


def _by_run(running: RunningRuntime, model: ModelProto, raw: bytes) -> LoadFacts:
    try:
        wanted = declared_inputs(model)
        tries = list(drawn_inputs(wanted, 0))
    except UserError as error:
        return LoadFacts("unknown", str(error), by_run=True)
    names = [each.name for each in model.graph.output]
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
