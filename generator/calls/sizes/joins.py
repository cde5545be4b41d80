"""Variadic inputs of many tensors, and operators whose kinds bring the shapes of these themselves."""

from __future__ import annotations

from collections.abc import Iterator

from generator.calls.kinds.einsum import Einsum
from generator.calls.kinds.joined import Joined
from generator.calls.sizes.plan import COUNTS, SizePlan, by
from generator.calls.space.space import CallSpace

_JOINED: tuple[tuple[int, int, tuple[int, ...]], ...] = ((5, 1, (3, 17)), (9, 0, (5, 33)), (17, 1, (2, 3, 5)))
"""How many tensors, the axis along which they are joined, and the shape of the first."""
_EQUATIONS: tuple[tuple[str, str, tuple[tuple[int, ...], ...]], ...] = (
    ("inner_257_outer_5x17", "ij,jk->ik", ((5, 257), (257, 17))),
    ("inner_64_outer_33x65_turned", "ji,kj->ik", ((64, 33), (65, 64))),
    ("inner_1025", "i,i->", ((1025,), (1025,))),
    ("inner_65_batch_17", "bij,bkj->bik", ((17, 3, 65), (17, 5, 65))),
    ("inner_17x16_outer_5x33", "aij,jib->ab", ((5, 17, 16), (16, 17, 33))),
    ("order_of_33x65", "ij->ji", ((33, 65),)),
    ("summed_33_turned", "ijk->ki", ((5, 33, 17),)),
    ("three_with_one_alone", "ij,jk,l->il", ((5, 33), (33, 2), (17,))),
    ("rank_5", "abcde,ebx->axcd", ((2, 3, 2, 3, 4), (4, 3, 5))),
)
"""Equations with operands that are long, turned, and summed over several axes."""


def join_plans(space: CallSpace) -> Iterator[SizePlan]:
    """So many tensors for each variadic input; equations of einsum."""
    for kind in space.kinds:
        if isinstance(kind, Joined):
            for count, axis, shape in _JOINED:
                shapes = [_longer(shape, axis, place % 3) for place in range(count)]
                bindings = {f"shapes:{kind.name}": shapes, kind.axis.text: axis}
                yield SizePlan(f"tensors_{count}_of_{by(shape)}", {f"kind:{kind.name}": bindings})
            for rank in (5, 8):
                shapes = [(*(2, 1, 3, 2, 2, 1, 2)[: rank - 1], length) for length in (3, 1, 2)]
                bindings = {f"shapes:{kind.name}": shapes, kind.axis.text: rank - 1}
                yield SizePlan(f"rank_{rank}", {f"kind:{kind.name}": bindings})
        if isinstance(kind, Einsum):
            for word, equation, operands in _EQUATIONS:
                bindings = {kind.equation.text: equation, f"shapes:{kind.name}": list(operands)}
                yield SizePlan(word, {f"kind:{kind.name}": bindings})
    for each in space.spec.inputs:
        counted = f"{each.name}_count"
        if each.option == "variadic" and counted in space.factors:
            if any(f"shapes:{each.name}" in kind.binds for kind in space.kinds):
                continue
            for count in COUNTS:
                yield SizePlan(f"tensors_{count}", {}, {counted: count})


def _longer(shape: tuple[int, ...], axis: int, more: int) -> tuple[int, ...]:
    """The shape, with an axis that is longer."""
    return tuple(each + more * (at == axis) for at, each in enumerate(shape))
