"""Cases at sizes at which kernels change their way, in types of 16 bits, and of numbers of every size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from conformance.judging.judge import judge
from conformance.judging.verdicts import DIFFERENT
from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.asking.computed import as_run
from generator.calls.data import floats
from generator.calls.data.draws import Draw
from generator.calls.rows.factors import first_types
from generator.calls.sizes.plan import SizePlan, extents
from generator.calls.sizes.plans import plans_of
from generator.calls.sizes.roles import roles_of
from generator.calls.sizes.sharp_data import sharp
from generator.calls.sizes.sized_calls import Sized, sized_calls
from generator.calls.sizes.solved_sizes import solved
from generator.calls.space.space import CallSpace
from generator.calls.variables.vector_lengths import VECTOR_BYTES
from generator.making.cases.telling import answer_of, says_something
from generator.making.operators.workshop import Workshop, word_of
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor

_MOST_MADE = 40_000
_LONG = 8
"""Along shorter axes nothing is tried: other cases have these."""


def add_kernel_sizes(workshop: Workshop) -> None:
    """A case for each plan of the operator that some call has; raises UserError where one must have it."""
    levels = workshop.levels
    roles = roles_of(levels.space)
    plans = ((word_of(plan.word), place, plan) for place, plan in enumerate(plans_of(levels.space, roles)))
    for word, place, plan in workshop.lacking("boundary", plans):
        draw = workshop.draw("kernel sizes", word)
        calls = sized_calls(levels.space, roles, workshop.reference.readings, plan, place, draw)
        if not _keep_first_sharp(workshop, word, calls) and plan.asked is not None:
            raise _asked_in_vain(workshop, plan)


def _keep_first_sharp(workshop: Workshop, word: str, calls: Iterator[Sized]) -> bool:
    """Keep the case of the first call in which every element shows; whether there is any call at all."""
    found = False
    for sized in calls:
        found = True
        case = workshop.attempt(word, sized.call)
        if (
            case is not None
            and _is_small(case)
            and says_something(case)
            and all(_is_noticed(workshop, case, changed) for changed in _planted(case, sized))
        ):
            workshop.keep(sized.call, case)
            break
    return found


def _is_small(case: Case) -> bool:
    """Whether what comes out is no more than a suite should hold."""
    made = (output.expected.array.size for found in case.expectations for output in found.outputs)
    return sum(made) <= _MOST_MADE


def _planted(case: Case, sized: Sized) -> Iterator[Call]:
    """The call as a kernel sees it that takes another element for one along a long axis."""
    if not case.expectations or _is_exact(case):
        return
    given = dict(sized.call.inputs)
    for name, axis in sized.along:
        tensor = given.get(name)
        if tensor is None or tensor.shape[axis] <= _LONG:
            continue
        length = tensor.shape[axis]
        for place in dict.fromkeys((0, length // 2, length - 1)):
            changed = _without(tensor, axis, place)
            yield sized.call.with_input(name, changed)


def _without(given: Tensor, axis: int, place: int) -> Tensor:
    """The tensor whose elements at a place of an axis are those of the place before, or behind the first."""
    array = np.array(given.array)
    lanes = np.moveaxis(array, axis, 0)
    lanes[place] = lanes[place - 1 if place else 1]
    return Tensor(given.element_type, array)


def _is_exact(case: Case) -> bool:
    """Whether nothing but one value is accepted of each element, so that any other is noticed."""
    if len(case.expectations) > 1:
        return False
    outputs = case.expectations[0].outputs
    return all(
        (output.allowed is None or not np.any(output.allowed)) and not output.alternatives
        for output in outputs
    )


def _is_noticed(workshop: Workshop, case: Case, changed: Call) -> bool:
    response = None if workshop.violations(changed) else answer_of(workshop, changed)
    return response is None or judge(case, as_run(case, response)).verdict in DIFFERENT


def _asked_in_vain(workshop: Workshop, plan: SizePlan) -> UserError:
    declared = workshop.spec.declared
    where = declared.places.get(f"sizes.{plan.asked}") if declared is not None else None
    bindings = plan.fixed.get(plan.asked or "", {})
    return UserError(
        f"a size that no call of {workshop.spec.operator} has",
        got=", ".join(f"{name}: {length}" for name, length in bindings.items()),
        expected="lengths that the rules of the operator allow",
        where=where,
        remedy="Take the length out of `sizes`, or mend the rule that forbids it.",
    )


_PLAIN = "float"
_LENGTHS = (3, 257)
_LARGER = {"float16": 8, "bfloat16": 0}
"""So many times is doubled what lies between 1 and 2: squares of what comes out are beyond float16."""
_WORDS = {"float16": "squares_beyond_float16", "bfloat16": "sums_that_lose_in_bfloat16"}


def add_narrow_stages(workshop: Workshop) -> None:
    """A case for each type of 16 bits, of operators whose sums are in a type that an attribute names."""
    space = workshop.levels.space
    stage = _first_stage(space)
    wanted = ((word, name) for name, word in _WORDS.items() if stage is not None)
    for _, name in workshop.lacking("boundary", wanted):
        call = _narrow_call(space, name, str(stage), workshop.draw("narrow stages", name))
        case = None if call is None else workshop.attempt(_WORDS[name], call)
        if call is not None and case is not None and says_something(case):
            workshop.keep(call, case)


def _first_stage(space: CallSpace) -> str | None:
    """The attribute that says in what all is computed but the last step; None where there is none."""
    packed = [name for name in space.factors if name.startswith("rank_")]
    kinds = [kind.name for kind in space.kinds if kind.precisions]
    return kinds[0] if len(kinds) == 1 and len(packed) == 1 and "epsilon" in space.spec.attributes else None


def _narrow_call(space: CallSpace, name: str, stage: str, draw: Draw) -> Call | None:
    variable = next((each for each in space.types if name in space.factors[each]), None)
    if variable is None or _PLAIN not in space.factors[stage]:
        return None
    pack = next(factor.removeprefix("rank_") for factor in space.factors if factor.startswith("rank_"))
    plan = SizePlan(_WORDS[name], extents({pack: list(_LENGTHS)}), {variable: name, stage: _PLAIN})
    found = solved(space, plan, 0, draw, flags=0)
    if found is None:
        return None
    first, given = found.call.inputs[0]
    if not isinstance(given, Tensor) or given.element_type.name != name:
        return None
    return found.call.with_input(first, _numbers(given, draw)).trimmed()


def _numbers(given: Tensor, draw: Draw) -> Tensor:
    """Numbers of all bits of the type; of both signs where their squares are to be large, else positive."""
    kind = given.element_type
    assert kind.layout is not None
    drawn = sharp(kind, given.shape, kind.layout.precision, draw, smaller=-_LARGER[kind.name])
    if kind is ELEMENT_TYPES["float16"]:
        return drawn
    bits = drawn.array.view("u2") & ((1 << (kind.bits - 1)) - 1)
    return Tensor(kind, bits.view(kind.storage))


WORD = "sizes_in_vectors"
LENGTH = VECTOR_BYTES + 3
"""Two vectors of elements of 16 bits, more of longer ones, and a rest."""
_BANDS = ((-6, 1), (-24, -7), (-6, 1), (2, 19))
"""Exponents of two, in turn: where functions bend, where they are straight, and where they level off."""
_ROUNDED = 8
"""So many elements at least are rounded, or the case tells nothing that others do not."""


def add_sizes_in_vectors(workshop: Workshop) -> None:
    """For each floating-point type a case, of operators that round what they make of one element each."""
    _, types = first_types(workshop.spec, workshop.model)
    plain = _plain_call(workshop)
    if plain is None:
        return
    kinds = [ELEMENT_TYPES[each] for each in types]
    made = ((f"{WORD}_{kind}", kind) for kind in kinds if kind.layout is not None and kind.bits >= 16)
    for word, kind in workshop.lacking("boundary", made):
        call = replace(plain, inputs=tuple(_of_many_sizes(workshop, plain, kind)))
        case = workshop.attempt(word, call)
        if case is not None and _is_rounded(case):
            workshop.keep(call, case)


def _plain_call(workshop: Workshop) -> Call | None:
    """A call of which every input that has elements has one axis, as long as the others."""
    for digest, case in workshop.cases.items():
        if case.id.family == "boundary" and str(case.id.word).startswith("length_") and case.expectations:
            call = workshop.calls[digest]
            shapes = {tensor.shape for _, tensor in call.inputs if tensor is not None}
            made = {output.expected.shape for output in case.expectations[0].outputs}
            if len(shapes) == 1 and made == shapes and len(next(iter(shapes))) == 1:
                return call
    return None


def _of_many_sizes(workshop: Workshop, call: Call, kind: ElementType) -> Iterator[tuple[str, Tensor | None]]:
    draw = workshop.draw(WORD, kind.name)
    for place, (name, given) in enumerate(call.inputs):
        drawn = given is not None and name in workshop.main_inputs
        yield name, _drawn_sizes(kind, draw.child(str(place))) if drawn else given


def _drawn_sizes(kind: ElementType, draw: Draw) -> Tensor:
    """Numbers of both signs, their exponents evenly in each band, as far as they are normal in the type."""
    layout = kind.layout
    if layout is None:
        raise ValueError(f"{kind} has no exponents")
    low, high = layout.least_exponent, layout.greatest_exponent - 1
    hidden = 1 << (layout.precision - 1)
    codes = []
    for place in range(LENGTH):
        least, most = _BANDS[place % len(_BANDS)]
        exponent = draw.integer(max(least, low), min(most, high))
        significand = hidden + draw.integer(0, hidden - 1)
        signed = significand if draw.integer(0, 1) else -significand
        codes.append(floats.encode(kind, signed, exponent - layout.precision + 1))
    bits = np.array(draw.shuffled(codes), dtype=f"u{kind.bits // 8}")
    return Tensor(kind, bits.view(kind.storage))


def _is_rounded(case: Case) -> bool:
    """Whether an error is allowed to many elements of what comes out."""
    if not case.expectations:
        return False
    allowed = case.expectations[0].outputs[0].allowed
    return allowed is not None and int(np.count_nonzero(np.isfinite(allowed) & (allowed > 0))) >= _ROUNDED
