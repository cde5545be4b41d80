"""Families, expectations and facts on an operator whose answers are known by heart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import pytest

from generator.asking.calls import Call
from generator.asking.expectations import expect
from generator.calls.data.draws import Draw
from generator.making.families import cover, example
from generator.making.families.boundary import make_boundary, make_inert, make_invalid, make_survival
from generator.making.operators.workshop import Workshop
from generator.making.suites.manifest_facts import operator_facts
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer, OutsideDomain, UnstableLength
from specs.model.spec import Constraint, Exclusion, Factor, Origin, Spec, Value
from tests.generator.made_up import HERE, NAME, ORIGIN, REFERENCE, SPEC, Levels, call, reading, workshop


def families(bench: Workshop) -> set[str]:
    return {case.family for case in bench.cases.values()}


def test_one_expectation_for_each_distinct_result_of_the_open_readings() -> None:
    found = expect(SPEC, REFERENCE, call(1, tensor([2, 3], "int32")))
    assert [dict(expectation.readings) for expectation in found] == [
        {"odd": ("kept",)},
        {"odd": ("rounded_down",)},
    ]
    assert [expectation.outputs[0].expected.array.tolist() for expectation in found] == [[3, 4], [2, 4]]
    assert all(not expectation.behaviours for expectation in found)


def test_a_reading_that_changes_nothing_here_is_not_listed() -> None:
    (found,) = expect(SPEC, REFERENCE, call(2, tensor([2, 4], "int32")))
    assert found.readings == {}
    assert found.outputs[0].name == "Y"


def test_a_reading_that_matters_only_beside_another_is_found() -> None:
    def both(X: object, *, first: str = "a", second: str = "a", **_: object) -> object:
        return (
            REFERENCE.function(
                tensor([2 if first == "b" and second == "b" else 0], "int32"), by=1, settled="yes"
            )
            if first == "b"
            else REFERENCE.function(tensor([7], "int32"), by=1, settled="yes")
        )

    asked = replace(REFERENCE, function=both, readings={"first": ("a", "b"), "second": ("a", "b")})  # type: ignore[arg-type]
    spec = replace(SPEC, readings=(reading("first", ("a", "b")), reading("second", ("a", "b"), "behaviour")))
    found = expect(spec, asked, call(1, tensor([0], "int32")))
    assert [(dict(expectation.readings), dict(expectation.behaviours)) for expectation in found] == [
        ({"first": ("a",)}, {"second": ("a", "b")}),
        ({"first": ("b",)}, {"second": ("a",)}),
        ({"first": ("b",)}, {"second": ("b",)}),
    ]


def test_a_valid_call_outside_the_domain_is_our_bug_and_an_unstable_length_is_passed_on() -> None:
    with pytest.raises(InternalError, match="outside the domain") as caught:
        expect(SPEC, REFERENCE, call(77, tensor([1], "int32")))
    assert "by=77" in str(caught.value)
    with pytest.raises(UnstableLength):
        expect(SPEC, REFERENCE, call(99, tensor([1], "int32")))


def test_a_call_that_one_open_reading_leaves_without_a_result_is_no_case() -> None:
    def half(X: Tensor, *, odd: str = "kept", **_: str) -> Answer:
        if odd == "rounded_down":
            raise OutsideDomain("nothing is left to divide by")
        return Answer(X)

    asked = replace(REFERENCE, function=half)
    with pytest.raises(UnstableLength, match=r"leaves a call of test\.domain") as caught:
        expect(SPEC, asked, call(1, tensor([1], "int32")))
    assert "rounded_down" in str(caught.value)


def test_the_cover_family_covers_every_feasible_pair() -> None:
    bench = workshop()
    cover.make_cases(bench)
    facts = operator_facts(bench)["coverage"]
    assert facts["covered"] == facts["feasible"] == 9 + 5 + 6
    assert facts["uncovered"] == []
    assert facts["exclusions"] == [
        {"when": "lengths == 'none' and data == 'constant'", "sources": [], "why": "no elements"}
    ]
    assert all(case.levels and not bench.violations(bench.calls[key]) for key, case in bench.cases.items())


def test_a_focus_covers_the_other_factors_once_more_with_its_levels_fixed() -> None:
    class Focused(Levels):
        focus: ClassVar = {"by": 1}

    bench = replace(workshop(), levels=Focused())
    cover.make_cases(bench)
    rows = {(row["lengths"], row["data"]) for row in bench.rows if row["by"] == "1"}
    assert rows == {(length, data) for length in ("one", "many") for data in ("distinct", "constant")} | {
        ("none", "distinct")
    }


def test_a_combination_without_a_call_must_be_excluded() -> None:
    with pytest.raises(InternalError, match="no exclusion"):
        cover.make_cases(workshop(exclusions=()))


def test_a_row_whose_every_draw_is_unstable_is_reported_as_uncovered() -> None:
    bench = workshop(factors=(replace(SPEC.factors[0], levels=(1, 99)), *SPEC.factors[1:]))
    cover.make_cases(bench)
    uncovered = operator_facts(bench)["coverage"]["uncovered"]
    assert {"by": 99, "lengths": "many"} in uncovered
    assert all(each.get("by", 99) == 99 for each in uncovered)


def test_an_invalid_case_breaks_its_constraint_alone_and_names_a_case_of_the_suite() -> None:
    bench = workshop()
    make_invalid(bench)
    make_survival(bench)
    by_family = {case.family: case for case in bench.cases.values()}
    broken = by_family["invalid"]
    assert broken.demand == "refuse"
    assert broken.constraint == "by_positive"
    assert broken.sources == (("d1", 7),)
    assert broken.valid_case in {str(case.id) for case in bench.cases.values() if case.demand == "answer"}
    assert (by_family["survival"].demand, by_family["survival"].constraint) == ("survive", "by_small")
    assert not by_family["survival"].expectations


def test_a_call_that_breaks_another_rule_is_our_bug() -> None:
    bench = workshop(
        constraints=(*SPEC.constraints, Constraint("odd", None, "by % 2 == 0", "error", None, None, ORIGIN))
    )
    with pytest.raises(InternalError, match="breaks"):
        make_boundary(bench) or cover.make_cases(bench)  # type: ignore[func-returns-value]


def test_an_attribute_outside_its_scope_must_change_nothing() -> None:
    bench = workshop()
    cover.make_cases(bench)
    with pytest.raises(InternalError, match="changes a result outside its scope"):
        make_inert(replace(bench, spec=replace(SPEC, factors=(*SPEC.factors, twice_factor()))))
    honest = replace(
        REFERENCE, function=lambda X, *, by, twice=0, **_: REFERENCE.function(X, by=by, settled="yes")
    )
    bench = replace(workshop(factors=(*SPEC.factors[:3],)), reference=honest)
    cover.make_cases(bench)
    bench.spec = replace(bench.spec, factors=(*SPEC.factors, twice_factor()))
    make_inert(bench)
    made = [case for case in bench.cases.values() if case.family == "inert"]
    assert made
    assert all(case.attributes["twice"].value == 1 and case.attributes["by"].value == 1 for case in made)


def twice_factor() -> Factor:
    return replace(SPEC.factors[0], name="twice", levels=(0, 1))


def test_examples_become_cases_and_are_compared_with_what_is_printed() -> None:
    bench = workshop()
    example.make_cases(bench)
    words = {case.id.word: case for case in bench.cases.values()}
    assert set(words) == {"one_and_two", "any_data"}
    assert bench.findings == []


def test_an_example_that_the_reference_contradicts_is_a_finding() -> None:
    wrong = replace(SPEC.examples[0], outputs=(("Y", Value((2,), (2, 5), "int32")),))
    reshaped = replace(SPEC.examples[0], id="other", outputs=(("Y", Value((1, 2), (2, 3), "int32")),))
    bench = workshop(examples=(wrong, reshaped))
    example.make_cases(bench)
    assert [(finding.code, finding.source) for finding in bench.findings] == [
        ("example-vs-reference", HERE)
    ] * 2
    assert "Y[1] is printed as 5 and is 3; 1 of 2 elements differ" in bench.findings[0].evidence
    assert "Y is printed with shape [1, 2], and has [2]" in bench.findings[1].evidence


def test_an_example_that_breaks_a_rule_is_a_finding_and_no_case() -> None:
    bench = workshop(examples=(replace(SPEC.examples[0], attributes={"by": 0}),))
    example.make_cases(bench)
    assert bench.cases == {}
    assert "by_positive" in bench.findings[0].message


def test_an_example_of_a_shape_as_networks_have_it_makes_no_case() -> None:
    layer, small = (
        replace(
            SPEC.examples[0], id=f"of_{shape[0]}", inputs=(("X", Value(shape, None, "int32")),), outputs=()
        )
        for shape in ((7, 256, 200, 200), (3,))
    )
    bench = workshop(examples=(layer, small))
    example.make_cases(bench)
    assert {case.id.word for case in bench.cases.values()} == {"of_3"}


def test_a_call_is_one_case_whoever_makes_it_again() -> None:
    bench = workshop()
    first = bench.add_valid("example", "a", call(3, tensor([1], "int32")))
    again = bench.add_valid("cover", None, call(3, tensor([1], "int32")))
    assert again is first
    assert families(bench) == {"example"}


def test_calls_are_changed_without_touching_the_old_one() -> None:
    old = Call({"by": attribute("int", 1)}, (("X", tensor([1], "int32")), ("W", None)))
    assert old.trimmed().inputs == old.inputs[:1]
    assert old.digest(NAME) == old.trimmed().digest(NAME)
    assert old.with_attribute("by", None).attributes == {}
    assert old.with_input("Z", None).inputs[-1] == ("Z", None)
    assert old.input("W") is None
    assert old.attributes["by"].value == 1


def test_an_unknown_constraint_is_our_bug() -> None:
    class Wrong(Levels):
        def invalid_calls(self, spec: Spec, draw: Draw) -> Iterator[tuple[str, Call, Call]]:
            valid = call(2, tensor([5], "int32"))
            yield "no_such", valid, valid

    bench = replace(workshop(), levels=Wrong())
    with pytest.raises(InternalError, match="no constraint no_such"):
        make_invalid(bench)


def test_exclusions_name_factors() -> None:
    bench = workshop(exclusions=(Exclusion("1 > 2", Origin("added", why="none")),))
    with pytest.raises(Exception, match="no combinations of factors"):
        cover.make_cases(bench)
