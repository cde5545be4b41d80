"""Mutants that are compared by what parts return further out: those within which theirs is called.

What a mutant makes another value of is often lost on its way through the callers, long before the answer; to
work out a caller once more takes less than the whole answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType, FrameType, FunctionType
from typing import Any

from generator.adequacy.mutants import Mutant
from generator.adequacy.mutated_parts import Part

MOST_STACKS = 100
"""So many ways to a part are remembered; of a call that comes by another one nothing is known."""
Stack = tuple[Part, ...]
"""The parts within which a call was made, the innermost first, up to the operator's own function."""


@dataclass(frozen=True, eq=False)
class Chain:
    """Mutants of one part, with what it is as each, compared by what any of the `outer` parts returns."""

    part: Part
    outer: frozenset[Part]
    functions: dict[Mutant, FunctionType] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Called:
    """A part whose calls are watched: its function, and what is compared there.

    `whole` are its own mutants that are compared by what it returns, `inner` its own that are compared
    further out, `outer` those of other parts that are compared here. What is `kept` is worked out once for an
    object, and not asked for again.
    """

    part: Part
    right: FunctionType
    whole: Mapping[Mutant, FunctionType]
    inner: Sequence[Chain]
    outer: Sequence[Chain]
    kept: bool


def stack_at(frame: FrameType | None, part_of: Mapping[CodeType, Part]) -> Stack:
    """The parts whose code is running at a frame and outside of it, none twice in a row."""
    found: list[Part] = []
    while frame is not None:
        part = part_of.get(frame.f_code)
        if part is not None and (not found or found[-1] is not part):
            found.append(part)
        frame = frame.f_back
    return tuple(found)


def outer_parts(stacks: Sequence[Stack], height: int, main: Callable[..., Any]) -> frozenset[Part] | None:
    """The parts so many calls further out than that of which the stacks begin.

    None where one is the operator's own function, or where an object keeps what was worked out on the way:
    to work it out again would give what is kept.
    """
    found = set()
    for stack in stacks:
        if len(stack) <= height or any(is_kept(each) for each in stack[:height]):
            return None
        found.add(stack[height])
    return None if not found or any(each.function is main for each in found) else frozenset(found)


def is_kept(part: Part) -> bool:
    """Whether objects keep what a part gives."""
    return isinstance(_attribute(part), cached_property)


def _attribute(part: Part) -> Any:
    """What a class holds by the name of a method; nothing for other functions."""
    owner, _, name = part.name.rpartition(".")
    return vars(vars(part.module)[owner])[name] if owner else None
