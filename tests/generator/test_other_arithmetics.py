"""Programs that compute float in less are right by what is derived for them, and planted faults are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.asking.other_arithmetics import NoBound, in_arithmetic
from generator.making.operators.workshop import Options, Workshop, open_workshop
from generator.making.suites.derived_suite import derived_cases
from opcert.vocabulary.arithmetics import FORMATS, Arithmetic
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from tests.generator.declared import newest_of_onnx
from tests.reference.float32_formulas import FAMILIES
from tests.reference.float32_terms import Array, Values
from tests.reference.programs_in_less import ROUNDINGS, STEPS, answers, programs, stepwise

NARROW = [each for each in FORMATS if each != "float32"]
OPERATORS = newest_of_onnx()
_KINDS = {int: "int", float: "float", list: "ints", tuple: "strings"}


@cache
def workshop_of(name: str) -> Workshop:
    return open_workshop(OPERATORS[name], Options())


def case_of(name: str, inputs: Mapping[str, Array], **attributes: Any) -> Case:
    given = {key: attribute(_KINDS[type(each)], each) for key, each in attributes.items()}
    outputs = ("Y",) if name.endswith("Normalization") else None
    call = Call(given, tuple((key, tensor(each)) for key, each in inputs.items()), outputs=outputs)
    return workshop_of(name).make_valid("boundary", "made", call)


def derived(case: Case, arithmetic: Arithmetic) -> Case:
    workshop = workshop_of(case.operator.name)
    return in_arithmetic(workshop.spec, workshop.reference, case, arithmetic)


def verdict(case: Case, got: Array) -> str:
    wanted = case.expectations[0].outputs[0].expected
    return judge(case, Answered((Tensor(wanted.element_type, np.ascontiguousarray(got)),))).verdict


def floats(given: Any) -> Array:
    return np.asarray(given, np.float32)


def numbers(seed: int, *shape: int) -> Array:
    draw = np.random.default_rng(seed)
    return np.asarray(draw.normal(size=shape) * 2.0 ** draw.integers(-3, 4, shape), np.float32)


def positive(seed: int, *shape: int) -> Array:
    return np.abs(numbers(seed, *shape)) + np.float32(0.1)


def calls(seed: int) -> Mapping[str, Case]:
    """One call of each operator of the programs, of numbers of several magnitudes."""
    x = numbers(seed, 3, 7)
    channels = {"scale": positive(seed, 3), "B": numbers(seed + 1, 3), "input_mean": numbers(seed + 2, 3)}
    made: Mapping[str, tuple[Mapping[str, Array], Mapping[str, Any]]] = {
        "MatMul": ({"A": x, "B": numbers(seed + 1, 7, 4)}, {}),
        "Gemm": (
            {"A": x, "B": numbers(seed + 1, 7, 4), "C": numbers(seed + 2, 3, 4)},
            {"alpha": 3.1, "beta": 0.7},
        ),
        "Conv": (
            {"X": numbers(seed, 1, 2, 4, 3), "W": numbers(seed + 1, 2, 2, 2, 2), "B": numbers(seed, 2)},
            {},
        ),
        "Add": ({"A": x, "B": numbers(seed + 1, 3, 7)}, {}),
        "Mul": ({"A": x, "B": numbers(seed + 1, 3, 7)}, {}),
        "Div": ({"A": x, "B": positive(seed + 1, 3, 7)}, {}),
        "ReduceSum": ({"data": x, "axes": np.array([1])}, {}),
        "ReduceMean": ({"data": x, "axes": np.array([1])}, {}),
        "ReduceL2": ({"data": x * np.float32(64), "axes": np.array([1])}, {}),
        "ReduceProd": ({"data": positive(seed, 3, 4), "axes": np.array([1])}, {}),
        "Softmax": ({"input": x}, {}),
        "LogSoftmax": ({"input": x}, {}),
        "LayerNormalization": ({"X": x, "Scale": numbers(seed + 1, 7), "B": numbers(seed + 2, 7)}, {}),
        "BatchNormalization": (
            {"X": numbers(seed, 2, 3, 2), **channels, "input_var": positive(seed + 3, 3)},
            {},
        ),
        "Sigmoid": ({"X": x * np.float32(4)}, {}),
        "Swish": ({"X": x * np.float32(4)}, {"alpha": 1.3}),
        "Tanh": ({"input": x}, {}),
        "Exp": ({"input": x}, {}),
        "Log": ({"input": positive(seed, 3, 7)}, {}),
        "Relu": ({"X": x}, {}),
        "Neg": ({"X": x}, {}),
        "Floor": ({"X": x}, {}),
        "Transpose": ({"data": x}, {"perm": [1, 0]}),
    }
    return {name: case_of(name, inputs, **more) for name, (inputs, more) in made.items()}


@cache
def some_calls() -> list[tuple[str, Case]]:
    return list(calls(1).items())


@pytest.mark.parametrize("form", NARROW)
def test_programs_of_a_format_are_right_under_it_and_many_are_wrong_in_float32(form: str) -> None:
    wrong = 0
    with np.errstate(all="ignore"):
        for name, case in some_calls():
            values, whole, stepped = Values.of(case), derived(case, Arithmetic(form)), None
            shape = case.expectations[0].outputs[0].expected.shape
            for how, program in programs(form).items():
                made = stepwise(name, values, form) if name in STEPS else answers(name, values, program)
                if how == "same" and stepped is None:
                    stepped = derived(case, Arithmetic(form, "same"))
                allowed = stepped if how == "same" and stepped is not None else whole
                for number, got in enumerate(made):
                    told = f"{case.operator} in {form}, {how}, program {number}"
                    assert verdict(allowed, got.reshape(shape)) == "pass", told
                    wrong += verdict(case, got.reshape(shape)) != "pass"
    assert wrong > 25


@pytest.mark.parametrize("arithmetic", [*map(Arithmetic, NARROW), Arithmetic("float32", "same", "flushed")])
def test_what_is_right_in_float32_is_right_in_less(arithmetic: Arithmetic) -> None:
    for name, case in some_calls():
        formula = next((formulas[name] for formulas in FAMILIES.values() if name in formulas), None)
        values, whole = Values.of(case), derived(case, arithmetic)
        shape = case.expectations[0].outputs[0].expected.shape
        expected = case.expectations[0].outputs[0].expected.array
        for got in [expected, *(() if formula is None else formula.honest(values))]:
            assert verdict(whole, got.reshape(shape)) == "pass", case.operator


@pytest.mark.parametrize(("form", "length"), [("float16", 300), ("bfloat16", 60)])
def test_sums_in_the_format_are_wrong_where_they_must_be_in_float32(form: str, length: int) -> None:
    """Whole numbers, which the format holds, their products as well: only the sums are rounded."""
    draw = np.random.default_rng(5)
    a, b = (draw.integers(1, 15, shape).astype(np.float32) for shape in ((2, length), (length, 2)))
    case = case_of("MatMul", {"A": a, "B": b})
    programs_of = programs(form)
    wide, narrow = (
        next(answers("MatMul", Values.of(case), programs_of[how])).reshape(2, 2)
        for how in ("result rounded", "same")
    )
    plain, same = derived(case, Arithmetic(form)), derived(case, Arithmetic(form, "same"))
    assert [verdict(each, wide) for each in (case, plain, same)] == ["mismatch", "pass", "pass"]
    assert [verdict(each, narrow) for each in (case, plain, same)] == ["mismatch", "mismatch", "pass"]


def _whole(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def _softmax(x: Array, axis: int) -> Array:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True), np.float32)


A, B, C = _whole(1, 5, 5), _whole(2, 5, 5), _whole(3, 5)
FAULTS: Mapping[str, tuple[str, Mapping[str, Array], Callable[[], Array]]] = {
    "transposed": ("MatMul", {"A": A, "B": B}, lambda: (A @ B).T),
    "operands exchanged": ("MatMul", {"A": A, "B": B}, lambda: B @ A),
    "the last term left out": ("MatMul", {"A": A, "B": B}, lambda: A[:, :4] @ B[:4]),
    "a hundredth more": ("MatMul", {"A": A, "B": B}, lambda: (A @ B) * np.float32(1.01)),
    "the bias left out": ("Gemm", {"A": A, "B": B, "C": C}, lambda: A @ B),
    "the bias along the other axis": ("Gemm", {"A": A, "B": B, "C": C}, lambda: A @ B + C[:, None]),
    "the other axis": ("ReduceSum", {"data": A, "axes": np.array([1])}, lambda: A.sum(axis=0)[:, None]),
    "a sum for a mean": ("ReduceMean", {"data": A, "axes": np.array([1])}, lambda: A.sum(axis=1)[:, None]),
    "shares along the other axis": ("Softmax", {"input": A}, lambda: _softmax(A, 0)),
    "the sign lost": ("Add", {"A": A, "B": B}, lambda: np.abs(A + B)),
    "negative parts kept": ("Relu", {"X": A}, lambda: A),
    "moved by one": ("Transpose", {"data": A}, lambda: np.roll(A.T, 1, axis=0)),
}


@pytest.mark.parametrize("sums", ["float32", "same"])
@pytest.mark.parametrize("form", NARROW)
def test_planted_faults_are_wrong_under_every_arithmetic(form: str, sums: Any) -> None:
    for fault, (name, inputs, wrong) in FAULTS.items():
        case = derived(case_of(name, inputs), Arithmetic(form, sums, "flushed"))
        assert verdict(case, wrong().astype(np.float32)) == "mismatch", fault


def test_beyond_the_range_of_a_format_an_infinity_is_right_and_nothing_else_is() -> None:
    case = case_of("Mul", {"A": floats([300, -300]), "B": floats([300, 300])})
    half, brain = derived(case, Arithmetic("float16")), derived(case, Arithmetic("bfloat16"))
    infinite = floats([np.inf, -np.inf])
    assert (verdict(half, infinite), verdict(brain, infinite), verdict(case, infinite)) == (
        "pass",
        "mismatch",
        "mismatch",
    )
    assert verdict(half, floats([90000, -90000])) == "pass"
    for wrong in ([-np.inf, -np.inf], [np.nan, -90000], [65504, -90000]):
        assert verdict(half, floats(wrong)) == "mismatch"
    beyond = derived(case_of("Reciprocal", {"X": floats([1e6, 2])}), Arithmetic("float16"))
    assert verdict(beyond, floats([0, 0.5])) == "pass"
    assert verdict(beyond, floats([0, 0.51])) == "mismatch"


def test_operands_that_are_alike_once_they_are_rounded_may_be_taken_for_each_other() -> None:
    case = case_of("ArgMax", {"data": floats([1, 1 + 2**-12])})
    half, tiny = derived(case, Arithmetic("float16")), derived(case, Arithmetic("bf16x3"))
    first, second = (np.array([place], np.int64) for place in (0, 1))
    assert [verdict(each, second) for each in (case, half, tiny)] == ["pass"] * 3
    assert [verdict(each, first) for each in (case, half, tiny)] == ["mismatch", "pass", "mismatch"]


def test_small_numbers_are_zero_where_they_are_flushed_and_else_not() -> None:
    case = case_of("Mul", {"A": floats([2**-9, 1]), "B": floats([2**-9, 1])})
    kept, flushed = (derived(case, Arithmetic("float16", subnormals=each)) for each in ("keep", "flushed"))
    zero = floats([0, 1])
    assert [verdict(each, zero) for each in (case, kept, flushed)] == ["mismatch", "mismatch", "pass"]
    assert verdict(flushed, floats([2**-12, 1])) == "mismatch"


def test_what_is_not_derived_is_left_out_and_said() -> None:
    resize = case_of(
        "Resize",
        {"X": numbers(1, 1, 1, 3, 3), "roi": np.zeros(0, np.float32), "scales": floats([1, 1, 1.7, 2])},
    )
    with pytest.raises(NoBound, match="coordinates and weights in float32 alone"):
        derived(resize, Arithmetic("float16"))
    found, reasons = derived_cases(resize.operator, [resize], Arithmetic("float16"))
    assert found == []
    assert list(reasons.values()) == [1]


def test_an_operator_that_another_one_computes_is_bounded_by_its_reference() -> None:
    workshop = open_workshop(OperatorName.parse("org.tensorflow::MatMul-1"), Options())
    given = ("a", tensor(numbers(1, 3, 7))), ("b", tensor(numbers(2, 7, 4)))
    case = workshop.make_valid("boundary", "made", Call({}, given, outputs=None))
    found, reasons = derived_cases(case.operator, [case], Arithmetic("float16"))
    assert reasons == {}
    halves = [each.array.astype(np.float16).astype(np.float32) for _, each in given]
    got = halves[0] @ halves[1]
    assert [verdict(each, got) for each in (case, *found)] == ["mismatch", "pass"]


def test_cases_without_floats_stay_what_they_are() -> None:
    case = case_of("Add", {"A": np.array([1, 2]), "B": np.array([3, 4])})
    assert derived(case, Arithmetic("bfloat16", "same", "flushed")) is case
    given = case_of("Add", {"A": floats([1]), "B": floats([3])})
    assert derived(given, Arithmetic()) is given


@pytest.mark.parametrize("form", NARROW)
def test_tensors_are_rounded_as_an_independent_program_rounds_them(form: str) -> None:
    draw = np.random.default_rng(3)
    given = np.asarray(draw.normal(size=4000) * 2.0 ** draw.integers(-30, 30, 4000), np.float32)
    given[:4] = np.inf, -np.inf, np.nan, -0.0
    found = Arithmetic(form).rounded(tensor(given))
    assert found is not None
    with np.errstate(all="ignore"):
        wanted = ROUNDINGS[form](given)
    np.testing.assert_array_equal(found.array, wanted)
    assert np.signbit(found.array[3])


@pytest.mark.parametrize(
    "text",
    [
        "float61",
        "float16,sums=same",
        "tf32,accumulation",
        "tf32,,",
        "",
        "tf32,functions=fast",
        "float32,requantise=ties",
    ],
)
def test_an_arithmetic_that_is_none_is_told(text: str) -> None:
    with pytest.raises(UserError, match="arithmetic"):
        Arithmetic.parse(text)


def test_an_arithmetic_is_written_as_it_is_read() -> None:
    relaxed = "float32,functions=relaxed,requantise=fixed-point"
    for text in ("float16", "bfloat16,accumulation=same", "float32,subnormals=flushed", relaxed):
        assert str(Arithmetic.parse(text)) == text
