"""Few cases that together kill every mutant that a suite kills."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def select(
    killed: Mapping[str, Sequence[Item]], killer: Callable[[Item, Sequence[str]], str | None]
) -> dict[str, int]:
    """Few cases that together kill every mutant, given which mutants each killed first.

    Cases that killed few are left out where `killer` finds others that kill theirs. The case that kills most
    comes first; the numbers say how many mutants each kills.
    """
    left = {name: list(mutants) for name, mutants in killed.items()}
    for name in sorted(left, key=lambda each: (len(killed[each]), each)):
        others = sorted((each for each in left if each != name), key=lambda each: (-len(left[each]), each))
        found: list[tuple[str, Item]] = []
        for mutant in left[name]:
            other = killer(mutant, others)
            if other is None:
                break
            found.append((other, mutant))
        else:
            del left[name]
            for other, mutant in found:
                left[other].append(mutant)
    return {name: len(left[name]) for name in sorted(left, key=lambda each: (-len(left[each]), each))}
