"""Calls that cost more than they are worth: each is told as not covered, with the reason, and soon."""

from __future__ import annotations

import random
import time
import tracemalloc
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper

from generator.calls.data.data import fill
from generator.calls.data.draws import Draw
from generator.calls.kinds.data import Data
from generator.models.check import making
from generator.models.check.call_cases import CallCases
from generator.models.check.call_clock import OutOfTime, within_seconds
from generator.models.check.making import cases_of_call
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode, numbers
from specs.language.expressions import parse
from specs.language.functions.sliding_windows import windows_hold_elements
from tests.conformance.checked_models.hand_made import given, graph_of, model_of, read


def _made(node: NodeProto, shapes: dict[str, tuple[int, ...]], folder: Path) -> CallCases:
    inputs = [given(name, shape) for name, shape in shapes.items()]
    (call,) = read(model_of(graph_of([node], ["y"], inputs)), folder).calls
    return cases_of_call(call)


def test_a_node_of_very_many_inputs_is_not_covered(tmp_path: Path) -> None:
    names = [f"x{at}" for at in range(9_000)]
    node = helper.make_node("Concat", names, ["y"], axis=0)
    found = _made(node, dict.fromkeys(names, (1, 2)), tmp_path)
    assert found.not_covered is not None
    assert (found.not_covered.why, "9,000 inputs" in found.not_covered.text) == ("too_costly", True)


def test_a_node_of_many_inputs_takes_time_by_their_number(tmp_path: Path) -> None:
    def seconds(count: int) -> float:
        names = [f"x{at}" for at in range(count)]
        begun = time.process_time()
        node = helper.make_node("Concat", names, ["y"], axis=0)
        assert _made(node, dict.fromkeys(names, (1, 2)), tmp_path).cases
        return time.process_time() - begun

    seconds(3)
    assert seconds(900) < 12 * seconds(150) + 1


_PAIRS = ",".join("abcdefghijklmnopqrstuvwxyz"[at : at + 2] for at in range(22))


@pytest.mark.parametrize(
    ("node", "shapes"),
    [
        (helper.make_node("ConvTranspose", ["i", "k"], ["y"], strides=[10**6, 10**6]), {"i": (1, 1, 5, 5)}),
        (helper.make_node("MaxPool", ["i"], ["y"], kernel_shape=[10**6] * 2, pads=[10**6 - 1] * 4),
         {"i": (1, 1, 5, 5)}),
        (helper.make_node("Einsum", [f"x{at}" for at in range(22)], ["y"],
                          equation=f"{_PAIRS}->"),
         {f"x{at}": (9, 9) for at in range(22)}),
    ],
)  # fmt: skip
def test_what_costs_too_much_ends_soon(
    node: NodeProto, shapes: dict[str, tuple[int, ...]], tmp_path: Path
) -> None:
    begun = time.process_time()
    found = _made(node, {**shapes, **({"k": (1, 1, 3, 3)} if "k" in node.input else {})}, tmp_path)
    assert time.process_time() - begun < 15
    assert found.not_covered is None or found.not_covered.why == "too_costly"


def _recurrent(operator: str, size: int, folder: Path) -> CallCases:
    gates = {"RNN": 1, "GRU": 3}[operator] * size
    node = helper.make_node(operator, ["x", "w", "r"], ["y"], hidden_size=size)
    return _made(node, {"x": (2, 1, 3), "w": (1, gates, 3), "r": (1, gates, size)}, folder)


@pytest.mark.parametrize(
    ("node", "shapes"),
    [
        (helper.make_node("GRU", ["x", "w", "r"], ["y"], hidden_size=4_000),
         {"x": (2, 1, 3), "w": (1, 12_000, 3), "r": (1, 12_000, 4_000)}),
        (helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=[9_000, 9_000], pads=[4_500] * 4),
         {"x": (1, 1, 5, 5), "w": (1, 1, 9_000, 9_000)}),
        (helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=3_000), {"x": (1, 1, 3_000, 3_000)}),
    ],
    ids=["state", "kernel", "block"],
)  # fmt: skip
def test_inputs_of_very_many_elements_are_not_drawn(
    node: NodeProto, shapes: dict[str, tuple[int, ...]], tmp_path: Path
) -> None:
    begun = time.process_time()
    found = _made(node, shapes, tmp_path)
    assert time.process_time() - begun < 10
    assert found.not_covered is not None
    assert (found.not_covered.why, "inputs have more than 2,000,000" in found.not_covered.text) == (
        "too_costly",
        True,
    )


@pytest.mark.parametrize(
    ("block", "why"), [(3_000, "too_costly"), (0, "not_valid"), (-1, "not_valid"), (9_001, "not_valid")]
)
def test_an_extent_that_is_computed_takes_neither_time_nor_memory(
    block: int, why: str, tmp_path: Path
) -> None:
    """Of which number it is a product follows from it: they are not tried one after the other."""
    node = helper.make_node("DepthToSpace", ["x"], ["y"], blocksize=block)
    tracemalloc.start()
    begun = time.process_time()
    try:
        found = _made(node, {"x": (1, 81_000_000, 1, 1)}, tmp_path)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.process_time() - begun < 10
    assert found.not_covered is not None
    assert found.not_covered.why == why
    assert most < 256 << 20


def test_the_clock_ends_the_drawing_of_a_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "SECONDS", 1.0)
    begun = time.process_time()
    found = _recurrent("RNN", 1_000, tmp_path)
    assert time.process_time() - begun < 5
    assert found.not_covered is not None
    assert found.not_covered.why == "too_slow"


def test_weights_are_made_moderate_by_the_machine() -> None:
    """A million of them, as a state of a thousand has; each as exact arithmetic has it."""
    nothing: Any = None
    kind = Data(subject=nothing, domain=parse("'moderate'"), most=parse("1"))
    for name in ("float", "float16", "double"):
        drawn = fill(name, (4, 100), "subnormal", Draw("few"))
        odd = np.array([7.3, -0.0, np.inf, np.nan], drawn.array.dtype)
        few = Tensor(drawn.element_type, np.concatenate([drawn.array.reshape(-1), odd]))
        exact = [
            number / 8 if isinstance(number, Fraction) else number
            for number in numbers(few.element_type, few.array)
        ]
        assert kind.mend(few, nothing).array.tobytes() == encode(few.element_type, exact).tobytes()
    many = fill("float", (1_000, 1_000), "constant", Draw("many"))
    begun = time.process_time()
    found = kind.mend(Tensor(many.element_type, many.array * 7), nothing)
    assert np.abs(found.array).max() <= 1
    assert time.process_time() - begun < 1


def test_a_call_has_so_much_time_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> CallCases:
        while True:
            pass

    monkeypatch.setattr(making, "_make", never)
    monkeypatch.setattr(making, "SECONDS", 0.2)
    found = _made(helper.make_node("Neg", ["x"], ["y"]), {"x": (2,)}, tmp_path)
    assert found.not_covered is not None
    assert found.not_covered.why == "too_slow"
    assert "longer than 0.2 seconds of the processor" in found.not_covered.text


def test_waiting_is_no_computing() -> None:
    with within_seconds(0.3):
        time.sleep(1.2)
    with pytest.raises(OutOfTime), within_seconds(0.1):  # noqa: PT012 - what it is about
        while True:
            pass


def test_windows_hold_elements_as_when_each_is_looked_at() -> None:
    chance = random.Random(40)
    seen = set()
    for _ in range(4_000):
        extent, kernel, stride, dilation = (chance.randint(low, 6) for low in (0, 1, 1, 1))
        begin, end = chance.randint(0, 12), chance.randint(0, 12)
        reach = (kernel - 1) * dilation + 1
        last = (extent + begin + end - reach) // stride * stride
        slow = begin < reach and last < extent + begin
        for start in range(-begin, 0, stride):
            slow = slow and any(0 <= start + at * dilation < extent for at in range(kernel))
        found = windows_hold_elements([extent], [kernel], [stride], [dilation], [begin, end], None, 0)
        assert found == slow, (extent, kernel, stride, dilation, begin, end)
        seen.add(found)
    assert seen == {True, False}


def test_numbers_that_ask_for_much_are_costly(tmp_path: Path) -> None:
    fixed = helper.make_tensor("s", TensorProto.INT64, [2], [2**31, 2**31])
    graph = graph_of([helper.make_node("ConstantOfShape", ["s"], ["y"])], ["y"], [], [fixed])
    (call,) = read(model_of(graph), tmp_path).calls
    assert all(
        case.expectations[0].outputs[0].expected.array.size < 20_000 for case in cases_of_call(call).cases
    )
