"""RNN, GRU and LSTM against loops over mpmath's numbers, honest programs of other orders, and faulty ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.reference.honest_programs import KINDS, Array, Asked
from tests.reference.recurrent_programs import GATES, Arrays, Cell, mpmath_arithmetic, programs

TIME, BATCH, INPUT, HIDDEN = 3, 3, 3, 2
CALLS: dict[str, dict[str, dict[str, Any]]] = {
    "RNN": {
        "forward": {},
        "reverse": {"direction": "reverse"},
        "both": {"direction": "bidirectional", "clip": 1.5},
    },
    "GRU": {
        "forward": {},
        "reverse": {"direction": "reverse", "linear_before_reset": 1},
        "both": {"direction": "bidirectional", "clip": 1.5},
        "batches first": {"direction": "bidirectional", "linear_before_reset": 1, "layout": 1},
    },
    "LSTM": {
        "forward": {},
        "reverse": {"direction": "reverse"},
        "both": {"direction": "bidirectional", "clip": 2.5},
        "batches first": {"direction": "bidirectional", "layout": 1},
    },
}
NAMED = [(name, call) for name, calls in CALLS.items() for call in calls]
PLACES = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
RANDOM = 40


@cache
def inputs_of(name: str, call: str, kind: str, seed: int = 7, *, ragged: bool = False) -> Arrays:
    """All inputs of a call, of both signs; lengths that differ where `ragged`."""
    attributes, draw = CALLS[name][call], np.random.default_rng(seed)
    D, gates = 1 + (attributes.get("direction") == "bidirectional"), GATES[name]
    first = bool(attributes.get("layout"))
    state = (BATCH, D, HIDDEN) if first else (D, BATCH, HIDDEN)
    shapes = {
        "X": (BATCH, TIME, INPUT) if first else (TIME, BATCH, INPUT),
        "W": (D, gates * HIDDEN, INPUT),
        "R": (D, gates * HIDDEN, HIDDEN),
        "B": (D, 2 * gates * HIDDEN),
        "initial_h": state,
    }
    if name == "LSTM":
        shapes |= {"initial_c": state, "P": (D, 3 * HIDDEN)}
    found: dict[str, Array] = {
        key: draw.normal(0, 1, shape).astype(KINDS[kind]) for key, shape in shapes.items()
    }
    lengths = {"sequence_lens": np.array([TIME, 1, 2], np.int32)} if ragged else {}
    return {key: (found | lengths)[key] for key in PLACES if key in found | lengths}


@cache
def asked(name: str, call: str, kind: str, seed: int = 7, *, ragged: bool = False) -> Asked:
    given = inputs_of(name, call, kind, seed, ragged=ragged)
    attributes = {"hidden_size": HIDDEN, **CALLS[name][call]}
    outputs = ("Y", "Y_h", "Y_c")[: 3 if name == "LSTM" else 2]
    places = PLACES[: 8 if name == "LSTM" else 6]
    named = [(place, given.get(place)) for place in places]
    while named[-1][1] is None:
        named.pop()
    return Asked.of(name, kind, named, attributes, outputs=outputs)


def outside(name: str, call: str, kind: str, got: list[Array], seed: int = 7, *, ragged: bool = False) -> int:
    held = asked(name, call, kind, seed, ragged=ragged)
    return sum(int(held.wrong(array.astype(KINDS[kind]), at).sum()) for at, array in enumerate(got))


@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize(("name", "call"), NAMED)
def test_mpmath_comes_to_the_same(name: str, call: str, ragged: bool) -> None:
    for kind in ("float", "double"):
        found = Cell(name, mpmath_arithmetic(), CALLS[name][call]).run(
            inputs_of(name, call, kind, ragged=ragged)
        )
        held = asked(name, call, kind, ragged=ragged)
        for at, each in enumerate(found):
            output = held.accepted[0][at]
            assert output.allowed is not None
            closed = np.isfinite(output.allowed)
            expected = held._decoded(output.expected.array)
            nearest = np.asarray(each.astype(np.float64).astype(KINDS[kind]), np.float64)
            assert (expected == nearest)[closed].all()
            # Only what stands behind the end of a sequence is open.
            assert closed.all() or (ragged and at == 0)
            assert not closed.all() or not (ragged and at == 0)


@pytest.mark.slow
@pytest.mark.parametrize("way", sorted(programs(np.float32)))
@pytest.mark.parametrize(("name", "call"), NAMED)
def test_honest_programs_are_inside(name: str, call: str, way: str) -> None:
    for kind in ("float", "double", "float16"):
        for ragged in (False, True):
            cell = Cell(name, programs(KINDS[kind])[way], CALLS[name][call])
            assert not outside(
                name, call, kind, cell.run(inputs_of(name, call, kind, ragged=ragged)), ragged=ragged
            )


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(GATES))
def test_honest_programs_are_inside_on_random_calls(name: str) -> None:
    calls = sorted(CALLS[name])
    for seed in range(RANDOM):
        call = calls[seed % len(calls)]
        given = inputs_of(name, call, "float", 100 + seed)
        for way in programs(np.float32).values():
            assert not outside(name, call, "float", Cell(name, way, CALLS[name][call]).run(given), 100 + seed)


FAULTS = {
    "no bias": NAMED,
    "Wb alone": NAMED,
    "not turned back": [(name, call) for name, call in NAMED if call != "forward"],
    "past the end": NAMED,
    "first direction's weights": [(name, call) for name, call in NAMED if call in ("both", "batches first")],
    "no threshold": [("RNN", "both"), ("GRU", "both"), ("LSTM", "both")],
    "gates in another order": [(name, call) for name, call in NAMED if name != "RNN"],
    "sigmoid level at 3": [("GRU", "forward"), ("LSTM", "forward")],
    "tanh of 12 bits": NAMED,
    "reset elsewhere": [("GRU", call) for call in CALLS["GRU"]],
    "z and 1 - z": [("GRU", call) for call in CALLS["GRU"]],
    "peepholes of other gates": [("LSTM", call) for call in CALLS["LSTM"]],
    "the last cell for o": [("LSTM", call) for call in CALLS["LSTM"]],
}


@pytest.mark.parametrize(
    ("fault", "name", "call"), [(fault, *each) for fault, calls in FAULTS.items() for each in calls]
)
def test_faulty_programs_are_outside(fault: str, name: str, call: str) -> None:
    ragged = fault == "past the end"
    way = programs(np.float32)["matrices"]
    wrong = 0
    for seed in range(7, 11):
        given = inputs_of(name, call, "float", seed, ragged=ragged)
        found = Cell(name, way, CALLS[name][call], fault).run(given)
        wrong += outside(name, call, "float", found, seed, ragged=ragged)
    assert wrong > 0


FUNCTIONS: dict[str, tuple[list[float], list[float], Callable[[Array], Array]]] = {
    "Relu": ([], [], lambda x: np.maximum(x, 0)),
    "Sigmoid": ([], [], lambda x: 1 / (1 + np.exp(-x))),
    "Affine": ([0.5], [0.25], lambda x: 0.5 * x + 0.25),
    "LeakyRelu": ([0.5], [], lambda x: np.where(x >= 0, x, 0.5 * x)),
    "LeakyRelu by default": ([], [], lambda x: np.where(x >= 0, x, np.float32(0.01) * x)),
    "ThresholdedRelu": ([0.5], [], lambda x: np.where(x >= 0.5, x, 0)),
    "ThresholdedRelu by default": ([], [], lambda x: np.where(x >= 1, x, 0)),
    "ScaledTanh": ([1.5], [0.5], lambda x: 1.5 * np.tanh(0.5 * x)),
    "HardSigmoid": ([0.25], [0.375], lambda x: np.clip(0.25 * x + 0.375, 0, 1)),
    "HardSigmoid by default": ([], [], lambda x: np.clip(np.float32(0.2) * x + 0.5, 0, 1)),
    "Elu": ([0.75], [], lambda x: np.where(x >= 0, x, 0.75 * np.expm1(x))),
    "Elu by default": ([], [], lambda x: np.where(x >= 0, x, np.exp(x) - 1)),
    "Softsign": ([], [], lambda x: x / (1 + np.abs(x))),
    "Softplus": ([], [], lambda x: np.log(1 + np.exp(x))),
}


@pytest.mark.parametrize("word", sorted(FUNCTIONS))
def test_each_function_is_that_of_the_text(word: str) -> None:
    """RNN with it, by numpy in double and in float32; with another function, or another number, outside."""
    alphas, betas, function = FUNCTIONS[word]
    attributes: dict[str, Any] = {"hidden_size": HIDDEN, "activations": [word.partition(" ")[0]]}
    attributes |= {"activation_alpha": alphas} if alphas else {}
    attributes |= {"activation_beta": betas} if betas else {}
    other = 0
    for seed in range(5):
        given = inputs_of("RNN", "forward", "float", seed)
        held = Asked.of("RNN", "float", list(given.items()), attributes, outputs=("Y", "Y_h"))
        for kind in (np.float64, np.float32):
            found = _simple_cell(given, function, kind)
            assert not held.wrong(found.astype(np.float32)).any()
        other += held.wrong(
            _simple_cell(given, lambda x: 1.001 * function(x), np.float64).astype(np.float32)
        ).sum()
        other += held.wrong(_simple_cell(given, np.tanh, np.float64).astype(np.float32)).sum()
    assert other > 0


def _simple_cell(given: Arrays, function: Callable[[Array], Array], kind: Any) -> Array:
    X, W, R, B, h = (given[name].astype(kind) for name in ("X", "W", "R", "B", "initial_h"))
    h, found = h[0], []
    for x in X:
        summed = x @ W[0].T + h @ R[0].T + B[0, :HIDDEN] + B[0, HIDDEN:]
        h = np.asarray(function(summed), dtype=kind)
        found.append(h)
    return np.stack(found)[:, None]


def test_alpha_itself_is_one_value_or_the_other_in_a_whole_call() -> None:
    """ThresholdedRelu: the list of functions keeps alpha, the operator has zero; nothing else is right."""
    one = np.ones((1, 1, 1), np.float32)
    given = {"X": np.array([[[1.0]], [[0.5]]], np.float32), "W": one, "R": one}
    attributes = {"hidden_size": 1, "activations": ["ThresholdedRelu"], "activation_alpha": [1.0]}
    held = Asked.of("RNN", "float", list(given.items()), attributes, outputs=("Y",))
    for right in ([1.0, 1.5], [0.0, 0.0]):
        assert not held.wrong(np.array(right, np.float32).reshape(2, 1, 1, 1)).any()
    for wrong in ([0.5, 1.0], [1.0, 0.0], [0.0, 1.5], [0.25, 0.0]):
        assert held.wrong(np.array(wrong, np.float32).reshape(2, 1, 1, 1)).any()


@pytest.mark.parametrize("option", ["forget", "input"])
def test_either_gate_may_follow_from_the_other(option: str) -> None:
    given = inputs_of("LSTM", "forward", "float")
    named = [(name, given.get(name)) for name in PLACES]
    attributes = {"hidden_size": HIDDEN, "input_forget": 1}
    held = Asked.of("LSTM", "float", named, attributes, outputs=("Y", "Y_h", "Y_c"))
    way = programs(np.float32)["matrices"]
    found = Cell("LSTM", way, {"input_forget": option}).run(given)
    assert not held.wrong(found[0]).any()
    assert held.wrong(Cell("LSTM", way, {}).run(given)[0]).any()
