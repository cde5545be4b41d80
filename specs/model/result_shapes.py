"""The shapes that an operator's declaration gives the outputs of a call (`results`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opcert.vocabulary.slots import Slots
from specs.language.compiled_expressions import Layered
from specs.language.evaluation import EvaluationError
from specs.language.shape_expressions import Shape, evaluate_part
from specs.language.words import PLACE
from specs.model.call_scopes import Inputs, scope_of
from specs.model.spec import ParameterSpec, Spec


@dataclass(frozen=True)
class ResultShape:
    """What an output's shape must be: for each axis the least and the greatest extent."""

    extents: tuple[tuple[int, int], ...]

    def holds(self, shape: Sequence[int]) -> bool:
        """Whether a shape is one of these."""
        return len(shape) == len(self.extents) and all(
            least <= each <= most for each, (least, most) in zip(shape, self.extents, strict=True)
        )

    def __str__(self) -> str:
        said = (str(most) if least == most else f"up to {most}" for least, most in self.extents)
        return f"[{', '.join(said)}]"


def result_shapes(
    spec: Spec,
    attributes: Mapping[str, Any],
    inputs: Inputs,
    outputs: Sequence[str],
    slots: Slots = (),
) -> tuple[ResultShape | None, ...]:
    """Of each output of a call its shape; None where nothing is declared, or what is has no value for it.

    `outputs` are their names in order, empty where one is not asked for.
    """
    if not spec.results:
        return (None,) * len(outputs)
    scope = scope_of(spec, attributes, inputs, outputs, slots)
    found: list[ResultShape | None] = []
    for name in outputs:
        parameter, place = named_output(spec, name)
        declared = spec.results.get(parameter.name) if parameter is not None else None
        found.append(None if declared is None else _shape(declared, Layered(scope, {PLACE: place})))
    return tuple(found)


def named_output(spec: Spec, name: str) -> tuple[ParameterSpec | None, int]:
    """The output that a name of a call is of, and which of its tensors; None where the operator has none.

    The tensors of a variadic output are its name with `_0`, `_1` and so on.
    """
    for each in spec.outputs:
        if each.name == name:
            return each, 0
    label, _, place = name.rpartition("_")
    for each in spec.outputs:
        if each.option == "variadic" and each.name == label and place.isdecimal():
            return each, int(place)
    return None, 0


def _shape(declared: Shape, names: Mapping[str, object]) -> ResultShape | None:
    found: list[tuple[int, int]] = []
    try:
        for part in declared.chosen(names):
            for each in part.arguments or (part,):
                found += ((0 if part.word else extent, extent) for extent in evaluate_part(each, names))
    except EvaluationError:
        return None
    return ResultShape(tuple(found))
