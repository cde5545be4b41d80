"""Recurrent cells as programs compute them, by numpy or mpmath, with mistakes where a test asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mpmath import mp  # type: ignore[import-untyped] # ships no types
from numpy.typing import NDArray

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Fault = str
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@dataclass(frozen=True)
class Arithmetic:
    """How numbers are held, functions computed, and sums added up."""

    kind: Any
    sigmoid: Callable[[Array], Array]
    tanh: Callable[[Array], Array]
    dot: Callable[[Array, Array], Array]

    def hold(self, given: Array) -> Array:
        """Numbers as this arithmetic has them."""
        return given.astype(self.kind)


def _of_objects(function: Callable[[Any], Any]) -> Callable[[Array], Array]:
    spread = np.frompyfunc(function, 1, 1)
    return lambda given: np.asarray(spread(given), dtype=object)


def _exact_dot(left: Array, right: Array) -> Array:
    return np.asarray((left[:, None, :] * right[None, :, :]).sum(axis=2), dtype=object)


def _in_order(left: Array, right: Array) -> Array:
    found = np.zeros((left.shape[0], right.shape[0]), left.dtype)
    for at in range(left.shape[1]):
        found = found + left[:, at, None] * right[None, :, at]
    return found


def _backwards(left: Array, right: Array) -> Array:
    return _in_order(left[:, ::-1], right[:, ::-1])


def _plain_sigmoid(x: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-x)), x.dtype)


def _stable_sigmoid(x: Array) -> Array:
    power = np.exp(-np.abs(x))
    return np.asarray(np.where(x > 0, 1 / (1 + power), power / (1 + power)), x.dtype)


def _plain_tanh(x: Array) -> Array:
    power = np.exp(-2 * x)
    return np.asarray((1 - power) / (1 + power), x.dtype)


def mpmath_arithmetic() -> Arithmetic:
    """With 250 bits, which nothing here comes near to need."""
    mp.prec = 250
    hold = np.frompyfunc(lambda each: mp.mpf(float(each)), 1, 1)
    exact = Arithmetic(
        object,
        _of_objects(lambda x: 1 / (1 + mp.exp(-x))),
        _of_objects(mp.tanh),
        _exact_dot,
    )
    object.__setattr__(exact, "hold", lambda given: np.asarray(hold(given), dtype=object))
    return exact


def programs(kind: Any) -> Mapping[str, Arithmetic]:
    """Honest ones in a type: other orders of sums, and other formulas of functions."""
    return {
        "matrices": Arithmetic(kind, _plain_sigmoid, np.tanh, lambda left, right: left @ right.T),
        "term by term": Arithmetic(kind, _stable_sigmoid, np.tanh, _in_order),
        "from the last term": Arithmetic(kind, _plain_sigmoid, _plain_tanh, _backwards),
    }


@dataclass(frozen=True)
class Cell:
    """One call: the operator, its attributes, and a mistake that is made on purpose."""

    name: str
    arithmetic: Arithmetic
    attributes: Mapping[str, Any] = field(default_factory=dict)
    fault: Fault = ""

    def run(self, given: Arrays) -> list[Array]:
        """Y, Y_h and for LSTM Y_c of inputs by name; the gates' sums are taken apart, W X first."""
        data = {name: self.arithmetic.hold(array) for name, array in given.items() if name != "sequence_lens"}
        batch_first = bool(self.attributes.get("layout", 0))
        if batch_first:
            data |= {
                name: data[name].swapaxes(0, 1) for name in ("X", "initial_h", "initial_c") if name in data
            }
        time, batch, _ = data["X"].shape
        lengths = given.get("sequence_lens", np.full(batch, time))
        ways = {"forward": [0], "reverse": [1], "bidirectional": [0, 1]}
        backward = ways[self.attributes.get("direction", "forward")]
        hidden = data["R"].shape[2]
        Y = np.zeros((time, len(backward), batch, hidden), data["X"].dtype)
        finals: list[list[Array]] = []
        for place, back in enumerate(backward):
            weights = self._weights(data, place)
            lasts = []
            for row in range(batch):
                states = self._initial(data, place, row, hidden)
                length = time if self.fault == "past the end" else int(lengths[row])
                order = range(length)[::-1] if back else range(length)
                for step, at in enumerate(order):
                    states = self._step(data["X"][at, row][None], states, weights)
                    Y[step if self.fault == "not turned back" else at, place, row] = states[0][0]
                lasts.append([state[0] for state in states])
            finals.append([np.stack([last[at] for last in lasts]) for at in range(len(lasts[0]))])
        states = [np.stack([final[at] for final in finals]) for at in range(len(finals[0]))]
        if batch_first:
            Y, states = Y.transpose(2, 0, 1, 3), [state.swapaxes(0, 1) for state in states]
        return [Y, *states]

    def _initial(self, data: Arrays, place: int, row: int, hidden: int) -> list[Array]:
        nothing = np.zeros((1, hidden), data["X"].dtype)
        names = ("initial_h", "initial_c") if self.name == "LSTM" else ("initial_h",)
        return [data[name][place, row][None] if name in data else nothing for name in names]

    def _weights(self, data: Arrays, place: int) -> Mapping[str, Sequence[Array]]:
        """W, R, Wb, Rb and P gate by gate."""
        hidden, gates = data["R"].shape[2], GATES[self.name]
        found = {name: np.split(data[name][place], gates) for name in ("W", "R")}
        B = data["B"][place] if "B" in data else np.zeros(2 * gates * hidden, data["X"].dtype)
        found |= {"Wb": np.split(B[: gates * hidden], gates), "Rb": np.split(B[gates * hidden :], gates)}
        if self.fault == "no bias":
            found |= {name: [0 * array for array in found[name]] for name in ("Wb", "Rb")}
        if self.fault == "Wb alone":
            found["Rb"] = [0 * array for array in found["Rb"]]
        if "P" in data:
            found["P"] = np.split(data["P"][place], 3)
            if self.fault == "peepholes of other gates":
                found["P"] = found["P"][1:] + found["P"][:1]
        if self.fault == "gates in another order":
            found = {name: [*each[1:], each[0]] if name != "P" else each for name, each in found.items()}
        if self.fault == "first direction's weights":
            return self._weights(data, 0) if place else found
        return found

    def _functions(self) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
        """Sigmoid and tanh of what the threshold leaves."""
        clip, sigmoid, tanh = self.attributes.get("clip"), self.arithmetic.sigmoid, self.arithmetic.tanh
        if self.fault == "sigmoid level at 3":
            sigmoid = lambda x: self.arithmetic.sigmoid(np.clip(x, -3, 3))  # noqa: E731
        if self.fault == "tanh of 12 bits":
            tanh = lambda x: (np.round(self.arithmetic.tanh(x) * 4096) / 4096).astype(x.dtype)  # noqa: E731
        if clip is None or self.fault == "no threshold":
            return sigmoid, tanh
        low, high = self.arithmetic.hold(np.array([-clip, clip]))
        return (lambda x: sigmoid(np.clip(x, low, high))), (lambda x: tanh(np.clip(x, low, high)))

    def _step(self, x: Array, states: list[Array], of: Mapping[str, Sequence[Array]]) -> list[Array]:
        sigmoid, tanh = self._functions()
        dot, h = self.arithmetic.dot, states[0]

        def summed(gate: int) -> Array:
            return dot(x, of["W"][gate]) + dot(h, of["R"][gate]) + of["Wb"][gate] + of["Rb"][gate]

        if self.name == "RNN":
            return [tanh(summed(0))]
        if self.name == "GRU":
            z, r = sigmoid(summed(0)), sigmoid(summed(1))
            before = bool(self.attributes.get("linear_before_reset", 0)) != (self.fault == "reset elsewhere")
            if before:
                new = dot(x, of["W"][2]) + of["Wb"][2] + r * (dot(h, of["R"][2]) + of["Rb"][2])
            else:
                new = dot(x, of["W"][2]) + dot(r * h, of["R"][2]) + (of["Wb"][2] + of["Rb"][2])
            if self.fault == "z and 1 - z":
                return [z * tanh(new) + (1 - z) * h]
            return [(1 - z) * tanh(new) + z * h]
        c = states[1]
        peep = of.get("P", [0 * c[0]] * 3)
        i, f = sigmoid(summed(0) + peep[0] * c), sigmoid(summed(2) + peep[2] * c)
        if self.attributes.get("input_forget") == "forget":
            f = 1 - i
        if self.attributes.get("input_forget") == "input":
            i = 1 - f
        cell = f * c + i * tanh(summed(3))
        seen = c if self.fault == "the last cell for o" else cell
        o = sigmoid(summed(1) + peep[1] * seen)
        return [o * self.arithmetic.tanh(cell), cell]
