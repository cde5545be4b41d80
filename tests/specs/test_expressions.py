"""The expression language: what it computes, what it refuses, and how constraints are checked."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from specs.files.library import load_imported
from specs.language.expressions import EvaluationError, Operand, parse
from specs.model.call_scopes import CallScope, operand_of
from specs.model.domain import check_constraints
from specs.model.spec import Constraint, Origin, Spec

X = Operand("float", (2, 3, 4), list(range(24)))
SCALES = Operand("float", (3,), [1.0, 0.5, 2.0])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("rank(X)", 3),
        ("shape(X)[-1]", 4),
        ("len(scales) == rank(X)", True),
        ("all(v > 0 for v in scales)", True),
        ("[(a + rank(X)) % rank(X) for a in axes] if present(axes) else range(rank(X))", [2, 0]),
        ("present(sizes)", False),
        ("present(scales) != present(sizes)", True),
        ("len(set(axes)) == len(axes)", True),
        ("-3 <= min(axes) <= max(axes) < 3", True),
        ("sum(values(scales))", 3.5),
        ("prod(shape(X))", 24),
        ("[floor(e * s) for e, s in zip(shape(X), scales)]", [2, 1, 8]),
        ("mode in ['nearest', 'linear'] and not mode == 'cubic'", True),
        ("element_type(X) == 'float'", True),
        ("max([v for v in scales if v > 9], default=7)", 7),
        ("sorted(axes)[0:1]", [-1]),
        ("1e-3 < 2 ** -1", True),
        ("[2 ** -1, 1.5 ** 2, 4 ** 2.0, 3 ** 40]", [0.5, 2.25, 16.0, 12157665459056928801]),
        ("sum([0.1, 0.2, 0.3, -0.6])", 0.1 + 0.2 + 0.3 - 0.6),
        ("{1, 2} == set([2, 1, 1])", True),
        ("[i * v for i, v in enumerate(axes)]", [0, 0]),
        ("ceil(7 / 2) // 2 % 5 - abs(-1)", 1),
        ("sliced([4], [-9], [-9], None, [-1])", [1]),
        ("sliced([4, 0], [9, -9], [-9, -9], [1, 0], [-2, -3])", [1, 0]),
    ],
)
def test_values(text: str, value: object) -> None:
    names = {"X": X, "scales": SCALES, "sizes": None, "axes": [-1, 0], "mode": "nearest"}
    assert parse(text).evaluate(names) == value


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "x.__class__",
        "(lambda: 1)()",
        "f'{x}'",
        "open('f')",
        "[y := 1]",
        "print(1)",
        "max(1, 2, key=len)",
        "len(*x)",
        "{1: 2}",
        "b'bytes'",
        "1j",
        "...",
        "not an expression",
        "",
        "(" * 5000,
        "1" * 20_000,
        "await x",
        "x if y",
        "[z for x.y in z]",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(UserError):
        parse(text)


@pytest.mark.parametrize(
    "text",
    ["1 / 0", "shape(X)[9]", "rank(sizes)", "unknown", "len(sizes)", "2 ** 10 ** 9", "[0] * 10 ** 9",
     "range(10 ** 9)", "sum(1 for a in range(10 ** 6) for b in range(10 ** 6))", "'a' < 1", "min([])",
     "2 ** 0.5", "1e300 ** 2", "[1] ** 2", "'3' ** 2", "1.1 ** 1000", "0 ** -1"],
)  # fmt: skip
def test_no_value(text: str) -> None:
    with pytest.raises(EvaluationError):
        parse(text).evaluate({"X": X, "sizes": None})


def test_an_input_may_have_a_function_s_name() -> None:
    expression = parse("rank(shape) == 1 and len(shape) == n")
    assert expression.names == {"shape", "n"}
    assert expression.evaluate({"shape": SCALES, "n": 3}) is True


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("else", 5),
        ("len(lambda) + else", 8),
        ("values(lambda)[0] if else == 5 else else", 1.0),
        ("[each + for for each in lambda if not each == 0.5]", [7.0, 8.0]),
        ("'a else b' if else in [else] and not False else None", "a else b"),
    ],
)
def test_an_input_may_have_the_name_of_a_keyword(text: str, value: object) -> None:
    names = {"lambda": SCALES, "else": 5, "for": 6}
    assert parse(text).evaluate(names) == value
    assert parse(ast.unparse(parse(text).tree)).evaluate(names) == value


@pytest.mark.parametrize(
    "text", ["1 if 2 else", "else else 1", "1 else 2", "lambda lambda", "(else", "else."]
)
def test_a_keyword_is_no_name_where_no_operand_is_due(text: str) -> None:
    with pytest.raises(UserError, match="not an expression"):
        parse(text)


def test_free_names_leave_out_loop_variables() -> None:
    expression = parse("[a + r for a, b in zip(axes, other) if b > limit]")
    assert expression.names == {"axes", "r", "other", "limit"}


def test_definitions_are_lazy_and_may_not_refer_to_themselves() -> None:
    scope = CallScope({"n": 3}, {"double": "n * 2", "broken": "1 / 0", "loop": "loop + 1"})
    assert parse("double + n").evaluate(scope) == 9
    with pytest.raises(EvaluationError):
        parse("broken").evaluate(scope)
    with pytest.raises(EvaluationError, match="itself"):
        parse("loop").evaluate(scope)


@given(st.integers(-50, 50), st.integers(-50, 50), st.sampled_from(["+", "-", "*", "<", "<=", "==", "!="]))
def test_arithmetic_is_python_s(left: int, right: int, sign: str) -> None:
    expected: dict[str, Any] = {"+": left + right, "-": left - right, "*": left * right, "<": left < right,
                                "<=": left <= right, "==": left == right, "!=": left != right}  # fmt: skip
    assert parse(f"({left}) {sign} ({right})").evaluate({}) == expected[sign]


def test_bfloat16_is_decoded() -> None:
    found = operand_of(tensor([0x3F80, 0xC000], "bfloat16"))
    assert found is not None
    assert list(found) == [1.0, -2.0]


def _rule(name: str, require: str, when: str | None = None) -> Constraint:
    return Constraint(name, when, require, "undefined", None, None, Origin("added", why="a test"))


@pytest.fixture
def resize() -> Spec:
    spec = load_imported(OperatorName.parse("ai.onnx::Resize-18"))
    rules = (
        _rule("xor", "present(scales) != present(sizes)"),
        _rule("length", "len(scales) == n", "present(scales)"),
        _rule("range", "all(-rank(X) <= a < rank(X) for a in axes)", "present(axes)"),
        _rule("positive", "all(v > 0 for v in scales)", "present(scales)"),
        _rule("unit", "shape(X)[axes[0]] > 0", "present(axes)"),
    )
    return replace(spec, let={"n": "len(axes) if present(axes) else rank(X)"}, constraints=rules)


def test_constraints_of_concrete_calls(resize: Spec) -> None:
    data = tensor([[1.0, 2.0]], "float")
    scales = tensor([1.0, 2.0], "float")
    assert check_constraints(resize, {}, {"X": data, "scales": scales}) == []
    both = check_constraints(
        resize, {}, {"X": data, "scales": tensor([1.0, -2.0, 1.0], "float"), "sizes": tensor([1, 2], "int64")}
    )
    assert [violation.id for violation in both] == ["xor", "length", "positive"]


def test_a_rule_without_a_value_follows_from_the_violated_one(resize: Spec) -> None:
    data, scales = tensor([[1.0, 2.0]], "float"), tensor([1.0], "float")
    found = check_constraints(resize, {"axes": attribute("ints", [7])}, {"X": data, "scales": scales})
    assert [violation.id for violation in found] == ["range"]
    alone = replace(resize, constraints=resize.constraints[-1:])
    with pytest.raises(EvaluationError, match="unit"):
        check_constraints(alone, {"axes": [7]}, {"X": data, "scales": scales})


def test_nested_loops_see_the_variables_of_those_around_them_and_nothing_else() -> None:
    names = {"axes": [1, 2], "r": 10}
    text = "[[a + b * r for b in axes if b >= a] for a in axes]"
    assert parse(text).evaluate(names) == [[11, 21], [22]]
    assert parse("[a * b for a in axes for b in axes if a != b]").evaluate(names) == [2, 2]
    assert parse("[[axes for axes in [a]] for a in axes] + [axes]").evaluate(names) == [[1], [2], [1, 2]]
    with pytest.raises(EvaluationError, match="unknown name"):
        parse("[a for a in axes] + [a]").evaluate(names)


def test_deeply_nested_loops_are_read_in_no_more_than_their_length() -> None:
    text = "axes"
    for level in range(60):
        text = f"[x{level} for x{level} in {text}]"
    assert parse(text).evaluate({"axes": [1]}) == [1]
    text = "1"
    for level in range(40):
        text = f"[{text} for x{level} in axes]"
    assert str(parse(text).evaluate({"axes": [1]})).count("[") == 40


def test_loops_are_stopped_after_so_many_steps() -> None:
    with pytest.raises(EvaluationError, match="too many steps"):
        parse("[a for a in range(1000) for b in range(1000)]").evaluate({})


class Counted(dict[str, object]):
    """Names that count how often each is asked for."""

    def __init__(self, **names: object) -> None:
        super().__init__(names)
        self.asked: list[str] = []

    def __getitem__(self, name: str) -> object:
        self.asked.append(name)
        return super().__getitem__(name)


def test_what_is_the_same_in_every_turn_is_asked_for_once_and_only_where_a_turn_needs_it() -> None:
    text = "[each + other + a for each in b for other in c if each < limit]"
    names = Counted(a=10, b=[1, 2, 3], c=[0, 100], limit=3)
    assert parse(text).evaluate(names) == [11, 111, 12, 112]
    assert sorted(names.asked) == ["a", "b", "c", "limit"]
    nothing = Counted(b=[], c=[0], limit=3)
    assert parse(text).evaluate(nothing) == []
    assert nothing.asked == ["b"]


def test_a_loop_inside_is_run_anew_where_it_speaks_of_the_loop_around_it() -> None:
    assert parse("[[inner * each for inner in b] for each in b]").evaluate({"b": [1, 2]}) == [[1, 2], [2, 4]]
    assert parse("[[inner for inner in b] for each in b]").evaluate({"b": [1, 2]}) == [[1, 2], [1, 2]]
