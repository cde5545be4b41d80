"""Data of 16 bits whose first stage is asked for in float, and goes wrong in the type of the data.

In float16 the sum of the squares is beyond all numbers, in bfloat16 sums of so many elements lose what each
adds. Where no document names the precision of sums either is right, and no case could tell.
"""

from __future__ import annotations

from contextlib import suppress

from generator.asking.calls import Call
from generator.calls.data.draws import Draw
from generator.calls.kinds.element_type import ElementTypeCode
from generator.calls.sizes.plan import SizePlan, extents
from generator.calls.sizes.sharp_data import sharp
from generator.calls.sizes.solved_sizes import solved
from generator.calls.space.space import CallSpace
from generator.making.cases.meaning import says_something
from generator.making.operators.workshop import Workshop
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength

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
        call = _call(space, name, str(stage), workshop.draw("narrow stages", name))
        if call is None or workshop.violations(call) or workshop.has(call):
            continue
        with suppress(UnstableLength):
            case = workshop.make_valid("boundary", _WORDS[name], call)
            if says_something(case):
                workshop.keep(call, case)


def _first_stage(space: CallSpace) -> str | None:
    """The attribute that says in what all is computed but the last step; None where there is none."""
    packed = [name for name in space.factors if name.startswith("rank_")]
    kinds = [each.name for each in space.kinds if isinstance(each, ElementTypeCode) and each.precisions]
    return kinds[0] if len(kinds) == 1 and len(packed) == 1 and "epsilon" in space.spec.attributes else None


def _call(space: CallSpace, name: str, stage: str, draw: Draw) -> Call | None:
    variable = next((each for each in space.types if name in space.factors[each]), None)
    if variable is None or _PLAIN not in space.factors[stage]:
        return None
    pack = next(each.removeprefix("rank_") for each in space.factors if each.startswith("rank_"))
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
