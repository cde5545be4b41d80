"""Calls and answers of which some tensors are exchanged for others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.judging.responses import Answered
from generator.asking.calls import Call
from generator.asking.given_inputs import output_names
from opcert.vocabulary.tensors import Tensor
from specs.model.spec import ParameterSpec, Spec
from specs.model.structures import type_variable

Exchange = Callable[[Tensor], Tensor | None]
"""Gives None where a tensor stays as it is."""


def with_inputs(
    spec: Spec, call: Call, exchange: Exchange, only: Callable[[ParameterSpec], bool]
) -> Call | None:
    """The call with inputs exchanged, all tensors of a variadic one alike; None where all stay."""
    chosen = {parameter.name for parameter in spec.inputs if only(parameter)}
    found, changed = [], False
    for name, given in call.inputs:
        made = exchange(given) if given is not None and name in chosen else None
        changed = changed or (made is not None and made != given)
        found.append((name, given if made is None else made))
    return replace(call, inputs=tuple(found)) if changed else None


def with_outputs(
    spec: Spec, call: Call, answer: Answered, exchange: Exchange, only: Callable[[ParameterSpec], bool]
) -> Answered | None:
    """The answer with outputs exchanged; None where all stay."""
    names = [output_name for output_name in output_names(spec, call) if output_name]
    by_name = {output.name: output for output in spec.outputs}
    found, changed = [], False
    for place, given in enumerate(answer.outputs):
        # The tensors of a variadic output have names of their own, or that of the output again and again.
        parameter = by_name.get(names[place]) if place < len(names) else None
        parameter = parameter or spec.outputs[-1]
        made = exchange(given) if isinstance(given, Tensor) and only(parameter) else None
        changed = changed or (made is not None and made != given)
        found.append(given if made is None else made)
    return Answered(tuple(found)) if changed else None


def is_any(_parameter: ParameterSpec) -> bool:
    return True


def is_main(spec: Spec) -> Callable[[ParameterSpec], bool]:
    """Tells the inputs and outputs that have the type of the first input."""
    main = type_variable(spec, spec.inputs[0]) if spec.inputs else None
    return lambda parameter: type_variable(spec, parameter) == main


def main_tensor(call: Call) -> Tensor | None:
    """The first tensor of the call."""
    return next((tensor for _, tensor in call.inputs if tensor is not None), None)
