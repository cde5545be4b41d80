"""Attention: values weighed by how well the keys before them fit queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import BY_CODE
from opcert.vocabulary.tensors import Tensor
from reference.functions.functions import function_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.working import Mask, Working
from reference.readings.choices import AsReading, Choice, OutputCount
from reference.registry import reference_operator
from reference.shared.attention_weights import scaled_products, scaling, weighed, weights_of
from reference.shared.heads import GroupedHeads, by_heads, heads_for_queries
from reference.shared.standardization import cast_back


@dataclass(frozen=True, eq=False)
class VisibleKeys:
    """Of scores (batch, head, query, key): which count, what is added to them, and which are of padding.

    `ahead` is how many places a key lies behind the one of its query's own position, negative before it.
    """

    seen: Mask
    padding: Mask
    ahead: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    added: Numbers | None = None

    @classmethod
    def of(cls, shape: tuple[int, ...], past: int, lengths: tuple[int, ...] | None) -> VisibleKeys:
        """All keys but those behind the length of each member of the batch.

        Queries stand behind `past` keys, or are the last of the keys that there are.
        """
        queries, keys = np.arange(shape[2])[:, None], np.arange(shape[3])
        if lengths is None:
            ahead, padding = keys - queries - past, np.zeros(shape, dtype=np.bool_)
        else:
            counts = np.array(lengths, dtype=np.int64).reshape((-1, 1, 1, 1))
            ahead, padding = keys - queries - (counts - shape[2]), np.broadcast_to(keys >= counts, shape)
        return cls(~padding, padding, np.broadcast_to(ahead, shape))

    def within(self, left: int, right: int) -> VisibleKeys:
        """Those no farther than so many places to the left and to the right; below 0 there is no end."""
        seen = self.seen if left < 0 else self.seen & (self.ahead >= -left)
        return replace(self, seen=seen if right < 0 else seen & (self.ahead <= right))

    def masked(
        self, mask: Tensor, working: Working, *, padded: bool, mask_of_one: Choice[str]
    ) -> VisibleKeys:
        """Those that a boolean mask has, or all with what a mask of numbers adds to them.

        A mask of fewer keys has none of the others where it is `padded`; whether one of a single key is
        broadcast is asked.
        """
        width, keys = mask.shape[-1] if mask.shape else 1, self.seen.shape[3]
        if padded and (width > 1 or (keys > 1 and mask_of_one.ask() == "padded")):
            rest = [(0, 0)] * (mask.array.ndim - 1) + [(0, keys - width)]
            known = np.pad(np.ones(mask.shape, dtype=np.bool_), rest)
            mask = Tensor(mask.element_type, np.pad(mask.array, rest))
        else:
            known = np.ones(mask.shape, dtype=np.bool_)
        if mask.element_type.kind == "bool":
            return replace(self, seen=self.seen & known & mask.array)
        return replace(self, seen=self.seen & known, added=Numbers.of(mask, working))

    def biased(self, scores: Numbers) -> Numbers:
        """Scores and what is added to them, minus infinity where a key is not seen.

        The formula adds minus infinity there: of an infinity or NaN NaN may come, or nothing.
        """
        found = scores if self.added is None else scores + self.added
        return found.where(self.seen, minus_infinity(found))

    def unclear(self, scores: Numbers) -> Mask:
        """Where adding minus infinity gives NaN, which who leaves the key out does not see."""
        found = scores if self.added is None else scores + self.added
        return np.asarray(~self.seen & (np.isnan(found.sign) | (found.sign == np.inf) | found.lost))

    def empty(self, *, by_numbers: bool) -> Mask:
        """Queries that see no key, (batch, head, query, 1); `by_numbers`: nor one that a mask makes count."""
        shut = ~self.seen
        if by_numbers and self.added is not None:
            shut = shut | (self.added.sign == -np.inf)
        return np.asarray(shut.all(axis=-1, keepdims=True))


def minus_infinity(numbers: Numbers) -> Numbers:
    return replace(numbers.lift(0), sign=np.array(-np.inf))


@reference_operator("ai.onnx::Attention", segments=(24,))
def attention(
    Q: Numbers,
    K: Tensor,
    V: Tensor,
    attn_mask: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    nonpad_kv_seqlen: tuple[int, ...] | None = None,
    *,
    is_causal: int = 0,
    q_num_heads: int | None = None,
    kv_num_heads: int | None = None,
    scale: Fraction | None = None,
    softcap: Fraction = Fraction(0),
    softmax_precision: int | None = None,
    qk_matmul_output_mode: int = 0,
    left_window_size: int = -1,
    right_window_size: int = -1,
    version: int,
    outputs: Annotated[int | None, OutputCount],
    grouped_heads: GroupedHeads,
    mask_of_one: Annotated[Choice[Literal["broadcast", "padded"]], AsReading],
    scale_precision: Annotated[Choice[Literal["type", "float32"]], AsReading],
) -> tuple[Numbers | Tensor, ...]:
    """Softmax(softcap tanh(Q K' scale / softcap) + mask) V, by heads; queries that see no key have zeros.

    Source: Attention, Summary and every attribute and input.
    """
    q = Q if Q.ndim == 4 else Q.arranged(lambda each: by_heads(each, q_num_heads))
    key, value = (_joined(*each, kv_num_heads) for each in ((past_key, K), (past_value, V)))
    places = heads_for_queries(key.shape[1], q.shape[1], grouped_heads)
    k, v = (Numbers.of(each, Q.working).arranged(lambda it: it[:, places]) for each in (key, value))
    scores = scaled_products(q, k, *scaling(Q.working, q.shape[3], scale, scale_precision))
    capped = function_of("tanh", scores / softcap) * softcap if softcap else scores
    sight = VisibleKeys.of(scores.shape, key.shape[2] - K.shape[-2], nonpad_kv_seqlen)
    sight = sight.within(left_window_size, right_window_size)
    if is_causal:
        sight = sight.within(-1, 0)
    if attn_mask is not None:
        sight = sight.masked(attn_mask, Q.working, padded=version >= 24, mask_of_one=mask_of_one)
    biased = sight.biased(capped)
    weights = _weights(biased, sight, softmax_precision, version)
    untold = sight.unclear(capped)
    weights = opened(weights, np.asarray(untold.any(axis=-1, keepdims=True))) if untold.any() else weights
    found = weighed(weights, v)
    if Q.ndim == 3:
        found = found.transposed((0, 2, 1, 3)).reshape((*Q.shape[:2], -1))
    if outputs is not None and outputs < 4:
        return (found, key, value)[:outputs]
    told = (scores, capped, opened(biased, untold), weights)[qk_matmul_output_mode]
    # Who leaves out the padding to save time has no scores there.
    return found, key, value, told if qk_matmul_output_mode == 3 else opened(told, sight.padding)


def _weights(biased: Numbers, sight: VisibleKeys, precision: int | None, version: int) -> Numbers:
    """The weights of values: in another precision where it is named, rounded to the type of the scores again.

    No text says what comes where the greatest score is infinite, and, from 24 on, whether a mask of numbers
    can keep a query from all keys.
    """
    working = biased.working
    empty = sight.empty(by_numbers=True)
    plain = biased.where(~empty, 0)
    if precision is not None and BY_CODE[precision] != working.element_type:
        narrow = replace(working, element_type=BY_CODE[precision], accumulation=Choice("input"))
        plain = cast_back(plain, narrow)
    weights = cast_back(weights_of(plain, sight.seen), working).where(~empty, 0)
    wild = np.isinf(np.where(empty, 0.0, _greatest_sign(biased)))
    lone = np.isnan(biased.sign).any(axis=-1, keepdims=True) & ~sight.seen
    doubtful = wild | lone
    if version >= 24:
        doubtful = doubtful | (empty & ~sight.empty(by_numbers=False))
    return opened(weights, doubtful) if doubtful.any() else weights


def _greatest_sign(biased: Numbers) -> NDArray[np.float64]:
    """Infinite where the greatest of a row is."""
    signs = biased.sign
    high, low = (signs == np.inf).any(axis=-1, keepdims=True), (signs == -np.inf).all(axis=-1, keepdims=True)
    return np.where(high, np.inf, np.where(low, -np.inf, 0.0))


def _joined(past: Tensor | None, new: Tensor, heads: int | None) -> Tensor:
    """What was kept and what is new, by heads."""
    array = new.array if new.array.ndim == 4 else by_heads(new.array, heads)
    return Tensor(new.element_type, array if past is None else np.concatenate([past.array, array], axis=2))
