"""What a case expects of programs that compute float in less than float32, derived by the same reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from conformance.suite.cases import Alternative, Case, Expectation, ExpectedOutput
from conformance.suite.properties import HasShape, HasType
from generator.asking.calls import Call, call_of
from generator.asking.expectations import expectations_of
from generator.asking.questions import ask
from opcert.vocabulary.arithmetics import Arithmetic
from opcert.vocabulary.errors import OpcertError
from reference.numbers.working import MARGIN, computing_in
from reference.registry.reference_operator import ReferenceOperator
from specs.model.spec import Spec

_FLOAT = "float"
_GRAPHS = ("graph", "graphs")
_REQUANTISING = (b"QuantizeLinear", b"QLinear", b"QGemm")
_MOST_BITS = 16


class NoBound(OpcertError):
    """A case of which nobody can say what programs of an arithmetic may answer."""


def in_arithmetic(spec: Spec, reference: ReferenceOperator, case: Case, arithmetic: Arithmetic) -> Case:
    """The case with what programs may answer that compute float in an arithmetic; the same without floats.

    What float32 programs may answer stays right. Accepted is what comes of the operands as they are given,
    each rounded to the format or not, and what comes where all of them are rounded first. An element may be
    rounded to the format at the end, and where that is beyond its range be an infinity. Nothing of it is
    inexact: what lies beyond is wrong. Raises NoBound where that is not derived, with the reason.
    """
    touched = not arithmetic.keeps_floats and _has_floats(case)
    requantised = arithmetic.requantise != "float32" and _may_requantise(case)
    if arithmetic.is_own or case.demand != "answer" or not (touched or requantised):
        return case
    if case.model is not None:
        raise NoBound("a model of several nodes is bounded in float32 alone")
    if any(each.kind in _GRAPHS for each in case.attributes.values()):
        raise NoBound("what bodies compute is bounded in float32 alone")
    if not all(isinstance(each, (HasType, HasShape)) for each in case.properties):
        raise NoBound("what is drawn is told by distributions of float32 alone")
    call = call_of(case)
    found = _asked(spec, reference, call, arithmetic)
    if found is None:
        return case
    inputs = tuple((name, arithmetic.rounded(given)) for name, given in call.inputs)
    if any(
        one is not None and one != other for (_, one), (_, other) in zip(inputs, call.inputs, strict=True)
    ):
        more = _asked(spec, reference, replace(call, inputs=inputs), arithmetic) or ()
        if len(more) != len(found) or not all(map(_holds, found, more)):
            found += more
    return replace(case, expectations=found)


def _has_floats(case: Case) -> bool:
    given = [tensor for _, tensor in case.inputs if tensor is not None]
    expected = [output.expected for each in case.expectations for output in each.outputs]
    types = [each.element_type for each in case.properties if isinstance(each, HasType)]
    return any(kind.name == _FLOAT for kind in [*(each.element_type for each in (*given, *expected)), *types])


def _may_requantise(case: Case) -> bool:
    """Whether it has a scale, and integers of few bits come out; of a model whether a node quantises."""
    if case.model is not None:
        return any(name in case.model for name in _REQUANTISING)
    given = [tensor for _, tensor in case.inputs if tensor is not None]
    expected = [output.expected for each in case.expectations for output in each.outputs]
    return any(each.element_type.is_float for each in given) and any(
        each.element_type.is_integer and each.element_type.bits <= _MOST_BITS for each in expected
    )


def _asked(
    spec: Spec, reference: ReferenceOperator, call: Call, arithmetic: Arithmetic
) -> tuple[Expectation, ...] | None:
    """What is expected then; None where nothing of it is computed otherwise."""
    try:
        with computing_in(arithmetic) as computing:
            found = expectations_of(ask(spec, reference, call))
    except OpcertError as error:
        raise NoBound("a reading or a length hangs on how operands are rounded") from error
    if arithmetic.keeps_floats and not computing.bounded:
        return None
    if computing.apart:
        raise NoBound("; ".join(sorted(computing.apart)))
    if not computing.bounded and any(_has_allowances(each) for one in found for each in one.outputs):
        raise NoBound("its bounds are derived of float32 alone")
    return tuple(
        replace(each, outputs=tuple(_held(output, arithmetic) for output in each.outputs), functions=())
        for each in found
    )


def _has_allowances(output: ExpectedOutput) -> bool:
    return output.allowed is not None and bool((output.allowed > 0).any())


def _held(output: ExpectedOutput, arithmetic: Arithmetic) -> ExpectedOutput:
    """The output where a program may round each element to the format, whatever it was computed in."""
    wanted = output.expected
    if wanted.element_type.name != _FLOAT:
        return output
    rounded = arithmetic.rounded(wanted)
    assert rounded is not None
    exact, held = (each.array.astype(np.float64) for each in (wanted, rounded))
    allowed = np.zeros(exact.shape) if output.allowed is None else output.allowed
    with np.errstate(invalid="ignore"):
        apart = np.abs(held - exact)
        moved = np.isfinite(held) & (apart > allowed)
        # What is near the greatest number of the format may be rounded beyond it.
        beyond = np.isfinite(exact) & (np.abs(exact) + allowed >= arithmetic.greatest * (1 - MARGIN))
    if not (moved.any() or beyond.any()):
        return output
    others = {each.index: each.values for each in output.alternatives}
    for index in np.flatnonzero(beyond).tolist():
        infinity = float(np.copysign(np.inf, exact.flat[index]))
        others[index] = tuple(dict.fromkeys((*others.get(index, ()), infinity)))
    alternatives = tuple(Alternative(index, values) for index, values in sorted(others.items()))
    return replace(output, allowed=np.where(moved, apart, allowed), alternatives=alternatives)


def _holds(wide: Expectation, narrow: Expectation) -> bool:
    """Whether whatever one expectation accepts another accepts as well."""
    pairs: Sequence[tuple[ExpectedOutput, ExpectedOutput]] = list(
        zip(wide.outputs, narrow.outputs, strict=False)
    )
    return len(wide.outputs) == len(narrow.outputs) and all(_contains(*pair) for pair in pairs)


def _contains(wide: ExpectedOutput, narrow: ExpectedOutput) -> bool:
    one, other = wide.expected, narrow.expected
    if (one.element_type, one.shape) != (other.element_type, other.shape):
        return False
    if not one.element_type.is_float or one.element_type.layout is None or one.element_type.name != _FLOAT:
        return one == other and narrow.allowed is None and not narrow.alternatives
    if not set(map(_key, narrow.alternatives)) <= set(map(_key, wide.alternatives)):
        return False
    exact, held = (each.array.astype(np.float64) for each in (one, other))
    limits, reach = (np.zeros(one.shape) if each.allowed is None else each.allowed for each in (wide, narrow))
    with np.errstate(invalid="ignore"):
        inside = np.abs(exact - held) + reach <= limits
    same = (one.array.view(np.uint32) == other.array.view(np.uint32)) & (reach <= limits)
    return bool((same | inside).all())


def _key(alternative: Alternative) -> str:
    return repr(alternative)
