"""The lock of the default suite, and what changed since."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from conformance.suite.cases import Alternative, Case, Expectation, ExpectedOutput
from conformance.suite.kept_parts import keep_part
from conformance.suite.suite_parts import SuitePart, make_part
from generator.asking.ambiguity import Ambiguity, ambiguity
from generator.asking.named_operators import first_operators, referenced_operators
from generator.making.operators.opsets import default_operators
from generator.making.operators.workshop import Options
from generator.making.suites.cache import PROCESSES
from generator.making.suites.lock import Lock, LockedVersion, read_lock, write_lock
from generator.making.suites.lock_making import compare
from generator.making.suites.suite_making import make_parts
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import tensor
from reference.registry import reference_of
from specs.files.library import load_spec
from tests.conformance.samples import expect, make_case, sample

SHIFT = "test.domain::Shift-1"
NAME = OperatorName.parse(SHIFT)
LOCK = Lock("digest", {"size": "default", "strength": 2}, {SHIFT: LockedVersion("d", 2)})

OPEN = ("AffineGrid", "Attention", "DFT", "DeformConv", "GridSample", "MaxRoiPool", "RoiAlign", "STFT")
DIVIDED = "MaxRoiPool"
"""No page says how its regions are divided into parts, and rounding decides where some begin."""
INTERPOLATED = "GridSample"
"""Integers between two of its elements may be either, and each pair of types has a case of that."""
DRAWN = ("Dropout",)


def shift_part(seeds: Iterable[int], facts: str = "f", other: Iterable[int] = ()) -> SuitePart:
    """A part of calls of Shift that the cache keeps; something else is expected of `other` ones."""
    cases = [make_case(operator=NAME, seed=seed) for seed in seeds]
    cases += [
        replace(make_case(operator=NAME, seed=each), expectations=(expect(sample(99)),)) for each in other
    ]
    part = make_part(NAME, cases, {"told": facts})
    keep_part(part, part.digest)
    return part


def lock_of(part: SuitePart) -> Lock:
    return replace(LOCK, versions={SHIFT: LockedVersion(part.digest, len(part.entries))})


def changes(old: SuitePart, new: SuitePart) -> list[str]:
    return [str(lock_change) for lock_change in compare(lock_of(old), lock_of(new))]


@pytest.fixture
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_lock_comes_back_from_its_file(tmp_path: Path) -> None:
    write_lock(LOCK, tmp_path / "suite.lock")
    assert read_lock(tmp_path / "suite.lock") == LOCK
    assert compare(LOCK, read_lock(tmp_path / "suite.lock")) == []
    assert len([line for line in (tmp_path / "suite.lock").read_text().splitlines() if SHIFT in line]) == 1


@pytest.mark.usefixtures("_own_cache")
def test_changed_new_and_gone_cases_are_named_where_the_cache_has_them_as_they_were() -> None:
    same, first, second, third = (make_case(operator=NAME, seed=each).id for each in range(4))
    found = changes(shift_part([0, 1, 2]), shift_part([0, 3], other=[1]))
    assert sorted(found) == sorted(
        [f"changed expectation: {first}", f"gone case: {second}", f"new case: {third}"]
    )
    assert str(same) not in "".join(found)


@pytest.mark.usefixtures("_own_cache")
def test_a_version_is_named_with_both_digests_where_its_cases_are_not_kept(tmp_path: Path) -> None:
    """Nothing is said of a cause: nobody knows what the locked part was made from."""
    made = shift_part([0])
    (told,) = compare(LOCK, lock_of(made))
    digests = f"the lock has d, now it is {made.digest[:16]}"
    assert str(told) == f"changed operator: {SHIFT} ({digests}; its cases as they were are not kept here)"
    old = shift_part([1])
    for path in (tmp_path / "cache").rglob(old.digest):
        path.write_bytes(b"damaged")
    assert [each.how for each in compare(lock_of(old), lock_of(made))] == ["changed operator"]


@pytest.mark.usefixtures("_own_cache")
def test_facts_and_operators_count_too() -> None:
    assert changes(shift_part([0]), shift_part([0], "other")) == [f"changed facts: {SHIFT}"]
    empty = replace(LOCK, versions={})
    assert [each.how for each in compare(LOCK, empty)] == ["gone operator"]
    assert [each.how for each in compare(empty, LOCK)] == ["new operator"]
    elsewhere = replace(make_case(operator=NAME, seed=0), sources=(("d1", 2),))
    part = make_part(NAME, [elsewhere], {"told": "f"})
    keep_part(part, part.digest)
    assert changes(shift_part([0]), part) == [f"changed cases: {SHIFT}"]


def test_a_suite_that_differs_in_nothing_but_its_digest_is_told() -> None:
    assert [str(lock_change) for lock_change in compare(LOCK, replace(LOCK, digest="other"))] == [
        "changed: the suite"
    ]
    assert [
        str(lock_change)
        for lock_change in compare(LOCK, replace(LOCK, digest="other", options={"size": "small"}))
    ] == ["changed: the suite (it is made with other options)"]


def test_a_part_of_the_operators_can_be_compared() -> None:
    now = replace(LOCK, digest="of one operator alone", options={"operators": [SHIFT]})
    assert compare(LOCK, now, [SHIFT]) == []


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "other"}', '{"format": "opcert-lock/1"}', "\x00"]
)
def test_a_damaged_lock_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "suite.lock"
    path.write_text(text)
    with pytest.raises(UserError, match="cannot be read") as caught:
        read_lock(path)
    assert "suite.lock" in str(caught.value)
    assert "--update" in str(caught.value)


def test_a_missing_lock_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_lock(tmp_path / "suite.lock")


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen", [default_operators, pytest.param(referenced_operators, marks=pytest.mark.nightly)]
)
def test_hardly_any_element_has_several_accepted_results(
    chosen: Callable[[], Sequence[OperatorName]],
) -> None:
    """`opcert generate --check` holds the counts.

    Operators whose only rounding is their last stay below 2 %; in products and sums of narrow types there are
    more, and where a document leaves subnormals open. Where it leaves open what a step gives that overflows,
    every element of such an expectation may be another: these are not counted, nor are elements that are
    drawn, of which none is expected. Operators whose texts leave borders, places or masked rows open stay
    below a tenth, each of them.
    """
    parts = make_parts(chosen(), Options(), processes=PROCESSES, keep=True)
    counted = {made.part.operator: Ambiguity(**made.part.facts["ambiguity"]) for made in parts}
    for operator in first_operators():
        if operator in counted:
            assert counted[operator].elements > 1000, operator
            assert counted[operator].share < Fraction(2, 100), f"{operator}: {counted[operator]}"
    every = [
        found
        for operator, found in counted.items()
        if "intermediate_overflow" not in reference_of(load_spec(operator)).readings
        and operator.name not in (*OPEN, *DRAWN)
    ]
    for operator, found in counted.items():
        if operator.name in OPEN:
            most = Fraction(1, 5) if operator.name in (DIVIDED, INTERPOLATED) else Fraction(1, 10)
            assert found.share < most, operator
    few = [each for each in every if each.share < Fraction(2, 100)]
    assert len(few) > len(every) * 3 // 4


def test_ambiguity_counts_the_elements_of_every_expectation() -> None:
    expected = tensor(np.zeros((2, 5), np.float32), "float")
    output = ExpectedOutput("Y", expected, None, (Alternative(3, (1.0,)), Alternative(4, (1.0, 2.0))))
    allowed = np.zeros((2, 5))
    allowed[0, 3] = allowed[1, 1] = np.inf
    other = ExpectedOutput("Y", expected, allowed, (Alternative(3, (1.0,)),))
    case = Case(
        id=CaseId.parse("ai.onnx/Resize-18/cover/0123456789ab"),
        element_type=expected.element_type,
        attributes={},
        inputs=(),
        output_names=("Y",),
        demand="answer",
        expectations=(Expectation((output,)), Expectation((other,))),
    )
    assert ambiguity([case, replace(case, demand="survive", expectations=())]) == Ambiguity(20, 4)
    assert ambiguity([]).share == 0
    assert str(ambiguity([case])) == "20.00 % of the elements have several accepted results"
