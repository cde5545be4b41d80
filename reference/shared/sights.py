"""Which keys each query may look at, and what is added to the scores of these."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.numbers.number_arrays import Numbers
from reference.numbers.working import Mask, Working
from reference.readings.choices import Choice


@dataclass(frozen=True, eq=False)
class Sight:
    """Of scores (batch, head, query, key): which count, what is added to them, and which are of padding.

    `ahead` is how many places a key lies behind the one of its query's own position, negative before it.
    """

    seen: Mask
    padding: Mask
    ahead: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    added: Numbers | None = None

    @classmethod
    def of(cls, shape: tuple[int, ...], past: int, lengths: tuple[int, ...] | None) -> Sight:
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

    def within(self, left: int, right: int) -> Sight:
        """Those no farther than so many places to the left and to the right; below 0 there is no end."""
        seen = self.seen if left < 0 else self.seen & (self.ahead >= -left)
        return replace(self, seen=seen if right < 0 else seen & (self.ahead <= right))

    def masked(self, mask: Tensor, working: Working, *, padded: bool, mask_of_one: Choice[str]) -> Sight:
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
