"""How much a wrong node matters: the model from there on, with its own values and with right ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from onnx import ModelProto, NodeProto

from conformance.checked_models.whole_model import EndEffect
from conformance.checked_models.whole_reading import WholeModel
from conformance.judging.patterns.elements import measure, ulp_distances
from conformance.suite.protos import declare_tensor
from conformance.suite.values import decode_floats
from generator.exploring.shrinking.judged_calls import Ask
from generator.models.check.model_inputs import ModelInputs
from generator.models.check.model_runs import returned, whole_case
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.tensors import Tensor


def end_effects(
    ask: Ask,
    model: WholeModel,
    given: ModelInputs,
    node: NodeProto,
    own: Mapping[str, Tensor],
    right: Mapping[str, Tensor],
) -> tuple[EndEffect, ...]:
    """The effect on each output of the model; `own` and `right` are the node's outputs by name.

    Both times the same model is run, in which these values are inputs: nothing differs but they.
    """
    place = node.doc_string
    cut = _cut(model, place, own)
    names = [each.name for each in cut.graph.output if each.name not in own]
    ends = [name for name in own if name in {each.name for each in model.proto.graph.output}]
    kept = [each for each in cut.graph.output if each.name in names]
    raw_outputs = [each.SerializeToString() for each in kept]
    del cut.graph.output[:]
    for each in raw_outputs:
        cut.graph.output.add().ParseFromString(each)
    found = [_effect(place, name, own[name], right[name]) for name in ends]
    if not names:
        return tuple(found)
    raw = cut.SerializeToString()
    answers = []
    for values in (own, right):
        inputs = (*given.values, *((name, values[name]) for name in own))
        answer = returned(ask(whole_case(raw, inputs, names), None), names)
        if isinstance(answer, str):
            return (*found, *(EndEffect(place, name, reason=one_line(answer)) for name in names))
        answers.append(answer)
    return (*found, *_effects(place, names, *answers))


def _cut(model: WholeModel, place: str, values: Mapping[str, Tensor]) -> ModelProto:
    """The model without a node, whose outputs are inputs in its place."""
    cut = ModelProto()
    cut.CopyFrom(model.proto)
    kept = [each.SerializeToString() for each in cut.graph.node if each.doc_string != place]
    del cut.graph.node[:]
    for each in kept:
        cut.graph.node.add().ParseFromString(each)
    for name, value in values.items():
        declare_tensor(cut.graph.input.add(), name, value.element_type, value.shape)
    return cut


def _effects(
    place: str, names: Sequence[str], own: Mapping[str, Tensor], right: Mapping[str, Tensor]
) -> Iterator[EndEffect]:
    for name in names:
        if name in own and name in right:
            yield _effect(place, name, own[name], right[name])
        else:
            yield EndEffect(place, name, reason="it is no tensor")


def _effect(place: str, name: str, own: Tensor, right: Tensor) -> EndEffect:
    if own.element_type is not right.element_type or own.shape != right.shape:
        reason = f"{own.element_type} {list(own.shape)} became {right.element_type} {list(right.shape)}"
        return EndEffect(place, name, reason=reason)
    if not own.array.size:
        return EndEffect(place, name, 0.0, 0.0, 0)
    with np.errstate(all="ignore"):
        apart, _ = measure(own.element_type, own.array, right.array, None)
        steps = ulp_distances(own.element_type, own.array, right.array)
        largest = None
        if own.element_type.is_float or own.element_type.is_integer:
            values = (
                decode_floats(right.element_type, right.array)
                if right.element_type.is_float
                else right.array.astype(np.float64)
            )
            finite = np.abs(values[np.isfinite(values)])
            largest = float(finite.max()) if finite.size else None
    return EndEffect(
        place,
        name,
        float(apart.max()),
        largest,
        None if steps is None else int(steps.max()),
    )
