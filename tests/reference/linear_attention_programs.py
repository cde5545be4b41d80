"""LinearAttention as programs compute it, by steps or by chunks, with mistakes where a test asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Both = tuple[Array, Array]


@dataclass(frozen=True)
class Unpacked:
    """The inputs of a call by heads, [batch, heads, time, size], in the arithmetic of a program."""

    q: Array
    k: Array
    v: Array
    gate: Array
    rate: Array | None
    state: Array
    scale: Any

    @classmethod
    def of(cls, given: Arrays, attributes: Mapping[str, Any], hold: Callable[[Array], Array]) -> Unpacked:
        """Without a gate it is 0; without a scale it is one over the root of the size."""
        heads, rule = attributes["kv_num_heads"], attributes.get("update_rule", "gated_delta")

        def parts(name: str, count: int) -> Array:
            array = given[name]
            return hold(array.reshape((*array.shape[:2], count, -1)).transpose((0, 2, 1, 3)))

        q, k, v = parts("query", attributes["q_num_heads"]), parts("key", heads), parts("value", heads)
        shape = (q.shape[0], heads, k.shape[3], v.shape[3])
        gate = parts("decay", heads) if rule.startswith("gated") else 0 * k[..., :1]
        rate = parts("beta", given["beta"].shape[2]) if rule.endswith("delta") else None
        state = hold(given["past_state"]) if "past_state" in given else hold(np.zeros(shape, k.dtype))
        scale = attributes.get("scale", 0.0)
        one = hold(np.array(np.float32(scale or 1)))
        return cls(q, k, v, gate, rate, state, one if scale else one / hold(np.array(k.shape[3])) ** 0.5)


def exponential(array: Array) -> Array:
    return np.exp(array)


def beside(state: Array, heads: int) -> Array:
    return np.repeat(state, heads // state.shape[1], axis=1)


def by_steps(
    call: Unpacked,
    *,
    power: Callable[[Array], Array] = exponential,
    spread: Callable[[Array, int], Array] = beside,
    factor: Callable[[Array], Array] = np.asarray,
    scale_first: bool = False,
    fault: str = "",
) -> Both:
    """One token after the other, as the page writes it; `factor` rounds what is multiplied and summed up."""
    state, outputs = call.state, []
    for at in range(call.q.shape[2]):
        q, k, v, gate = (array[:, :, at] for array in (call.q, call.k, call.v, call.gate))
        kept_part = power(-gate if fault == "gate of the other sign" else gate)
        before = state
        if fault == "gate of values":
            state = state * kept_part[:, :, None, :]
        elif fault != "gate behind":
            state = state * kept_part[..., None]
        if call.rate is not None:
            rate = call.rate[:, :1, at] if fault == "rate of the first head" else call.rate[:, :, at]
            kept = before if fault == "gate not in what is kept" else state
            apart = v - (factor(kept) * factor(k)[..., None]).sum(axis=2)
            v = {"no delta": v, "no rate": apart}.get(fault, rate * apart)
        written = factor(k)[..., None] * factor(v)[:, :, None, :]
        read = state if fault == "read before it is written" else state + written
        state = state + written
        if fault == "gate behind":
            state = state * kept_part[..., None]
        if fault == "state in bfloat16":
            state = (state.view(np.uint32) & 0xFFFF0000).view(np.float32)
        q = q * call.scale if scale_first else q
        found = (factor(q)[..., None] * factor(spread(read, q.shape[1]))).sum(axis=2)
        outputs.append(found if scale_first or fault == "no scale" else found * call.scale)
    return _packed(outputs), before if fault == "the last state but one" else state


def by_chunks(
    call: Unpacked,
    size: int,
    *,
    quotients: bool = False,
    inverse: Callable[[Array], Array] | None = None,
) -> Both:
    """So many tokens at once: what they write depends on each other by a triangular matrix.

    Factors between two tokens are exponentials of differences of running sums, or `quotients` of two
    exponentials; the matrix is solved row by row, or inverted.
    """
    state, outputs = call.state, []
    for start in range(0, call.q.shape[2], size):
        place = np.s_[:, :, start : start + size]
        q, k, v = (call.q * call.scale)[place], call.k[place], call.v[place]
        summed = np.add.accumulate(call.gate[place], axis=2) + 0 * k
        after = np.exp(summed)
        if quotients:
            inward = (k * np.exp(-summed)).swapaxes(2, 3)
            between = (k * after) @ inward
            seen = (q * beside(after, q.shape[1])) @ beside(inward, q.shape[1])
        else:
            inward = np.exp(summed[:, :, :, None] - summed[:, :, None]) * k[:, :, None]
            between = (k[:, :, :, None] * inward).sum(axis=4)
            seen = (q[:, :, :, None] * beside(inward, q.shape[1])).sum(axis=4)
        written = v
        if call.rate is not None:
            rate = call.rate[place]
            right = rate * (v - (k * after) @ state)
            lower = np.tril(rate * between, -1)
            written = _solved(lower, right) if inverse is None else inverse(lower) @ right
        found = np.tril(seen) @ beside(written, q.shape[1])
        found = found + (q * beside(after, q.shape[1])) @ beside(state, q.shape[1])
        outputs += list(found.transpose((2, 0, 1, 3)))
        left = np.exp(summed[:, :, -1:] - summed) * k
        state = after[:, :, -1, :, None] * state + left.swapaxes(2, 3) @ written
    return _packed(outputs), state


def _solved(lower: Array, right: Array) -> Array:
    found = np.array(right)
    for row in range(1, right.shape[2]):
        found[:, :, row] -= (lower[:, :, row, :row, None] * found[:, :, :row]).sum(axis=2)
    return found


def doubled(lower: Array) -> Array:
    """The inverse of 1 + L for L below the diagonal: (1 - L)(1 + L^2)(1 + L^4)."""
    one = np.broadcast_to(np.eye(lower.shape[-1], dtype=lower.dtype), lower.shape)
    square = lower @ lower
    return np.asarray(((one - lower) @ (one + square)) @ (one + square @ square))


def _packed(outputs: list[Array]) -> Array:
    """What is read at each step, [batch, heads, size], as (batch, time, heads x size)."""
    found = np.stack(outputs, axis=1)
    return found.reshape((*found.shape[:2], -1))
