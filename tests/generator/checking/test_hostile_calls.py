"""Calls that cost more than they are worth: each is told as not covered, with the reason, and soon."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from onnx import NodeProto, TensorProto, helper

from generator.checking import making
from generator.checking.call_cases import CallCases
from generator.checking.call_clock import OutOfTime, within_seconds
from generator.checking.making import cases_of_call
from specs.functions.windows_hold_elements import windows_hold_elements
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
