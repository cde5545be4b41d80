"""If, Loop, Scan and SequenceMap beside loops of Python's own, with bodies that are written as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.parser import parse_graph, parse_model
from onnx.reference import ReferenceEvaluator

from conformance.suite.protos import read_graph
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer, OutsideDomain, UnstableLength, sequence_of
from reference.registry import find_operator
from reference.registry.body_values import as_answer

ADDING = """
adding (int64 i, bool going, float[2] state) => (bool more, float[2] next, float[2] seen, int64 at) {
    bound = Constant <value = int64 {2}> ()
    more = Less (i, bound)
    next = Add (state, state)
    seen = Neg (state)
    at = Identity (i)
}
"""


def graph(text: str, opset: int = 0, **around: Answer) -> Graph:
    found = read_graph(parse_graph(text))
    return Graph(found.raw, found.inputs, found.outputs, opset, around)


def floats(*values: float) -> Tensor:
    return tensor(np.array(values, np.float32))


def scalar(value: int | bool) -> Tensor:
    return tensor(np.array(value, np.bool_ if isinstance(value, bool) else np.int64))


def looped(
    body: Graph, states: Sequence[Any], M: int | None, cond: bool | None, version: int = 21
) -> list[Tensor]:
    inputs: dict[str, Any] = {"v_initial": tuple(states)}
    inputs |= {} if M is None else {"M": scalar(M)}
    inputs |= {} if cond is None else {"cond": scalar(cond)}
    found = find_operator(OperatorName("ai.onnx", "Loop", version)).evaluate({"body": body}, inputs)
    return [each.expected for each in found]


@pytest.mark.parametrize("M", [None, 0, 1, 2, 5])
@pytest.mark.parametrize("cond", [None, True, False])
def test_loops_as_the_c_code_of_the_page(M: int | None, cond: bool | None) -> None:
    if M is None and cond is None:
        with pytest.raises(OutsideDomain, match="nothing ends"):
            looped(graph(ADDING), [floats(1, 2)], M, cond)
        return
    state, seen, i, going = np.array([1, 2], np.float32), [], 0, cond
    while (M is None or i < M) and (cond is None or going):
        seen.append(-state)
        state, going, i = state + state, i < 2, i + 1
    last, seen_of, at = looped(graph(ADDING), [floats(1, 2)], M, cond)
    assert last.array.tolist() == state.tolist()
    assert seen_of.array.tolist() == [each.tolist() for each in seen]
    assert seen_of.shape == (i, 2)
    assert (at.shape, at.array.tolist()) == ((i,), [*range(i)])


def test_states_grow_and_what_they_give_may_not() -> None:
    body = """b (int64 i, bool c, float[n] x) => (bool d, float[m] y{}) {{
        d = Identity (c) y = Concat <axis = 0> (x, x) {}
    }}"""
    (grown,) = looped(graph(body.format("", "")), [floats(1, 2)], 3, None)
    assert grown.array.tolist() == [1, 2] * 8
    with pytest.raises(OutsideDomain, match="differ in shape"):
        looped(graph(body.format(", float[m] z", "z = Identity (y)")), [floats(1, 2)], 2, None)


NESTED = """
outer (int64 i, bool c, float[2] x) => (bool d, float[2] y, float[2] z) {
    d = Identity (c)
    first = Equal (i, i_zero)
    y = If (first) <
        then_branch = taken () => (float[2] t) {
            two = Constant <value = int64 {2}> ()
            t = Loop (two, , x) <body = inner (int64 j, bool e, float[2] w) => (bool f, float[2] v) {
                f = Identity (e)
                scaled = Mul (x, factor)
                v = Add (w, scaled)
            }>
        },
        else_branch = other () => (float[2] u) { u = Sub (x, factor) }
    >
    z = Identity (x)
}
"""


def test_bodies_three_deep_see_what_is_around_them() -> None:
    around: dict[str, Any] = {"factor": Answer(floats(3, 5)), "i_zero": Answer(scalar(0))}
    found = looped(graph(NESTED, **around), [floats(1, 2)], 3, None)
    x, factor, seen = np.array([1.0, 2.0]), np.array([3.0, 5.0]), []
    for i in range(3):
        seen.append(x.tolist())
        x = x + 2 * (x * factor) if i == 0 else x - factor
    assert found[0].array.tolist() == x.tolist()
    assert found[1].array.tolist() == seen


def test_what_nothing_gives_is_refused_by_name() -> None:
    with pytest.raises(OutsideDomain, match="factor"):
        looped(graph(NESTED, i_zero=Answer(scalar(0))), [floats(1, 2)], 1, None)


def test_an_operator_without_a_reference_is_named() -> None:
    body = "b (int64 i, bool c) => (bool d) { d = some.domain.Unheard (c) }"
    with pytest.raises(UserError, match="Unheard"):
        looped(graph(body), [], 1, None)


def test_bounds_go_through_bodies() -> None:
    body = """b (int64 i, bool c, float[2] x) => (bool d, float[2] y) {
        d = Identity (c) e = Exp (x) f = Identity (e) y = Div (f, e)
    }"""
    operator = find_operator(OperatorName("ai.onnx", "Loop", 21))
    inputs: dict[str, Any] = {"M": scalar(2), "v_initial": (floats(0.3, 0.7),)}
    (one,) = operator.evaluate({"body": graph(body)}, inputs)
    assert one.allowed is not None
    assert np.all((one.allowed > 1e-8) & (one.allowed < 1e-4))
    body = "b (int64 i, bool c, float[2] x) => (bool d, float[2] y) { d = Identity (c) y = Exp (x) }"
    (found,) = operator.evaluate({"body": graph(body)}, inputs)
    wanted = np.exp(np.exp(np.array([0.3, 0.7], np.float32).astype(np.float64)))
    assert found.allowed is not None
    assert np.all(np.abs(found.expected.array - wanted) <= found.allowed)
    assert np.all(found.allowed < 1e-4)


COMPUTED: dict[str, Callable[[Any], Any]] = {
    "Add (x, k)": lambda x: x + 2,
    "Sub (k, x)": lambda x: 2 - x,
    "Mul (x, x)": lambda x: x * x,
    "Div (k, x)": lambda x: 2 / x,
    "Reciprocal (x)": lambda x: 1 / x,
    "Exp (x)": np.exp,
    "Log (x)": np.log,
    "Sqrt (x)": np.sqrt,
    "Tanh (x)": np.tanh,
    "Sigmoid (x)": lambda x: 1 / (1 + np.exp(-x)),
    "Sum (x, x, k)": lambda x: x + x + 2,
    "Mean (x, k)": lambda x: (x + 2) / 2,
    "MatMul (x, m)": lambda x: x @ np.array([[1, 2], [3, -4]]),
    "Gemm (r, m)": lambda x: x.reshape(1, 2) @ np.array([[1, 2], [3, -4]]),
    "Relu (x)": lambda x: np.maximum(x, 0),
    "Neg (x)": lambda x: -x,
    "Concat <axis = 0> (x, k)": lambda x: np.concatenate([x, [2, 2]]),
}


@pytest.mark.parametrize("node", COMPUTED)
@pytest.mark.parametrize("off", [-1, -0.5, 0, 1])
def test_what_is_off_before_a_node_is_allowed_behind_it(node: str, off: float) -> None:
    values, allowed = np.array([0.75, 1.5], np.float32), np.array([2e-4, 1e-3])
    around: dict[str, Any] = {
        "x": Answer(tensor(values), allowed),
        "r": Answer(tensor(values.reshape(1, 2)), allowed.reshape(1, 2)),
        "k": Answer(floats(2, 2)),
        "m": Answer(tensor(np.array([[1, 2], [3, -4]], np.float32))),
    }
    branch = graph(f"b () => (float[n] y) {{ y = {node} }}", **around)
    operator = find_operator(OperatorName("ai.onnx", "If", 21))
    attributes = {"then_branch": branch, "else_branch": branch}
    (found,) = operator.evaluate(attributes, {"cond": scalar(True)})
    wanted = COMPUTED[node](values.astype(np.float64) + off * allowed)
    assert found.allowed is not None
    assert np.all(np.abs(found.expected.array.astype(np.float64) - wanted) <= found.allowed + 1e-12)
    assert np.all(found.allowed < 0.05)


def test_conditions_that_hang_on_rounding_are_told() -> None:
    body = """b (int64 i, bool c, float[] x) => (bool d, float[] y) {
        y = Exp (x) edge = Constant <value = float {1.2840254}> () d = Less (y, edge)
    }"""
    with pytest.raises(UnstableLength):
        looped(graph(body), [tensor(np.array(0.25, np.float32))], 3, True)


def test_branches() -> None:
    then, other = (
        graph(f"b () => (float[1] y) {{ y = Constant <value = float[1] {{{each}}}> () }}") for each in (1, 2)
    )
    operator = find_operator(OperatorName("ai.onnx", "If", 21))
    for cond in (True, False):
        attributes = {"then_branch": then, "else_branch": other}
        (found,) = operator.evaluate(attributes, {"cond": scalar(cond)})
        assert found.expected.array.tolist() == [1 if cond else 2]


SCANNED = """b (float[2] s, float[2] a, float[2] b) => (float[2] t, float[2] u, float[2] v) {
    c = Mul (a, b) t = Add (s, c) u = Sub (t, a) v = Identity (b)
}"""


def test_narrow_integers_of_a_body_are_their_numbers() -> None:
    held = helper.make_tensor("held", onnx.TensorProto.INT4, [3], [-2, 7, -8])
    nodes = [
        helper.make_node("Constant", [], ["narrow"], value=held),
        helper.make_node("Cast", ["narrow"], ["wide"], to=onnx.TensorProto.FLOAT),
    ]
    wide = helper.make_tensor_value_info("wide", onnx.TensorProto.FLOAT, [3])
    found = read_graph(helper.make_graph(nodes, "b", [], [wide]))
    body = Graph(found.raw, found.inputs, found.outputs, 25)
    reference = find_operator(OperatorName("ai.onnx", "If", 25))
    (answer,) = reference.evaluate(
        {"then_branch": body, "else_branch": body}, {"cond": tensor(np.array(True))}, outputs=1
    )
    assert answer.expected.array.tolist() == [-2, 7, -8]


def test_scans_by_loops() -> None:
    random = Random(4)
    operator = find_operator(OperatorName("ai.onnx", "Scan", 21))
    for _ in range(20):
        axes, ways = (
            [random.choice([0, 1, -1, -2]) for _ in range(2)],
            [random.choice([0, 1]) for _ in range(2)],
        )
        out_axes, out_ways = (
            [random.choice([0, 1, -1, -2]) for _ in range(2)],
            [random.choice([0, 1]) for _ in range(2)],
        )
        rows = [
            np.array([[random.randint(-3, 3) for _ in range(2)] for _ in range(3)], np.float32)
            for _ in range(2)
        ]
        state = np.array([1, 2], np.float32)
        turned = [row[::-1] if way else row for row, way in zip(rows, ways, strict=True)]
        given = [row if axis in (0, -2) else row.T for row, axis in zip(rows, axes, strict=True)]
        found = operator.evaluate(
            {
                "body": graph(SCANNED),
                "num_scan_inputs": 2,
                "scan_input_axes": tuple(axes),
                "scan_input_directions": tuple(ways),
                "scan_output_axes": tuple(out_axes),
                "scan_output_directions": tuple(out_ways),
            },
            {
                "initial_state_and_scan_inputs": tuple(
                    tensor(np.ascontiguousarray(each)) for each in (state, *given)
                )
            },
        )
        gathered: list[list[Any]] = [[], []]
        for a, b in zip(*turned, strict=True):
            state = state + a * b
            gathered[0].append(state - a)
            gathered[1].append(b)
        assert found[0].expected.array.tolist() == state.tolist()
        for answer, listed, axis, way in zip(found[1:], gathered, out_axes, out_ways, strict=True):
            wanted = np.array(listed)[::-1] if way else np.array(listed)
            assert answer.expected.array.tolist() == (wanted if axis in (0, -2) else wanted.T).tolist()


def test_batches_of_scans_have_lengths_of_their_own() -> None:
    text = "b (float s, float a) => (float t, float u) { t = Add (s, a) u = Identity (t) }"
    operator = find_operator(OperatorName("ai.onnx", "Scan", 8))
    rows = tensor(np.array([[1, 2, 3], [4, 5, 6]], np.float32))
    inputs: dict[str, Any] = {
        "sequence_lens": tensor(np.array([3, 1], np.int64)),
        "initial_state_and_scan_inputs": (floats(10, 20), rows),
    }
    attributes: dict[str, Any] = {"body": graph(text, 8), "num_scan_inputs": 1, "directions": (1,)}
    last, seen = operator.evaluate(attributes, inputs)
    assert last.expected.array.tolist() == [16, 24]
    assert seen.expected.array[0].tolist() == [13, 15, 16]
    assert seen.expected.array[1, 0] == 24
    assert seen.allowed is not None
    assert np.isinf(seen.allowed).tolist() == [[False] * 3, [False, True, True]]


def test_onnx_evaluates_a_loop_alike() -> None:
    text = f"""
    <ir_version: 8, opset_import: ["" : 21]>
    main (int64 M, bool go, float[2] x) => (float[2] last, float[n, 2] seen, int64[n] at) {{
        last, seen, at = Loop (M, go, x) <body = {ADDING.strip()}>
    }}
    """
    evaluator = ReferenceEvaluator(parse_model(text))
    given = {"M": np.array(5), "go": np.array(True), "x": np.array([1, 2], np.float32)}
    wanted: Any = evaluator.run(None, given)
    found = looped(graph(ADDING), [floats(1, 2)], 5, True)
    assert [each.array.tolist() for each in found[:2]] == [each.tolist() for each in wanted[:2]]
    # It gives numbers without axes one, where they are put together.
    assert found[2].array.tolist() == wanted[2].reshape(-1).tolist()


BESIDE = """
beside (float[N] own, float[M] other, float[1] tensor) => (float[P] joined, float[N] scaled) {
    joined = Concat <axis = 0> (own, other)
    scaled = Mul (own, tensor)
}
"""


def lists_of(answers: Sequence[Answer]) -> list[list[list[float]]]:
    """The sequences, their tensors as lists."""
    found = []
    for answer in answers:
        parts = [as_answer(part).expected for part in answer.parts or ()]
        assert int(answer.expected.array) == len(parts)
        found.append([part.array.tolist() for part in parts])
    return found


def mapped(body: str, sequence: Sequence[Any], *beside: Any) -> tuple[Answer, ...]:
    found = find_operator(OperatorName.parse("ai.onnx::SequenceMap-17"))
    inputs = {"input_sequence": tuple(sequence), "additional_inputs": beside}
    return found.evaluate({"body": graph(body)}, inputs)


@pytest.mark.parametrize("count", [0, 1, 4])
def test_bodies_of_each_element(count: int) -> None:
    chance = Random(count)
    own, others = (
        [[float(chance.randint(-9, 9)) for _ in range(chance.randint(0, 3))] for _ in range(count)]
        for _ in range(2)
    )
    beside = sequence_of(tuple(floats(*each) for each in others))
    found = mapped(BESIDE, [floats(*each) for each in own], beside, floats(0.5))
    joined = [one + other for one, other in zip(own, others, strict=True)]
    assert lists_of(found) == [joined, [[each / 2 for each in one] for one in own]]


PAIRED = """
paired (float[N] own, float[M] other) => (float[P] joined, float[M] turned) {
    joined = Concat <axis = 0> (own, other)
    turned = Neg (other)
}
"""


@pytest.mark.parametrize("kind", ["seq(float[M])", "float[2]"])
def test_onnx_maps_alike(kind: str) -> None:
    arrays = [np.array([1, 2, 3], np.float32), np.array([], np.float32), np.array([-4], np.float32)]
    model = parse_model(
        f'<ir_version: 8, opset_import: ["" : 17]> main (seq(float[N]) own, {kind} other) '
        f"=> (seq(float[P]) a, seq(float[Q]) b) {{ a, b = SequenceMap <body = {PAIRED}> (own, other) }}"
    )
    one = np.array([5, 7], np.float32)
    beside = arrays[::-1] if kind.startswith("seq") else one
    wanted = ReferenceEvaluator(model).run(None, {"own": arrays, "other": beside})
    other = sequence_of(tuple(map(tensor, arrays[::-1]))) if kind.startswith("seq") else tensor(one)
    assert lists_of(mapped(PAIRED, list(map(tensor, arrays)), other)) == [
        [np.asarray(each).tolist() for each in sequence] for sequence in wanted
    ]


def test_bounds_go_through_each_element() -> None:
    near = Answer(floats(2, 4), np.array([0.25, 0]))
    (joined, scaled) = mapped(BESIDE, [floats(1)], sequence_of((near,)), floats(1))
    (part,) = map(as_answer, joined.parts or ())
    assert part.allowed is not None
    assert part.allowed.tolist() == [0, 0.25, 0]
    (part,) = map(as_answer, scaled.parts or ())
    assert part.allowed is None or not part.allowed.any()


def test_sequences_of_different_lengths_are_no_call() -> None:
    with pytest.raises(OutsideDomain, match="different lengths"):
        mapped(BESIDE, [floats(1), floats(2)], sequence_of((floats(1),)), floats(1))
    with pytest.raises(OutsideDomain, match="another number of values"):
        mapped(BESIDE, [floats(1)], floats(1))


def test_loops_carry_sequences() -> None:
    """Tensors with errors go into a sequence and out of it, run by run, each with its own."""
    body = """
    carrying (int64 i, bool going, seq(float[N]) kept) => (bool more, seq(float[N]) next, int64 count) {
        more = Identity (going)
        taken = SequenceAt (kept, i)
        twice = Add (taken, taken)
        next = SequenceInsert (kept, twice)
        count = SequenceLength (next)
    }
    """
    near = Answer(floats(1), np.array([0.25]))
    inputs: dict[str, Any] = {"M": scalar(3), "v_initial": (sequence_of((near,)),)}
    states, counts = find_operator(OperatorName.parse("ai.onnx::Loop-16")).evaluate(
        {"body": graph(body)}, inputs
    )
    parts = [as_answer(part) for part in states.parts or ()]
    assert [part.expected.array.tolist() for part in parts] == [[1], [2], [4], [8]]
    allowed = [0.0 if part.allowed is None else float(part.allowed[0]) for part in parts]
    assert allowed == pytest.approx([0.25, 0.5, 1, 2], rel=1e-3)
    assert counts.expected.array.tolist() == [2, 3, 4]
