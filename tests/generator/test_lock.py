"""The lock of the default suite: what changed, and why."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from conformance.cases import Alternative, Case, Expectation, ExpectedOutput
from generator.ambiguity import Ambiguity, ambiguity
from generator.lock import Lock, OperatorLock, compare, read_lock, write_lock
from opcert.errors import UserError
from opcert.names import CaseId
from opcert.tensors import tensor

SHIFT = "test.domain::Shift-1"
ONE = OperatorLock({"imported.yaml": "a", "curated.yaml": "b"}, "r", "f", {"cover/1": "x", "cover/2": "y"})
LOCK = Lock("digest", {"size": "default", "strength": 2}, "g", {SHIFT: ONE})


def changed(**fields: object) -> Lock:
    return replace(LOCK, digest="other", operators={SHIFT: replace(ONE, **fields)})  # type: ignore[arg-type]


def test_a_lock_comes_back_from_its_file(tmp_path: Path) -> None:
    write_lock(LOCK, tmp_path / "suite.lock")
    assert read_lock(tmp_path / "suite.lock") == LOCK
    assert compare(LOCK, read_lock(tmp_path / "suite.lock")) == []


def test_changed_new_and_gone_cases_are_named_with_their_causes() -> None:
    now = changed(specs={**ONE.specs, "curated.yaml": "c"}, cases={"cover/1": "z", "cover/3": "y"})
    assert [str(each) for each in compare(LOCK, now)] == [
        "changed expectation: test.domain/Shift-1/cover/1 (spec fact: curated.yaml)",
        "gone case: test.domain/Shift-1/cover/2 (spec fact: curated.yaml)",
        "new case: test.domain/Shift-1/cover/3 (spec fact: curated.yaml)",
    ]


@pytest.mark.parametrize(
    ("now", "causes"),
    [
        (changed(reference="s", cases={**ONE.cases, "cover/1": "z"}), ("reference code",)),
        (replace(changed(cases={"cover/1": "x"}), generator="h"), ("generator code",)),
        (replace(changed(cases={"cover/1": "x"}), options={"size": "small"}), ("generator option",)),
        (changed(cases={"cover/1": "x"}), ()),
    ],
)
def test_each_cause_is_told(now: Lock, causes: tuple[str, ...]) -> None:
    assert [each.causes for each in compare(LOCK, now)] == [causes]


def test_code_that_changes_no_case_is_no_change() -> None:
    now = replace(LOCK, generator="h", operators={SHIFT: replace(ONE, reference="s")})
    assert compare(LOCK, now) == []


def test_facts_and_operators_count_too() -> None:
    assert [each.how for each in compare(LOCK, changed(facts="other"))] == ["changed facts"]
    assert [each.how for each in compare(LOCK, replace(LOCK, operators={}))] == ["gone operator"]
    assert [each.how for each in compare(replace(LOCK, operators={}), LOCK)] == ["new operator"]
    assert [each.how for each in compare(LOCK, replace(LOCK, digest="other"))] == ["changed"]


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


def test_hardly_any_element_has_several_accepted_results() -> None:
    """`opcert generate --check` holds the counts; here they must stay below 2 % for every operator."""
    operators = read_lock().operators
    assert operators
    for name, lock in operators.items():
        found = Ambiguity(**lock.ambiguity)
        assert found.elements > 1000, name
        assert found.share < Fraction(2, 100), f"{name}: {found}"


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
