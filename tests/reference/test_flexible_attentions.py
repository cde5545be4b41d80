"""FlexAttention against loops of mpmath, onnx's node tests, honest programs, and faulty ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import mpmath  # type: ignore[import-untyped] # ships no types
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto
from onnx.helper import make_graph, make_node, make_tensor, make_tensor_value_info

from conformance.suite.protos import read_graph
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.answers import Answer, OutsideDomain
from reference.registry import find_operator
from tests.reference.honest_programs import KINDS
from tests.reference.official_tests import load_node_tests
from tests.reference.test_attentions import (
    in_twos,
    online,
    spread_beside,
    spread_in_turn,
    whole,
    without_greatest,
)
from tests.reference.test_examples import read_attribute
from tests.reference.test_number_arrays import accepted

Array = NDArray[Any]
Arrays = Mapping[str, Array]
HEADS, GROUP, QUERIES, KEYS, SIZE, WIDTH = 2, 2, 3, 4, 3, 2
SHAPE = (2, HEADS * GROUP, QUERIES, KEYS)
REFERENCE = find_operator(OperatorName("ai.onnx.preview", "FlexAttention", 1))
CALLS: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "scaled": {"scale": 0.7},
    "scores added to": {"score_mod": "Add"},
    "scores masked": {"score_mod": "mask"},
    "scores multiplied": {"score_mod": "Mul", "scale": 0.25},
    "weights added to": {"prob_mod": "Add"},
    "weights multiplied": {"prob_mod": "Mul", "score_mod": "mask"},
}


@cache
def constant_of(how: str) -> Array:
    draw = np.random.default_rng(5)
    found = draw.integers(-8, 9, SHAPE[1:]) / 4
    if how != "mask":
        return found
    shut = draw.integers(0, 2, SHAPE[1:]) > 0
    shut[..., 0] = False
    return np.where(shut, -np.inf, found)


def graph_of(how: str, kind: str) -> Graph:
    """One node of scores, or weights, and a constant."""
    code = TensorProto.DOUBLE if kind == "double" else TensorProto.FLOAT
    given, gives = (make_tensor_value_info(name, code, SHAPE) for name in ("given", "gives"))
    constant = make_tensor("constant", code, SHAPE[1:], constant_of(how).reshape(-1).tolist())
    node = make_node("Add" if how == "mask" else how, ["given", "constant"], ["gives"])
    return read_graph(make_graph([node], "modifier", [given], [gives], [constant]))


def changed(call: str, name: str, values: Array) -> Array:
    """What a modifier of the call makes of scores or weights."""
    how = CALLS[call].get(name)
    if how is None:
        return values
    constant = constant_of(how).astype(values.dtype)
    return np.asarray(values * constant if how == "Mul" else values + constant)


@cache
def data_of(kind: str) -> Arrays:
    draw = np.random.default_rng(26)
    found = {
        "Q": draw.normal(0, 1.5, (2, HEADS * GROUP, QUERIES, SIZE)),
        "K": draw.normal(0, 1.5, (2, HEADS, KEYS, SIZE)),
        "V": draw.normal(0, 2, (2, HEADS, KEYS, WIDTH)),
    }
    return {name: each.astype(KINDS[kind]) for name, each in found.items()}


@cache
def answers(call: str, kind: str) -> tuple[Answer, ...]:
    """What is accepted, under every way to compute in narrow types and to hold the scale of doubles."""
    attributes: dict[str, Any] = {
        name: each if name == "scale" else graph_of(each, kind) for name, each in CALLS[call].items()
    }
    inputs = {name: tensor(each) for name, each in data_of(kind).items()}
    return tuple(
        REFERENCE.evaluate(attributes, inputs, {"accumulation_type": held, "scale_precision": scale})[0]
        for held in ("float32", "input")
        for scale in ("type", "float32")
    )


def wrong(call: str, kind: str, got: Array) -> int:
    """How many elements are outside."""
    return min(int(np.count_nonzero(~accepted(answer, got))) for answer in answers(call, kind))


@pytest.mark.parametrize("call", CALLS)
def test_loops_of_many_digits_are_the_expectation(call: str) -> None:
    number = np.frompyfunc(lambda each: mpmath.mpf(float(each)), 1, 1)
    with mpmath.workprec(250):
        q, k, v = (np.asarray(number(each), dtype=object) for each in data_of("float").values())
        scale = mpmath.mpf(float(np.float32(CALLS[call].get("scale", 0)))) or 1 / mpmath.sqrt(SIZE)
        found = np.zeros((*SHAPE[:3], WIDTH))
        for batch, head, query in np.ndindex(*SHAPE[:3]):
            at, own = (head, query), head // GROUP
            scores = scale * (k[batch, own] * q[batch, head, query]).sum(axis=1)
            powers = [mpmath.exp(each) for each in _at(call, "score_mod", scores, at)]
            weights = np.array([power / mpmath.fsum(powers) for power in powers], dtype=object)
            weights = _at(call, "prob_mod", weights, at)
            found[batch, head, query] = [float(weight) for weight in weights @ v[batch, own]]
    np.testing.assert_allclose(answers(call, "float")[0].expected.array, found, rtol=2.0**-23)
    assert not wrong(call, "float", found.astype(np.float32))


def _at(call: str, name: str, values: Array, at: tuple[int, int]) -> Array:
    """A modifier on the row of one head and query."""
    how = CALLS[call].get(name)
    if how is None:
        return values
    constant = [mpmath.mpf(float(each)) for each in constant_of(how)[at]]
    return np.array([a * b if how == "Mul" else a + b for a, b in zip(values, constant, strict=True)])


Mix = Callable[[Array, Array], tuple[Array, Array]]


def program(call: str, kind: str, mix: Mix, *, scaling: str = "roots", fault: str = "") -> Array:
    """In the type of the data; `mix` makes weights and results of scores and values."""
    to, given = KINDS[kind], data_of(kind)
    spread = spread_in_turn if fault == "heads in turn" else spread_beside
    q, k, v = given["Q"], spread(given["K"]).swapaxes(2, 3), spread(given["V"])
    scale = to(CALLS[call].get("scale", 1 / np.sqrt(np.float32(SIZE))))
    root = to(np.sqrt(np.float32(scale)))
    if fault == "modified before the scale":
        scores = changed(call, "score_mod", q @ k) * scale
    else:
        routes: Mapping[str, Callable[[], Array]] = {
            "roots": lambda: (q * root) @ (k * root),
            "at the end": lambda: (q @ k) * scale,
            "once": lambda: (q * root) @ k,
        }
        scores = routes[scaling]().astype(to)
        if fault != "scores not modified":
            scores = changed(call, "score_mod", scores)
    weights, result = mix(scores, v)
    if fault == "weights not modified" or "prob_mod" not in CALLS[call]:
        return result.astype(to)
    if fault == "modified before it is divided":
        powers = changed(call, "prob_mod", np.exp(scores - scores.max(axis=-1, keepdims=True)))
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True) @ v, to)
    weights = changed(call, "prob_mod", weights)
    if fault == "divided once more":
        weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.asarray(weights @ v, to)


@pytest.mark.parametrize(
    "kind", ["float", *(pytest.param(each, marks=pytest.mark.slow) for each in ("double", "float16"))]
)
@pytest.mark.parametrize("scaling", ["roots", "at the end"])
@pytest.mark.parametrize("mix", [whole, without_greatest, online, in_twos])
@pytest.mark.parametrize("call", CALLS)
def test_an_honest_program_is_accepted(call: str, mix: Mix, scaling: str, kind: str) -> None:
    assert not wrong(call, kind, program(call, kind, mix, scaling=scaling))


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        ("plain", {"scaling": "once"}),
        ("plain", {"fault": "heads in turn"}),
        ("scores added to", {"fault": "scores not modified"}),
        ("scores added to", {"fault": "modified before the scale"}),
        ("scores masked", {"fault": "modified before the scale"}),
        ("weights added to", {"fault": "weights not modified"}),
        ("weights added to", {"fault": "modified before it is divided"}),
        ("weights multiplied", {"fault": "divided once more"}),
    ],
)
def test_a_faulty_program_is_refused(call: str, fault: Mapping[str, Any]) -> None:
    assert wrong(call, "float", program(call, "float", whole, **fault)) >= 8


@pytest.mark.slow
def test_node_tests_of_onnx() -> None:
    tests = load_node_tests(("FlexAttention",))
    assert tests
    for test in tests.values():
        check_node_test(test)


def check_node_test(test: Any) -> None:
    """It agrees, or its graphs have nodes that are not computed here."""
    node = test.model.graph.node[0]
    attributes = {
        attribute.name: read_graph(attribute.g) if attribute.HasField("g") else read_attribute(attribute)
        for attribute in node.attribute
    }
    ((given, wanted),) = test.data_sets
    inputs = {key: tensor(np.asarray(each)) for key, each in zip("QKV", given, strict=True)}
    graphs = [attribute.g for attribute in node.attribute if attribute.HasField("g")]
    if any(each.op_type in ("Shape", "Range", "Where") for graph in graphs for each in graph.node):
        with pytest.raises(OutsideDomain):
            REFERENCE.evaluate(attributes, inputs)
        return
    found = [
        REFERENCE.evaluate(attributes, inputs, {"accumulation_type": held, "scale_precision": scale})[0]
        for held in ("float32", "input")
        for scale in ("type", "float32")
    ]
    assert any(accepted(answer, np.asarray(wanted[0])).all() for answer in found)
