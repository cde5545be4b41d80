"""Shapes that are broadcast otherwise: from the left, to the first alone, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from conformance.judging.responses import Answered, Refused, Response
from generator.asking.calls import Call
from generator.asking.tensor_edits import with_inputs
from generator.trust.mutants.mistake import Mistake
from opcert.vocabulary.tensors import Tensor
from specs.language.shape_expressions import parse_shape
from specs.model.spec import Spec

_WORDS = ("broadcast", "within")
Shapes = Sequence[tuple[int, ...]]


def mistakes(spec: Spec) -> Iterator[Mistake]:
    names = broadcast_inputs(spec)
    if not names:
        return
    yield Mistake("left", "shapes aligned at their first axes", _aligned_left(names))
    for text, refuses in _REFUSED:
        yield Mistake(text, f"{text} refused", made=_refusing(names, text, refuses))


def broadcast_inputs(spec: Spec) -> frozenset[str]:
    """The inputs of which the whole shape is broadcast to that of the output."""
    declared = spec.declared.shapes if spec.declared is not None else {}
    whole = {}
    for name, text in declared.items():
        shape = parse_shape(text)
        if all(len(parts) == 1 for _, parts in shape.alternatives):
            whole[name] = [parts[0] for _, parts in shape.alternatives]
    found = {name for name, parts in whole.items() if any(each.word in _WORDS for each in parts)}
    if not found:
        return frozenset()
    # What an input is broadcast to is the shape of another one.
    return frozenset(found | {name for name, parts in whole.items() if all(each.several for each in parts)})


def _aligned_left(names: frozenset[str]) -> Callable[[Spec, Call], Call | None]:
    """Axes of length 1 behind the last one, where NumPy adds them before the first."""

    def taken(spec: Spec, call: Call) -> Call | None:
        rank = max(len(each) for each in _shapes(call, names))

        def widened(given: Tensor) -> Tensor | None:
            missing = rank - len(given.shape)
            shape = (*given.shape, *(1,) * missing)
            return Tensor(given.element_type, given.array.reshape(shape)) if missing and given.shape else None

        return with_inputs(spec, call, widened, lambda each: each.name in names)

    return taken


def _refusing(
    names: frozenset[str], text: str, refuses: Callable[[Shapes], bool]
) -> Callable[[Spec, Call, Answered], Response | None]:
    return lambda _spec, call, _answer: Refused("Mistake", text) if refuses(_shapes(call, names)) else None


def _shapes(call: Call, names: frozenset[str]) -> Shapes:
    return [each.shape for name, each in call.inputs if each is not None and name in names]


def _all_enlarged(shapes: Shapes) -> bool:
    return bool(shapes) and np.broadcast_shapes(*shapes) not in shapes


_REFUSED: tuple[tuple[str, Callable[[Shapes], bool]], ...] = (
    ("different shapes", lambda shapes: len(set(shapes)) > 1),
    ("different ranks", lambda shapes: len({len(each) for each in shapes}) > 1),
    ("a first input that is enlarged", lambda shapes: np.broadcast_shapes(*shapes) != shapes[0]),
    ("inputs that are all enlarged", _all_enlarged),
)
