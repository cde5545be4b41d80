"""DynamicQuantizeLSTM against a program in double whose steps are integers of Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.registry import find_operator
from reference.registry.reference_operator import ReferenceOperator

Array = NDArray[Any]
draw = np.random.default_rng(4615)
OPERATOR: ReferenceOperator = find_operator(OperatorName("com.microsoft", "DynamicQuantizeLSTM", 1))
TIME, BATCH, WIDTH, HIDDEN = 3, 2, 5, 4


def in_steps(given: Array, *, symmetric: bool = False) -> Array:
    """Numbers in 255 steps between the least and the greatest of them and zero."""
    low, high = min(0.0, float(given.min())), max(0.0, float(given.max()))
    step = max(high, -low) / 127 if symmetric else (high - low) / 255
    if step == 0:
        return np.zeros_like(given)
    least, greatest, zero = (-127, 127, 0) if symmetric else (0, 255, round(-low / step))
    steps = [min(max(round(float(each) / step) + zero, least), greatest) - zero for each in given.reshape(-1)]
    return np.array(steps, dtype=np.float64).reshape(given.shape) * step


@dataclass(frozen=True)
class Program:
    """How X and the states are quantised, and a mistake that is made on purpose."""

    inputs: Callable[[Array], Array] = in_steps
    states: Callable[[Array], Array] = in_steps
    fault: str = ""

    def run(self, given: Mapping[str, Array], direction: str, coupled: bool) -> list[Array]:
        """Y, Y_h and Y_c: gates in the order i, o, f, c, all sums in double."""
        X = self.inputs(given["X"].astype(np.float64))
        ways = {"forward": [0], "reverse": [1], "bidirectional": [0, 1]}[direction]
        Y, lasts = np.zeros((TIME, len(ways), BATCH, HIDDEN)), []
        for place, backward in enumerate(ways):
            W, R = (self._weights(given, name, place) for name in ("W", "R"))
            bias = given["B"][place].astype(np.float64).reshape(2, -1).sum(axis=0) if "B" in given else 0.0
            h, c = (
                given[name][place].astype(np.float64) if name in given else np.zeros((BATCH, HIDDEN))
                for name in ("initial_h", "initial_c")
            )
            peep = given["P"][place].astype(np.float64).reshape(3, -1) if "P" in given else np.zeros((3, 1))
            for at in range(TIME)[::-1] if backward else range(TIME):
                i, o, f, g = np.split(X[at] @ W + self.states(h) @ R + bias, 4, axis=1)
                if self.fault == "gates of another order":
                    o, f = f, o
                i = sigmoid(i + peep[0] * c)
                f = 1 - i if coupled else sigmoid(f + peep[2] * c)
                c = f * c + i * np.tanh(g)
                h = sigmoid(o + peep[1] * c) * np.tanh(c)
                Y[at, place] = h
            lasts.append((h, c))
        return [Y, *(np.stack(each) for each in zip(*lasts, strict=True))]

    def _weights(self, given: Mapping[str, Array], name: str, place: int) -> Array:
        zero, scale = (
            given[f"{name}_{each}"][place].astype(np.float64).reshape(-1) for each in ("zero_point", "scale")
        )
        zero = zero * 0 if self.fault == "no zero point" else zero
        scale = scale[:1] if self.fault == "one scale for all" else scale
        return np.asarray((given[name][place].astype(np.float64) - zero) * scale)


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def by_rows(given: Array) -> Array:
    return np.stack([in_steps(each) for each in given.reshape(-1, given.shape[-1])]).reshape(given.shape)


def by_steps(given: Array) -> Array:
    return np.stack([in_steps(each) for each in given])


@dataclass(frozen=True)
class Asked:
    """A call: element type of the weights, scales for each column or not, what is given beside them."""

    kind: str
    columns: bool
    optional: tuple[str, ...] = ()
    direction: str = "forward"
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def inputs(self) -> dict[str, Array]:
        directions = 2 if self.direction == "bidirectional" else 1
        info = np.iinfo(self.kind)
        scale = (directions, 4 * HIDDEN) if self.columns else (directions,)
        found: dict[str, Array] = {
            "X": draw.normal(0.3, 1, (TIME, BATCH, WIDTH)).astype(np.float32),
            "B": draw.normal(0, 0.5, (directions, 8 * HIDDEN)).astype(np.float32),
            "initial_h": draw.uniform(-1, 1, (directions, BATCH, HIDDEN)).astype(np.float32),
            "initial_c": draw.normal(0, 0.5, (directions, BATCH, HIDDEN)).astype(np.float32),
            "P": draw.normal(0, 0.5, (directions, 3 * HIDDEN)).astype(np.float32),
        }
        found = {name: array for name, array in found.items() if name == "X" or name in self.optional}
        for name, width in (("W", WIDTH), ("R", HIDDEN)):
            found |= {
                name: draw.integers(info.min, info.max + 1, (directions, width, 4 * HIDDEN), dtype=self.kind),
                f"{name}_scale": draw.uniform(0.004, 0.02, scale).astype(np.float32),
                f"{name}_zero_point": draw.integers(info.min // 2 + 30, 100, scale).astype(self.kind),
            }
        return found


EACH = (
    Asked("uint8", False, ("B",)),
    Asked("int8", True, ("B", "initial_h", "initial_c"), "reverse"),
    Asked("uint8", True, ("B", "initial_h", "initial_c", "P"), "bidirectional"),
    Asked("int8", False, ("P", "initial_h"), "bidirectional", {"input_forget": 1}),
)


def outside(asked: Asked, given: Mapping[str, Array], ways: Mapping[str, str], found: list[Array]) -> int:
    """How many elements no honest program has that quantises in these ways."""
    attributes = {"hidden_size": HIDDEN, "direction": asked.direction, **asked.attributes}
    tensors = {name: tensor(array) for name, array in given.items()}
    count = 0
    answers = OPERATOR.evaluate(attributes, tensors, {"coupled_gate": "forget", **ways}, outputs=3)
    for answer, array in zip(answers, found, strict=True):
        wide = answer.expected.array.astype(np.float64)
        assert wide.shape == array.shape
        assert answer.allowed is not None
        # Where an element is as near to one step as to the next, either is right: nowhere in these draws.
        assert float(answer.allowed.max()) < 2.0**-11
        allowed = answer.allowed + np.abs(wide) * 2.0**-24
        count += int(np.count_nonzero(~(np.abs(wide - array) <= allowed)))
    return count


@pytest.mark.parametrize("asked", EACH, ids=lambda asked: f"{asked.kind}-{asked.direction}")
def test_states_are_those_of_a_program_in_double_in_each_way_to_quantise(asked: Asked) -> None:
    given = asked.inputs()
    coupled = bool(asked.attributes.get("input_forget"))
    for inputs, of_inputs in (("all", in_steps), ("step", by_steps), ("row", by_rows)):
        for states, of_states in (("step", in_steps), ("row", by_rows)):
            ways = {"steps_of_inputs": inputs, "steps_of_states": states}
            found = Program(of_inputs, of_states).run(given, asked.direction, coupled)
            assert outside(asked, given, ways, found) == 0, ways
    ways = {"steps_of_inputs": "all", "steps_of_states": "step"}
    faults = [
        Program(fault=each) for each in ("no zero point", "gates of another order", "one scale for all")
    ][: 3 if asked.columns else 2]
    faults += [
        Program(inputs=lambda array: array),
        Program(states=lambda array: array),
        Program(inputs=lambda array: in_steps(array, symmetric=True)),
        Program(states=by_rows),
        Program(inputs=by_steps),
    ]
    for program in faults:
        assert outside(asked, given, ways, program.run(given, asked.direction, coupled)), program


@pytest.mark.parametrize("name", ["X", "initial_h", "W_scale"])
def test_what_no_byte_stands_for_leaves_the_states_open(name: str) -> None:
    """Programs convert NaN to some byte and go on, or add integers up before an infinite scale comes in."""
    given = EACH[1].inputs()
    given[name] = np.full_like(given[name], np.inf if name == "W_scale" else np.nan)
    tensors = {each: tensor(array) for each, array in given.items()}
    ways = {"steps_of_inputs": "all", "steps_of_states": "step"}
    attributes: dict[str, Any] = {"hidden_size": HIDDEN, "direction": EACH[1].direction}
    Y, *_ = OPERATOR.evaluate(attributes, tensors, ways, outputs=3)
    assert Y.allowed is not None
    assert np.isfinite(Y.expected.array).all()
    for state in (0.9, -0.9):
        assert (np.abs(Y.expected.array - state) <= Y.allowed).all()
