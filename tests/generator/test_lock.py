"""The lock of the default suite: what changed, and why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from generator.lock import Lock, OperatorLock, compare, read_lock, write_lock
from opcert.errors import UserError

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
