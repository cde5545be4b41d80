"""The lock of the default suite: what changed, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from conformance.suite.cases import Alternative, Case, Expectation, ExpectedOutput
from generator.asking.ambiguity import Ambiguity, ambiguity
from generator.making.lock import LOCK_FILE, Lock, read_lock, write_lock
from generator.making.lock_changes import compare
from generator.making.lock_files import OperatorLock
from generator.making.named_operators import first_operators
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import tensor
from reference.registry import find_operator

SHIFT = "test.domain::Shift-1"
ONE = OperatorLock(
    digest="d",
    specs={"imported-1.yaml": "a", "spec.yaml": "b"},
    facts="f",
    cases={"cover/1": "x", "cover/2": "y"},
    code=("generator/a.py", "generator/b.py", "reference/shift.py"),
)
CODE = dict.fromkeys((*ONE.code, "reference/other.py"), "0")
LOCK = replace(Lock.of("digest", {"size": "default", "strength": 2}, {SHIFT: ONE}), code=CODE)

OPEN = ("AffineGrid", "Attention", "DFT", "DeformConv", "GridSample", "MaxRoiPool", "RoiAlign", "STFT")
DIVIDED = "MaxRoiPool"
"""No page says how its regions are divided into parts, and rounding decides where some begin."""
INTERPOLATED = "GridSample"
"""Integers between two of its elements may be either, and each pair of types has a case of that."""
DRAWN = ("Dropout",)


def changed(code: Sequence[str] = (), **fields: object) -> Lock:
    """The lock of now, with these files of code changed since."""
    fields["code"] = fields.pop("code_of", ONE.code)
    operators = {SHIFT: replace(ONE, **{"digest": "e", **fields})}  # type: ignore[arg-type]
    now = {**CODE, **dict.fromkeys(code, "1")}
    return replace(Lock.of("other", LOCK.options, operators), code=now)


def test_a_lock_comes_back_from_its_file(tmp_path: Path) -> None:
    write_lock(LOCK, tmp_path / "suite.lock")
    assert read_lock(tmp_path / "suite.lock") == LOCK
    assert compare(LOCK, read_lock(tmp_path / "suite.lock")) == []


def test_changed_new_and_gone_cases_are_named_with_their_causes() -> None:
    now = changed(specs={**ONE.specs, "spec.yaml": "c"}, cases={"cover/1": "z", "cover/3": "y"})
    assert [str(each) for each in compare(LOCK, now)] == [
        "changed expectation: test.domain/Shift-1/cover/1 (spec fact: spec.yaml)",
        "gone case: test.domain/Shift-1/cover/2 (spec fact: spec.yaml)",
        "new case: test.domain/Shift-1/cover/3 (spec fact: spec.yaml)",
    ]


@pytest.mark.parametrize(
    ("now", "causes"),
    [
        (
            changed(["reference/shift.py"], cases={**ONE.cases, "cover/1": "z"}),
            ("reference code: reference/shift.py",),
        ),
        (changed(["generator/b.py"], cases={"cover/1": "x"}), ("generator code: generator/b.py",)),
        (changed(["reference/other.py"], cases={"cover/1": "x"}), ()),
        (replace(changed(cases={"cover/1": "x"}), options={"size": "small"}), ("generator option",)),
        (changed(cases={"cover/1": "x"}), ()),
    ],
)
def test_each_cause_is_told(now: Lock, causes: tuple[str, ...]) -> None:
    assert [each.causes for each in compare(LOCK, now)] == [causes]


def test_code_that_changes_no_case_is_no_change() -> None:
    now = changed(ONE.code, digest=ONE.digest)
    assert compare(LOCK, replace(now, digest=LOCK.digest)) == []


def test_files_of_code_are_few_and_nothing_is_said_where_it_cannot_be_known() -> None:
    """A lock of before said of no file what it was like; a file that is new since is one that changed."""
    many = tuple(f"generator/{each}.py" for each in "cdefg")
    (change,) = compare(LOCK, changed(many, cases={"cover/1": "x"}, code_of=(*ONE.code, *many)))
    assert change.causes == ("generator code: generator/c.py generator/d.py generator/e.py and 2 more",)
    (change,) = compare(replace(LOCK, code={}), changed(many, cases={"cover/1": "x"}))
    assert change.causes == ()


def test_facts_and_operators_count_too() -> None:
    assert [each.how for each in compare(LOCK, changed(facts="other"))] == ["changed facts"]
    empty = Lock.of("digest", LOCK.options, {})
    assert [each.how for each in compare(LOCK, empty)] == ["gone operator"]
    assert [each.how for each in compare(empty, LOCK)] == ["new operator"]
    assert [each.how for each in compare(LOCK, changed())] == ["changed cases"]


def test_a_suite_that_differs_in_nothing_but_its_digest_is_told_without_a_cause() -> None:
    changes = compare(LOCK, replace(LOCK, digest="other"))
    assert [str(each) for each in changes] == ["changed: the suite (no cause found)"]
    changes = compare(LOCK, replace(LOCK, digest="other", options={"size": "small"}))
    assert [str(each) for each in changes] == ["changed: the suite (generator option)"]


def test_a_part_of_the_operators_can_be_compared() -> None:
    now = replace(LOCK, digest="of one operator alone", options={"operators": [SHIFT]})
    assert compare(LOCK, now, [SHIFT]) == []


TURN = "test.domain::Turn-2"


def test_what_is_known_of_a_version_is_read_where_it_is_asked_for(tmp_path: Path) -> None:
    """The file of one version is damaged: nobody notices who asks about another one."""
    path = tmp_path / "suite.lock"
    write_lock(Lock.of("digest", {}, {SHIFT: ONE, TURN: replace(ONE, digest="t")}), path)
    assert len([line for line in path.read_text().splitlines() if "test.domain::" in line]) == 2
    turn = tmp_path / "locks" / "test.domain" / "Turn.json"
    turn.write_text("{")
    lock = read_lock(path)
    assert {name: each.cases for name, each in lock.versions.items()} == {SHIFT: 2, TURN: 2}
    assert lock.operators[SHIFT] == ONE
    assert compare(lock, changed(cases={"cover/1": "x"}), [SHIFT])
    with pytest.raises(UserError, match="Turn-2 cannot be read") as caught:
        lock.operators[TURN]
    assert "Turn.json" in str(caught.value)
    assert "--update" in str(caught.value)


def test_a_file_of_a_version_that_is_not_of_the_lock_is_told(tmp_path: Path) -> None:
    path = tmp_path / "suite.lock"
    write_lock(Lock.of("digest", {}, {SHIFT: ONE}), path)
    path.write_text(path.read_text().replace('"digest": "d"', '"digest": "e"'))
    with pytest.raises(UserError, match=r"it is of d, and suite\.lock of e"):
        read_lock(path).operators[SHIFT]


def test_versions_of_an_operator_share_a_file(tmp_path: Path) -> None:
    """What two versions call alike is told of each; what is gone leaves the others as they are."""
    path = tmp_path / "suite.lock"
    newer = replace(ONE, digest="n", cases={"cover/1": "z", "cover/3": "x"})
    write_lock(Lock.of("digest", {}, {SHIFT: ONE, "test.domain::Shift-12": newer}), path)
    assert read_lock(path).operators == {SHIFT: ONE, "test.domain::Shift-12": newer}
    again = replace(ONE, specs={"spec.yaml": "what it is made from now"})
    write_lock(
        Lock.of("digest", {}, {SHIFT: again, "test.domain::Shift-12": replace(newer, digest="m")}), path
    )
    assert read_lock(path).operators[SHIFT] == again
    assert read_lock(path).operators["test.domain::Shift-12"].digest == "m"
    write_lock(Lock.of("digest", {}, {SHIFT: again}), path)
    assert read_lock(path).operators == {SHIFT: again}
    assert "cover/3" not in (tmp_path / "locks" / "test.domain" / "Shift.json").read_text()


def test_files_of_versions_that_are_gone_go(tmp_path: Path) -> None:
    path = tmp_path / "suite.lock"
    write_lock(Lock.of("digest", {}, {SHIFT: ONE, "other.domain::Turn-2": ONE}), path)
    write_lock(LOCK, path)
    assert sorted(each.name for each in (tmp_path / "locks").rglob("*.json")) == ["Shift.json", "code.json"]
    assert not (tmp_path / "locks" / "other.domain").exists()


def test_the_lock_that_ships_is_of_files_that_ship() -> None:
    lock = read_lock()
    assert lock.cases == sum(len(each.cases) for each in lock.operators.values()) > 2000
    places = {path.relative_to(LOCK_FILE.parent) for path in LOCK_FILE.parent.glob("locks/*/*")}
    assert len(places) == len({OperatorName.parse(each).unversioned for each in lock.versions})


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
    """`opcert generate --check` holds the counts.

    Operators whose only rounding is their last stay below 2 %; in products and sums of narrow types there are
    more, and where a document leaves subnormals open. Where it leaves open what a step gives that overflows,
    every element of such an expectation may be another: these are not counted, nor are elements that are
    drawn, of which none is expected. Operators whose texts leave borders, places or masked rows open stay
    below a tenth, each of them.
    """
    operators = read_lock().operators
    for name in map(str, first_operators()):
        found = Ambiguity(**operators[name].ambiguity)
        assert found.elements > 1000, name
        assert found.share < Fraction(2, 100), f"{name}: {found}"
    every = [
        Ambiguity(**each.ambiguity)
        for name, each in operators.items()
        if "intermediate_overflow" not in find_operator(OperatorName.parse(name)).readings
        and OperatorName.parse(name).name not in (*OPEN, *DRAWN)
    ]
    for name, each in operators.items():
        if OperatorName.parse(name).name in OPEN:
            wide = OperatorName.parse(name).name in (DIVIDED, INTERPOLATED)
            most = Fraction(1, 5) if wide else Fraction(1, 10)
            assert Ambiguity(**each.ambiguity).share < most, name
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
