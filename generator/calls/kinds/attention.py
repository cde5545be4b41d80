"""What is Attention's own: what of its inputs goes together, and its masks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Kind, Level, SingleKind
from generator.calls.variables.wanted_outputs import NAMES, OUTPUTS, WANTED
from specs.model.spec import Constraint

_PAST = ("past_key", "past_value")
_PRESENT = ("present_key", "present_value")
_HEADS = ("q_num_heads", "kv_num_heads")
_LENGTHS = "nonpad_kv_seqlen"


@dataclass(frozen=True)
class Attention(Kind):
    """What Attention is given: `inputs` that go together, or a `mask`."""


@dataclass(frozen=True)
class _AttentionInputs(Attention):
    """Numbers of heads go together, past keys and values do, present ones do, and lengths of a cache outside
    go with neither; all have one type.
    """

    @property
    def covers(self) -> tuple[str, ...]:
        return ()

    @property
    def mends(self) -> tuple[str, ...]:
        return (self.name,)

    def rules(self) -> Iterable[Constraint]:
        query, kept = _HEADS
        yield self.rule("heads_together", f"present({query}) == present({kept})", about=query)
        key, value = _PAST
        yield self.rule("past_together", f"present({key}) == present({value})", about=key)
        one, other = (f"'{each}' in wanted" for each in _PRESENT)
        yield self.rule("present_together", f"({one}) == ({other})", about=key)
        yield self.rule("one_type", "element_type(V) == element_type(Q)", about="V")
        if self.subject.input(_LENGTHS) is not None:
            none = f"not present({key}) and not present({value}) and not ({one}) and not ({other})"
            yield self.rule("one_cache", none, f"present({_LENGTHS})", about=_LENGTHS)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        names = list(scope.find(NAMES))
        if scope.find(_HEADS[0]) is not None:
            yield "heads_together", {_HEADS[1]: None}
        if scope.find(f"shape:{_PAST[0]}") is not None:
            for each in _PAST:
                yield "past_together", {each: None, f"shape:{each}": None}
        elif scope.find(f"shape:{_LENGTHS}") is not None:
            yield "one_cache", _asked([names[0], *_PRESENT, *names[3:]])
        else:
            for each in _PRESENT:
                left = [names[0], *("" if name == each else name for name in _PRESENT), *names[3:]]
                yield "present_together", _asked(left)


def _asked(names: list[str]) -> Bindings:
    while not names[-1]:
        names.pop()
    return {NAMES: names, WANTED: [name for name in names if name], OUTPUTS: len(names)}


@dataclass(frozen=True)
class _AttentionMask(SingleKind):
    """Booleans, or numbers in quarters of which some are minus infinity; the last axis is that of keys.

    Numbers are of the type of the query.
    `mixed` leaves every row a key, `shut` the first row none, `open` all keys; numbers are then finite.
    """

    needs_own_shape: ClassVar[bool] = True

    def levels(self) -> tuple[Level, ...]:
        return ("mixed", "shut", "open")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[Any]]:
        shape = scope.shape(self.name)
        count, keys = prod(shape), shape[-1] if shape else 1
        seen = np.array(draw.numbers(0, 2, count)).reshape(shape) > 0
        seen = (
            seen.reshape(shape or (1,))
            | (np.arange(keys) == draw.integer(0, max(keys - 1, 0)))
            | (level == "open")
        )
        if level == "shut" and seen.size:
            seen[(0,) * (seen.ndim - 1)] = False
        if not self.type_of(scope, self.name).is_float:
            yield seen.reshape(shape)
            return
        added = np.array(draw.numbers(-8, 8, count)).reshape(shape) / 4
        yield np.where(seen.reshape(shape), added, -np.inf)

    def rules(self) -> Iterable[Constraint]:
        alike = f"element_type({self.name}) in ['bool', element_type(Q)]"
        yield self.rule("mask_type", alike, self.given)


Attention.variants = {"inputs": _AttentionInputs, "mask": _AttentionMask}
