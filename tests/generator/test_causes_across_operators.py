"""Causes of several operators put together by the element types that they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from conformance.judging.kept_diagnosis import Needed
from generator.asking.calls import Call
from generator.exploring.diagnosis.causes_shown import Shown, put_together_by_type
from generator.exploring.diagnosis.taking_apart import FailureCore
from generator.exploring.shrinking.judged_calls import CallFailure
from generator.exploring.shrinking.known_space import open_space
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor

SPACE = open_space(OperatorName.parse("ai.onnx::Identity-25"))
CALL = Call({}, (("X", tensor(np.ones(2, np.float64))),))
WRONG = CallFailure("mismatch", "value", pattern="other values")


def cause(
    name: str,
    fails: Sequence[str],
    cures: Sequence[str],
    *,
    factor: str = "type of X",
    pattern: str = "other",
) -> Shown:
    needed = Needed(factor, fails[0], tuple(fails[1:]), tuple(cures))
    failure = replace(WRONG, pattern=pattern)
    shown = Shown(FailureCore(SPACE, CALL, failure, (needed,), ()), name)
    shown.add(name, failure, "pass")
    return shown


def groups(*shown: Shown) -> list[set[str]]:
    return [set(each.cases) for each in put_together_by_type(shown)]


def test_causes_that_need_the_same_types_are_one() -> None:
    one = cause("a", ["double", "int64"], ["float", "int32"])
    other = cause("b", ["int64"], ["float", "uint8"])
    assert groups(one, other) == [{"a", "b"}]


def test_a_type_that_mends_one_and_not_the_other_keeps_them_apart() -> None:
    one = cause("a", ["double", "int64"], ["float", "int32"])
    assert groups(one, cause("b", ["double", "int32"], ["float"])) == [{"a"}, {"b"}]
    assert groups(one, cause("b", ["double"], ["float", "int64"])) == [{"a"}, {"b"}]


def test_types_that_share_none_and_answers_that_look_otherwise_are_not_one() -> None:
    one = cause("a", ["double"], ["float"])
    assert groups(one, cause("b", ["int64"], ["float"])) == [{"a"}, {"b"}]
    assert groups(one, cause("b", ["double"], ["float"], pattern="zeros")) == [{"a"}, {"b"}]
    assert groups(one, cause("b", ["double"], ["float"], factor="mode")) == [{"a"}, {"b"}]


def test_what_fits_two_goes_to_the_one_that_says_least_beyond_it() -> None:
    """`few` was tried with doubles alone: it must not join what fails with int32 to what is right with it."""
    wide = cause("wide", ["double", "int64", "int32"], ["float", "uint8", "int8"])
    narrow = cause("narrow", ["double", "int64"], ["float", "int32", "uint8"])
    few = cause("few", ["double"], ["float"])
    assert groups(few, wide, narrow) == [{"wide"}, {"few", "narrow"}]
    assert groups(narrow, few, wide) == [{"few", "narrow"}, {"wide"}]
