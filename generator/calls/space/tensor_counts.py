"""How many tensors a variadic input, or a sequence, gets."""

from __future__ import annotations

from generator.calls.variables.kind import Level
from generator.calls.variables.wanted_outputs import counts_within
from specs.model.declared import DeclaredBounds
from specs.model.spec import ParameterSpec, Spec
from specs.model.structures import is_sequence

COUNTS: tuple[Level, ...] = (2, 1, 3)
"""The plainest number first."""


def is_many(spec: Spec, parameter: ParameterSpec) -> bool:
    """Whether an input is made of several tensors."""
    return parameter.option == "variadic" or is_sequence(spec, parameter)


def tensor_counts(spec: Spec, parameter: ParameterSpec) -> tuple[Level, ...]:
    """How many tensors such an input may have, as its declaration says, or else the facts."""
    told = spec.declared.counts.get(parameter.name) if spec.declared is not None else None
    if isinstance(told, DeclaredBounds):
        return tuple(each for each in counts_within(told) if int(each) >= _fewest(spec, parameter))
    if parameter.option != "variadic":
        return (*COUNTS, 0)
    least = parameter.least_length or 1
    return tuple(count for count in COUNTS if int(count) >= least) or (least,)


def _fewest(spec: Spec, parameter: ParameterSpec) -> int:
    """How many tensors of a variadic input the node needs, where the other inputs are there or empty."""
    arity = spec.input_arity
    if parameter.option != "variadic" or arity is None:
        return 0
    return arity.least - (len(spec.inputs) - 1)
