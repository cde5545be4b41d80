"""Tensors that are optimized, and behind all of them what each has beside it: gradients, averages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Kind, Level
from generator.calls.variables.kind_checks import need_variadic
from opcert.vocabulary.tensors import Tensor
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_SHAPES: Mapping[Level, Sequence[tuple[int, ...]]] = {
    "different": ((2, 3), (), (4,)),
    "alike": ((5,),) * 3,
    "empty": ((0, 2), (3,), (0,)),
}


@dataclass(frozen=True)
class Optimized(Kind):
    """A variadic input in `groups`, of as many tensors each: those optimized, then what goes with them.

    Tensors at the same place of every group have one shape. The last group is of `squares`, which are not
    negative, where that is said.
    """

    groups: Expression
    squares: Expression | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        need_variadic(self.subject, self.name)

    @property
    def covers(self) -> tuple[str, ...]:
        return ()

    @property
    def binds(self) -> tuple[str, ...]:
        return (f"shapes:{self.name}",)

    @property
    def mends(self) -> tuple[str, ...]:
        return (self.name,) if self.says(self.squares) else ()

    def mend_all(self, tensors: Sequence[Tensor], scope: Partial) -> Sequence[Tensor]:
        first = len(tensors) - len(tensors) // self._groups
        return [
            *tensors[:first],
            *(Tensor(tensor.element_type, np.abs(tensor.array)) for tensor in tensors[first:]),
        ]

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {"optimized": (2, 1, 3), "optimized_shapes": tuple(_SHAPES)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        shapes = _SHAPES[levels["optimized_shapes"]][: int(levels["optimized"])]
        yield {f"shapes:{self.name}": [*shapes] * self._groups}

    def rules(self) -> Iterable[Constraint]:
        name, groups = self.name, self._groups
        whole = f"len({name}) > 0 and len({name}) % {groups} == 0"
        yield self.rule(f"{name}_in_groups", whole)
        count = f"(len({name}) // {groups})"
        alike = f"all(shape({name}[at]) == shape({name}[at % {count}]) for at in range(len({name})))"
        yield self.rule(f"{name}_alike", alike, whole)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shapes = [tuple(shape) for shape in scope.find(f"shapes:{self.name}")]
        yield f"{self.name}_in_groups", {f"shapes:{self.name}": [*shapes, shapes[0]]}
        yield f"{self.name}_alike", {f"shapes:{self.name}": [*shapes[:-1], (*shapes[-1], 2)]}

    @property
    def _groups(self) -> int:
        return int(self.groups.evaluate({}))
