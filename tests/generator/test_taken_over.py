"""Calls that older versions take over from newer ones: the same answers, all covered, nothing asked twice."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from conformance.suite.cases import Case
from generator.asking.calls import Call, call_of
from generator.asking.expectations import expectations_of
from generator.making.operators.discovery import newer_versions
from generator.making.operators.workshop import Options, Workshop, open_workshop
from generator.making.suites.manifest_facts import coverage
from generator.making.suites.operator_cases import (
    Newer,
    call_in,
    generate_operator,
    means_the_same,
    take_over,
)
from generator.making.suites.part_making import part_key
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.slots import Slot
from opcert.vocabulary.tensors import tensor
from opcert.vocabulary.value_types import SequenceType, TensorType
from reference.registry import find_operator
from specs.files.library import load_spec
from specs.files.spec_folders import OWN_FOLDER, room_of

PAIRS = [
    "Gather-11",
    "Gather-1",
    "Split-13",
    "Split-11",
    "Squeeze-11",
    "ReduceSum-11",
    "Clip-11",
    "TopK-10",
    "Slice-11",
]


def named(short: str) -> OperatorName:
    return OperatorName.parse(f"ai.onnx::{short}")


@cache
def cases_of(operator: OperatorName) -> Sequence[Case]:
    return generate_operator(operator, Options(), (), cases_of).cases


def newer_of(operator: OperatorName) -> OperatorName:
    return newer_versions(operator)[0]


def workshop_with_taken(operator: OperatorName, cases: Sequence[Case] | None = None) -> Workshop:
    """The bench of an older version, on which nothing is but what was taken over."""
    workshop, newer = open_workshop(operator, Options()), newer_of(operator)
    take_over(workshop, Newer(load_spec(newer), cases_of(newer) if cases is None else cases))
    return workshop


@pytest.mark.slow
@pytest.mark.parametrize(
    "short",
    [*PAIRS[::4], *(pytest.param(one, marks=pytest.mark.nightly) for at, one in enumerate(PAIRS) if at % 4)],
)
def test_what_is_taken_over_has_the_answers_that_the_reference_gives_to_this_version(short: str) -> None:
    workshop = workshop_with_taken(named(short))
    answered = [digest for digest, each in workshop.cases.items() if each.demand == "answer"]
    assert len(answered) > 20
    for digest in answered:
        case, call = workshop.cases[digest], workshop.calls[digest]
        assert case.id.digest == call.digest(named(short))
        assert not workshop.violations(replace(call))
        anew = expectations_of(workshop.question(call))
        assert [
            [(one.name, one.expected) for one in expectation.outputs] for expectation in case.expectations
        ] == [[(one.name, one.expected) for one in each.outputs] for each in anew]
        for ours, theirs in zip(case.expectations, anew, strict=True):
            assert (ours.readings, ours.behaviours) == (dict(theirs.readings), dict(theirs.behaviours))
            for left, right in zip(ours.outputs, theirs.outputs, strict=True):
                assert (left.allowed is None) == (right.allowed is None)
                if left.allowed is not None and right.allowed is not None:
                    assert np.array_equal(left.allowed, right.allowed)


@pytest.mark.slow
@pytest.mark.parametrize("short", PAIRS)
def test_an_older_version_covers_every_pair_of_its_own_and_every_rule(short: str) -> None:
    operator = named(short)
    alone = open_workshop(operator, Options())
    made = generate_operator(operator, Options(), (), cases_of)
    assert made.facts["coverage"]["uncovered"] == []
    broken = {(each.family, each.constraint) for each in made.cases if each.constraint is not None}
    wanted = {name for name, _, _ in alone.broken_calls}
    assert {name for _, name in broken} == wanted
    assert all(each.operator == operator for each in made.cases)


def test_the_reference_is_not_asked_about_what_a_newer_version_has_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cases = cases_of(named("Split-13"))
    asked: list[Call] = []

    def note(_: Workshop, *given: object) -> None:
        asked.extend(call for call in given if isinstance(call, Call))

    monkeypatch.setattr(Workshop, "make_valid", note)
    assert (
        len(workshop_with_taken(named("Split-11"), [each for each in cases if not each.constraint]).cases)
        > 50
    )
    assert not asked


def test_axes_are_an_input_in_one_version_and_an_attribute_in_another() -> None:
    older, newer = load_spec(named("Squeeze-11")), load_spec(named("Squeeze-13"))
    data = tensor(np.zeros((1, 2, 1), np.float32), "float")
    axes = tensor(np.array([0, -1]), "int64")
    call = call_in(older, newer, Call({}, (("data", data), ("axes", axes))))
    assert call is not None
    assert call.attributes == {"axes": attribute("ints", [0, -1])}
    assert call.inputs == (("data", data),)
    back = call_in(newer, older, call)
    assert back is not None
    assert back.input("axes") == axes
    assert not back.attributes


def test_a_call_with_a_type_or_a_name_that_the_older_version_lacks_is_not_taken() -> None:
    older, newer = load_spec(named("Clip-11")), load_spec(named("Clip-12"))
    whole = tensor(np.zeros(3, np.int8), "int8")
    assert call_in(newer, newer, Call({}, (("input", whole),))) is not None
    assert call_in(older, newer, Call({}, (("input", whole),))) is None
    pool, plain = load_spec(named("AveragePool-10")), load_spec(named("AveragePool-7"))
    given = (("X", tensor(np.zeros((1, 1, 4), np.float32), "float")),)
    ceiled = Call({"kernel_shape": attribute("ints", [2]), "ceil_mode": attribute("int", 1)}, given)
    assert call_in(plain, pool, ceiled) is None
    assert call_in(plain, pool, ceiled.with_attribute("ceil_mode", None)) is not None


def test_nothing_is_taken_where_a_default_is_another() -> None:
    """The axis that is left out is the last one in Hardmax-13 and the second one in Hardmax-11."""
    assert not workshop_with_taken(named("Hardmax-11")).cases
    assert not means_the_same(find_operator(named("Hardmax-11")), named("Hardmax-13"))
    assert means_the_same(find_operator(named("Hardmax-1")), named("Hardmax-11"))


def test_versions_with_references_of_their_own_take_nothing() -> None:
    assert newer_versions(named("Resize-18")) == []
    assert newer_versions(named("Gather-13")) == []
    assert newer_versions(named("Gather-1")) == [named("Gather-11"), named("Gather-13")]


def test_a_damaged_answer_of_the_newer_version_would_be_noticed() -> None:
    """The test of equal answers can fail: an answer that is changed in the newer version stays changed."""
    cases = [each for each in cases_of(named("Gather-11")) if each.demand == "answer"]
    changed = []
    for case in cases:
        output = case.expectations[0].outputs[0]
        zeros = replace(output.expected, array=np.zeros_like(output.expected.array))
        first = replace(case.expectations[0], outputs=(replace(output, expected=zeros),))
        changed.append(replace(case, expectations=(first,)))
    workshop = workshop_with_taken(named("Gather-1"), changed)
    anew = [expectations_of(workshop.question(call)) for call in workshop.calls.values()]
    kept = [each.expectations for each in workshop.cases.values()]
    assert any(a[0].outputs[0].expected != b[0].outputs[0].expected for a, b in zip(anew, kept, strict=True))


def test_an_older_part_is_made_anew_where_the_facts_of_a_newer_version_change(tmp_path: Path) -> None:
    shutil.copytree(room_of(named("Gather-1"), OWN_FOLDER), room_of(named("Gather-1"), tmp_path))
    older, newest = named("Gather-1"), named("Gather-13")
    before = [part_key(operator, Options(), [tmp_path]) for operator in (older, newest)]
    facts = room_of(older, tmp_path) / "imported-11.yaml"
    facts.write_text(facts.read_text(encoding="utf-8") + "\n# read again\n", encoding="utf-8")
    after = [part_key(operator, Options(), [tmp_path]) for operator in (older, newest)]
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_cases_that_are_taken_say_what_they_are_made_of_in_this_version() -> None:
    workshop = workshop_with_taken(named("Gather-1"))
    spec = load_spec(named("Gather-1"))
    documents = {document.key for document in spec.documents}
    for each in workshop.cases.values():
        assert {document for document, _ in each.sources} <= documents
        assert call_of(each).digest(named("Gather-1")) == each.id.digest
    assert coverage(workshop, 2)["covered"] > 0


def test_a_sequence_is_not_taken_where_a_version_has_tensors_alone() -> None:
    """Identity takes sequences from version 14 on."""
    sequence = TensorType(ELEMENT_TYPES["float"])
    call = Call(
        {},
        (("input", tensor([1.0], "float")), ("input", tensor([2.0], "float"))),
        (Slot("input", (0, 1), SequenceType(sequence)),),
    )
    tensors, sequences, newest = (load_spec(named(f"Identity-{each}")) for each in (13, 14, 16))
    assert call_in(sequences, newest, call) is not None
    assert call_in(tensors, sequences, call) is None


@pytest.mark.slow
def test_identity_13_has_no_case_of_a_sequence() -> None:
    cases = cases_of(named("Identity-13"))
    assert cases
    assert not [str(each.id) for each in cases if any(slot.type is not None for slot in each.slots)]
