"""Demands that are no tensors of values, on runtimes that meet them and on ones that are wrong on purpose."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conformance.judging.judge import Judgement, judge
from conformance.judging.responses import Answered, ReturnedOther
from conformance.models.case_models import build_model
from conformance.recording.outputs import describe_output, restore_output
from conformance.recording.records import read_record
from conformance.recording.rows import Result
from conformance.running.harness import run_suite
from conformance.running.requests import Offer
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case, Expectation, ExpectedOutput, Unordered, call_digest
from conformance.suite.distributions import Distributed
from conformance.suite.properties import HasShape, HasType, InRange, Property, SameAgain
from conformance.suite.suites import open_suite
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.slots import Slot
from opcert.vocabulary.tensors import Tensor, tensor
from opcert.vocabulary.value_types import parse_value_type
from tests.conformance.samples import FAKES, make_suite
from tests.conformance.structured_cases import FORMS, A, random

RATE = 1e-9
SEEDS = 200


def judged(case: Case, *outputs: Tensor | ReturnedOther) -> Judgement:
    return judge(case, Answered(outputs))


def floats(values: object, kind: str = "float") -> Tensor:
    return tensor(np.asarray(values, np.dtype(ELEMENT_TYPES[kind].storage)), kind)


# Type, shape, range


@pytest.mark.parametrize(
    ("demand", "right", "wrong"),
    [
        (HasType("output", ELEMENT_TYPES["float"]), floats([1]), floats([1], "double")),
        (HasShape("output", (2, None)), floats([[1], [2]]), floats([[1]])),
        (HasShape("output", (2, None)), floats([[], []]), floats([1, 2])),
        (HasShape("output", ()), floats(1), floats([1])),
        (InRange("output", 0, 1), floats([0, 0.5, 1]), floats([0, 1.0000001])),
        (InRange("output", 0, 1, high_open=True), floats([0, 0.5]), floats([0, 1])),
        (InRange("output", 0, 1, low_open=True), floats([1]), floats([0])),
        (InRange("output", 0), floats([1e30, math.inf]), floats([math.nan])),
        (InRange("output", 0, 4), floats([0, 4], "int64"), floats([5], "int64")),
        (InRange("output", 0, 4), floats([0, 4], "int64"), tensor(np.array(["1"], object))),
    ],
)
def test_what_an_output_must_be(demand: Property, right: Tensor, wrong: Tensor) -> None:
    case = replace(random(), properties=(demand,))
    assert judged(case, right).verdict == "pass"
    found = judged(case, wrong)
    assert (found.verdict, found.difference) == ("mismatch", "property")
    assert "output" in (found.reason or "")


def test_an_answer_of_another_number_of_outputs_meets_nothing() -> None:
    case = random()
    assert judged(case, A, A).reason == "2 outputs instead of 1"
    assert judged(case).verdict == "mismatch"
    assert judged(case, ReturnedOther("list", "[1]")).reason == "output output is no tensor but a list: [1]"


def test_values_and_properties_must_both_hold() -> None:
    expectation = Expectation((ExpectedOutput("output", A),))
    case = replace(random(), expectations=(expectation,))
    assert judged(case, A).verdict == "pass"
    assert judged(case, floats([1, 3])).difference == "value"
    assert judged(case, floats([1, 2], "double")).difference == "property"


# Distributions, with draws by numpy as the runtime


def drawn(family: str, seed: int, count: int = 2000) -> np.ndarray:
    rng = np.random.default_rng(seed)
    match family:
        case "uniform":
            return rng.uniform(-1, 3, count)
        case "normal":
            return rng.normal(2, 0.5, count)
        case "bernoulli":
            return rng.uniform(0, 1, count) < 0.3
    return rng.choice(4, count, p=[0.1, 0.2, 0.3, 0.4])


FAMILIES = {
    "uniform": (-1.0, 3.0),
    "normal": (2.0, 0.5),
    "bernoulli": (0.3,),
    "categorical": (0.1, 0.2, 0.3, 0.4),
}


def demand_of(family: str, parameters: Sequence[float], rate: float = RATE) -> Distributed:
    return Distributed("output", family, tuple(parameters), rate)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["float", "double", "float16"])
@pytest.mark.parametrize("family", FAMILIES)
def test_right_draws_pass_however_the_type_rounds_them(family: str, kind: str) -> None:
    element_type = "int64" if family == "categorical" else kind
    demand = demand_of(family, FAMILIES[family])
    refused = [seed for seed in range(SEEDS) if demand.violation(floats(drawn(family, seed), element_type))]
    assert refused == []


def test_false_alarms_are_no_more_than_stated() -> None:
    """At a rate that can be counted; the bound is above the true rate."""
    demand = demand_of("uniform", FAMILIES["uniform"], 0.01)
    refused = sum(
        demand.violation(floats(drawn("uniform", seed, 200), "double")) is not None for seed in range(2000)
    )
    assert refused <= 40


@pytest.mark.parametrize(
    ("family", "parameters", "wrong"),
    [
        ("uniform", (-1.0, 3.0), lambda rng: rng.uniform(-1, 2.7, 2000)),
        ("uniform", (-1.0, 3.0), lambda rng: rng.normal(1, 1, 2000)),
        ("uniform", (-1.0, 3.0), lambda rng: np.zeros(2000)),
        ("normal", (2.0, 0.5), lambda rng: rng.normal(2.1, 0.5, 2000)),
        ("normal", (2.0, 0.5), lambda rng: rng.normal(2, 0.25, 2000)),
        ("normal", (2.0, 0.5), lambda rng: rng.uniform(1, 3, 2000)),
        ("normal", (2.0, 0.5), lambda rng: np.full(2000, np.nan)),
        ("bernoulli", (0.3,), lambda rng: rng.uniform(0, 1, 2000) < 0.5),
        ("bernoulli", (0.0, 1.0, 0.5), lambda rng: np.array([1, 1, 0])),
        ("categorical", (0.1, 0.2, 0.3, 0.4), lambda rng: rng.choice(4, 2000)),
        ("categorical", (0.5, 0.0, 0.5), lambda rng: np.array([0, 2, 1])),
        ("categorical", (0.5, 0.5), lambda rng: np.array([0, 1, 2])),
    ],
)
def test_wrong_draws_are_refused(family: str, parameters: Sequence[float], wrong: object) -> None:
    values = wrong(np.random.default_rng(1))  # type: ignore[operator]
    element_type = "int64" if family == "categorical" else "double"
    assert demand_of(family, parameters).violation(floats(values, element_type)) is not None


def test_each_element_has_its_own_probability() -> None:
    rng = np.random.default_rng(3)
    chances = [0.1, 0.9] * 1000
    demand = demand_of("bernoulli", chances)
    assert demand.violation(floats(rng.uniform(0, 1, 2000) < np.array(chances))) is None
    ignored = floats(rng.uniform(0, 1, 2000) < 0.5)
    assert "likely against unlikely" in (demand.violation(ignored) or "")
    assert "instead of 2000" in (demand.violation(floats([1.0, 0.0])) or "")


# Orders left open


def test_an_open_order_is_any_but_joint_in_its_outputs() -> None:
    case = FORMS["unsorted"]
    values, indices = (output.expected for output in case.expectations[0].outputs)
    assert judged(case, values, indices).verdict == "pass"
    other = judged(case, floats([2, 3]), floats([2, 0], "int64"))
    assert (other.verdict, other.matched) == ("pass", (None, None))
    torn = judged(case, floats([2, 3]), floats([0, 2], "int64"))
    assert torn.verdict == "mismatch"
    assert judged(case, floats([2, 2]), floats([2, 2], "int64")).verdict == "mismatch"
    assert judged(case, floats([3, 1]), floats([0, 1], "int64")).verdict == "mismatch"
    assert judged(case, floats([3]), floats([0], "int64")).difference == "shape"


def test_slices_change_places_and_lanes_for_themselves() -> None:
    table = floats([[1, 2], [3, 4], [1, 2]])
    told = (ExpectedOutput("output", table),)
    by_slice = Expectation(told, unordered=(Unordered(("output",), 0),))
    slices = replace(FORMS["constant"], expectations=(by_slice,))
    assert judged(slices, floats([[1, 2], [1, 2], [3, 4]])).verdict == "pass"
    assert judged(slices, floats([[1, 4], [3, 2], [1, 2]])).verdict == "mismatch"
    by_lane = Expectation(told, unordered=(Unordered(("output",), 0, True),))
    lanes = replace(FORMS["constant"], expectations=(by_lane,))
    assert judged(lanes, floats([[3, 2], [1, 2], [1, 4]])).verdict == "pass"
    assert judged(lanes, floats([[2, 1], [3, 4], [1, 2]])).verdict == "mismatch"


def test_an_open_order_of_nothing_is_that_of_nothing() -> None:
    empty = floats(np.zeros((0, 3)))
    expectation = Expectation((ExpectedOutput("output", empty),), unordered=(Unordered(("output",), 0),))
    assert judged(replace(FORMS["constant"], expectations=(expectation,)), empty).verdict == "pass"


# Through the harness


def node(name: str, do: str, output: str | None = None, *, seed: int | None = None, **more: object) -> Case:
    operator = OperatorName("org.example", name, 1)
    attributes = {"do": attribute("string", do)} | ({} if seed is None else {"seed": attribute("int", seed)})
    case = replace(
        random(),
        id=CaseId(operator, "cover", do, call_digest(operator, attributes, ())),
        attributes=attributes,
        properties=(),
        output_types={} if output is None else {"output": parse_value_type(output)},
        **more,  # type: ignore[arg-type]
    )
    digest = call_digest(operator, attributes, case.inputs, None, case.slots)
    return replace(case, id=CaseId(operator, "cover", do, digest))


def holding(*expected: Tensor) -> tuple[Expectation, ...]:
    return (Expectation(tuple(ExpectedOutput(f"part_{at}", each) for at, each in enumerate(expected))),)


def run(folder: Path, cases: Sequence[Case], **options: object) -> dict[str, Result]:
    runtime = f"exec:{sys.executable} {FAKES / 'values_worker.py'}"
    with open_suite(make_suite(folder, cases)) as suite:
        settings = RunOptions(**options)  # type: ignore[arg-type]
        record = run_suite(suite, find_runtime(runtime), folder / "run.jsonl", settings)
    return {result.case.rpartition("/")[2].rpartition("-")[0]: result for result in record.results}


def count(number: int) -> Tensor:
    return tensor(np.array(number, np.int64))


def values_cases() -> list[Case]:
    """Calls of the fake that returns sequences, maps and optionals: right ones, and others."""
    two = holding(count(2), floats([1, 2]), floats([3]))
    pairs = holding(tensor(np.array(["a", "b"], object)), floats([1, 2]))
    some = holding(tensor(np.array(True)), floats([1, 2]))
    told = [
        ("seq(tensor(float))", two, ("sequence", "short_sequence", "swapped_sequence", "list")),
        ("map(string,tensor(float))", pairs, ("map", "other_map")),
        ("optional(tensor(float))", some, ("optional", "empty_optional")),
    ]
    return [node("Make", do, kind, expectations=expected) for kind, expected, deeds in told for do in deeds]


def test_sequences_maps_and_optionals_are_told_from_wrong_ones(tmp_path: Path) -> None:
    found = run(tmp_path, values_cases())
    verdicts = {name: result.verdict for name, result in found.items()}
    right = {"sequence", "map", "optional"}
    assert {name for name, verdict in verdicts.items() if verdict == "pass"} == right
    assert {verdicts[name] for name in set(verdicts) - right} == {"mismatch"}
    assert found["short_sequence"].reason == "output part_0 is 1 instead of 2"
    assert found["empty_optional"].reason == "output part_0 is False instead of True"


WRONG_VALUES = {
    # What comes, what was to come, and what is said of it.
    ("long_sequence", "two"): "output part_0 is 3 instead of 2",
    (
        "mixed_sequence",
        "two",
    ): "output output is no sequence but a sequence of double and float: one_element_type",
    ("none", "no"): "output output is no sequence but a NoneType: None",
    ("zero", "no"): "output output is no sequence but a tensor: int64 []",
    ("empty_optional", "no"): "output output is no sequence but an optional: of nothing",
    ("map", "two"): "output output is no sequence but a map: float [2]",
    ("short_map", "pairs"): "output part_0 is [1] instead of [2]",
    ("renamed_map", "pairs"): "1 of 4 elements wrong",
    ("sequence", "pairs"): "output output is no map but a sequence: of 2",
    ("false", "nothing"): "output output is no optional but a tensor: bool []",
    ("optional", "nothing"): "output part_0 is True instead of False",
    (
        "optional_of_an_optional",
        "some",
    ): "output output is no optional but an optional of an optional: optional_of_a",
    ("optional_sequence", "some"): "output output is no optional but a sequence: of 1",
    ("sequence", "plain"): "output part_0 is no tensor but a sequence: of 2",
    ("empty_optional", "plain"): "output part_0 is no tensor but an optional: of nothing",
}


def test_values_of_another_kind_are_told_in_words(tmp_path: Path) -> None:
    """A tensor that looks like the length of an empty sequence is none, and neither is None."""
    kinds = {"two": "seq(tensor(float))", "no": "seq(tensor(float))", "pairs": "map(string,tensor(float))"}
    kinds |= {"some": "optional(tensor(float))", "nothing": "optional(tensor(float))"}
    expected = {
        "two": holding(count(2), floats([1, 2]), floats([3])),
        "no": holding(count(0)),
        "pairs": holding(tensor(np.array(["a", "b"], object)), floats([1, 2])),
        "some": holding(tensor(np.array(True)), floats([1, 2])),
        "nothing": holding(tensor(np.array(False))),
        "plain": holding(count(2)),
    }
    wrong = [node("Make", do, kinds.get(kind), expectations=expected[kind]) for do, kind in WRONG_VALUES]
    names = [f"{case.id.word}_{kind}" for case, (_, kind) in zip(wrong, WRONG_VALUES, strict=True)]
    cases = [replace(case, id=replace(case.id, word=name)) for case, name in zip(wrong, names, strict=True)]
    right = [
        node("Make", "empty_sequence", "seq(tensor(float))", expectations=holding(count(0))),
        node("Make", "empty_optional", "optional(tensor(float))", expectations=expected["nothing"]),
    ]
    found = run(tmp_path, [*cases, *right])
    for name, words in zip(names, WRONG_VALUES.values(), strict=True):
        assert found[name].verdict == "mismatch", name
        assert (found[name].reason or "").startswith(words), (name, found[name].reason)
    assert [found[case.id.word or ""].verdict for case in right] == ["pass", "pass"]


def test_values_go_to_the_runtime_as_they_are_made(tmp_path: Path) -> None:
    keys, values = tensor(np.array(["b", "a"], object)), floats([2, 1])
    kind = "map(string,tensor(float))"
    echo = node(
        "Make", "echo", kind,
        inputs=(("X", keys), ("X", values)),
        slots=(Slot("X", (0, 1), parse_value_type(kind)),),
        expectations=holding(tensor(np.array(["a", "b"], object)), floats([1, 2])),
    )  # fmt: skip
    assert run(tmp_path, [echo])["echo"].verdict == "pass"


DRAWS = (
    HasType("output", ELEMENT_TYPES["float"]),
    HasShape("output", (40, 50)),
    InRange("output", 0, 1, high_open=True),
    Distributed("output", "uniform", (0.0, 1.0), RATE),
)


def test_random_answers_are_held_against_what_is_demanded(tmp_path: Path) -> None:
    wrong = ("biased", "outside", "nan", "double", "short", "constant", "two")
    cases = [replace(node("Draw", do), properties=DRAWS) for do in ("honest", *wrong)]
    found = run(tmp_path, cases, repeat=2)
    assert {name: result.verdict for name, result in found.items()} == {
        "honest": "pass", **dict.fromkeys(wrong, "mismatch"),
    }  # fmt: skip
    record = read_record(tmp_path / "run.jsonl")
    assert record.footer is not None
    assert record.footer["faults"] == []  # two draws of an honest runtime differ, and are right


def test_a_seed_decides_the_answer(tmp_path: Path) -> None:
    properties = (*DRAWS, SameAgain())
    cases = [replace(node("Draw", do, seed=5), properties=properties) for do in ("honest", "unseeded")]
    found = run(tmp_path, cases)
    assert found["honest"].verdict == "pass"
    assert found["unseeded"].reason == "a second run with the same seed returns another output output"
    assert len(found["honest"].outputs) == 2


def test_a_runtime_that_offers_no_maps_is_not_asked() -> None:
    offer = Offer("some", "1", {"*": "onnx", "org.example": "node"}, ("inputs",), None)
    for name in ("map", "maps"):
        told = offer.refusal(FORMS[name])
        assert told is not None
        assert "does not offer values of the kind map" in told.reason
    assert offer.refusal(FORMS["sequence_insert"]) is None  # nodes of ONNX make it of tensors
    told = offer.refusal(node("Make", "sequence", "seq(tensor(float))"))
    assert told is not None
    assert replace(offer, values=frozenset({"map", "sequence"})).refusal(FORMS["maps"]) is None


@pytest.mark.parametrize("form", ["inputs", "initializers", "dynamic", "strided"])
@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_a_model_that_the_checker_takes(name: str, form: str) -> None:
    import onnx

    model = onnx.ModelProto.FromString(build_model(FORMS[name], form))  # type: ignore[arg-type]
    if name != "map":
        onnx.checker.check_model(model)


def test_a_case_with_a_seed_begins_anew_though_the_last_one_had_its_model(tmp_path: Path) -> None:
    """Two cases of one model that differ in their inputs: the generator has gone on after the first."""
    first = replace(node("Draw", "honest", seed=5), properties=(*DRAWS, SameAgain()))
    inputs = (("X", floats([1, 2])),)
    cases = [
        replace(
            first,
            id=CaseId(
                first.operator, "cover", word, call_digest(first.operator, first.attributes, given, None)
            ),
            inputs=given,
        )
        for word, given in (("one", inputs), ("two", (("X", floats([3, 4])),)))
    ]
    found = run(tmp_path, cases)
    assert {name: result.verdict for name, result in found.items()} == {"one": "pass", "two": "pass"}


def test_outputs_of_a_second_run_that_equal_what_is_expected_are_restored(tmp_path: Path) -> None:
    case = replace(
        random(), expectations=(Expectation((ExpectedOutput("output", A),)),), properties=(SameAgain(),)
    )
    judgement = judged(case, A, A)
    assert judgement.matched == (0, 0)
    entries = [describe_output(A, number) for number in judgement.matched]
    record = tmp_path / "run.jsonl"
    assert [restore_output(entry, place, case, record) for place, entry in enumerate(entries)] == [A, A]
    with pytest.raises(UserError, match="damaged"):
        restore_output(entries[0], 2, case, record)
