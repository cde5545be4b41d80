"""Whether what a case accepts says something, and smaller calls for those of which it does not.

Sums of many numbers in 16 bits may err by as much as they come to: no bound tells a right one then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import Case, ExpectedOutput
from conformance.suite.values import decode_floats
from conformance.suite.where_shown import has_ordinary_inputs
from generator.asking.calls import Call
from generator.making.operators.workshop import Workshop
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength

_SHORTEST = 2


def says_something(case: Case) -> bool:
    """Whether no output of floats may be off, in half of its elements, by half of what each is, or more.

    Whatever the reading. Cases whose data is not ordinary, or that have no values, say what they can.
    """
    if not has_ordinary_inputs(case):
        return True
    return not any(_is_hollow(each) for found in case.expectations for each in found.outputs)


def _is_hollow(output: ExpectedOutput) -> bool:
    kind = output.expected.element_type
    if output.allowed is None or kind.layout is None:
        return False
    sizes = np.abs(decode_floats(kind, output.expected.array))
    counted = np.isfinite(sizes) & (sizes > 0)
    far = output.allowed[counted] >= sizes[counted] / 2
    return bool(far.size and 2 * np.count_nonzero(far) >= far.size)


def meaningful(workshop: Workshop, call: Call, case: Case) -> tuple[Call, Case]:
    """The case, if it says something; else that of a shorter call that does, where there is one."""
    if says_something(case):
        return call, case
    for shorter in shortened(call):
        if workshop.violations(shorter) or workshop.has(shorter.trimmed()):
            continue
        with suppress(UnstableLength):
            made = workshop.make_valid(case.family, case.id.word, shorter, case.levels)
            if says_something(made):
                return shorter, made
    return call, case


def shortened(call: Call) -> Iterator[Call]:
    """The call with its longest axes half as long, all of one length together, again and again.

    Whether it is valid then is for the caller to see. What a graph makes of other shapes nobody knows: a call
    that has one stays as it is.
    """
    while all(each.kind not in ("graph", "graphs") for each in call.attributes.values()):
        longest = max((length for each in _tensors(call) for length in each.shape), default=0)
        length = max(longest // 2, _SHORTEST)
        if length >= longest:
            return
        inputs = tuple((name, _cut(given, longest, length)) for name, given in call.inputs)
        call = replace(call, inputs=inputs)
        yield call


def _tensors(call: Call) -> Iterator[Tensor]:
    return (given for _, given in call.inputs if isinstance(given, Tensor))


def _cut(given: Any, longest: int, length: int) -> Any:
    if not isinstance(given, Tensor) or longest not in given.shape:
        return given
    part: NDArray[Any] = given.array[
        tuple(slice(length if each == longest else None) for each in given.shape)
    ]
    return Tensor(given.element_type, np.ascontiguousarray(part))
