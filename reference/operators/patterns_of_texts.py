"""RegexFullMatch: whether a regular expression is all of a text.

All ways through the expression are gone at once, character by character: no pattern takes more steps than it
has parts times the text has characters.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, OutsideDomain
from reference.registry import reference_operator
from specs.language.functions.patterns import (
    Alternatives,
    Characters,
    Node,
    PatternPlace,
    RepeatedPattern,
    Sequence,
    read_pattern,
)


@reference_operator("ai.onnx::RegexFullMatch")
def regex_full_match(X: Tensor, *, pattern: str) -> Answer:
    """True where the element matches the pattern from its begin to its end. Source: Summary, pattern."""
    try:
        program = _Program.of(read_pattern(pattern))
    except ValueError as error:
        raise OutsideDomain("a pattern beyond the subset of RE2 that is read", got=str(error)) from error
    texts = [element.decode() for element in X.array.reshape(-1).tolist()]
    found = np.array([program.matches(text) for text in texts], dtype=np.bool_).reshape(X.shape)
    return Answer(Tensor(ELEMENT_TYPES["bool"], found))


@dataclass(eq=False)
class _Program:
    """States with the ways between them: over a character, at a place, or free; the last state is the end."""

    over: dict[int, list[tuple[Characters, int]]] = field(default_factory=dict)
    free: dict[int, list[tuple[PatternPlace | None, int]]] = field(default_factory=dict)
    count: int = 1

    @classmethod
    def of(cls, tree: Node) -> _Program:
        program = cls()
        program.end = program._add(tree, 0)
        return program

    end: int = 0

    def _state(self) -> int:
        self.count += 1
        return self.count - 1

    def _add(self, node: Node, start: int) -> int:
        """The state behind a part that begins at a state."""
        if isinstance(node, Characters):
            behind = self._state()
            self.over.setdefault(start, []).append((node, behind))
            return behind
        if isinstance(node, PatternPlace):
            behind = self._state()
            self.free.setdefault(start, []).append((node, behind))
            return behind
        if isinstance(node, Sequence):
            for part in node.parts:
                start = self._add(part, start)
            return start
        if isinstance(node, Alternatives):
            behind = self._state()
            for part in node.parts:
                self._step(self._add(part, self._begun(start)), behind)
            return behind
        return self._repeat(node, start)

    def _repeat(self, node: RepeatedPattern, start: int) -> int:
        for _ in range(node.least):
            start = self._add(node.part, start)
        behind = self._state()
        if node.most is None:
            again = self._begun(start)
            self._step(again, behind)
            self._step(self._add(node.part, again), again)
            return behind
        for _ in range(node.most - node.least):
            self._step(start, behind)
            start = self._add(node.part, start)
        self._step(start, behind)
        return behind

    def _begun(self, start: int) -> int:
        """A state of its own behind a state, so that ways back do not lead to what stands before."""
        behind = self._state()
        self._step(start, behind)
        return behind

    def _step(self, start: int, behind: int) -> None:
        self.free.setdefault(start, []).append((None, behind))

    def matches(self, text: str) -> bool:
        """Whether a way from the first state to the end goes over all characters of a text."""
        states = self._reached({0}, text, 0)
        for at, character in enumerate(text):
            over = {
                behind
                for state in states
                for characters, behind in self.over.get(state, ())
                if _is_one_of(character, characters)
            }
            states = self._reached(over, text, at + 1)
        return self.end in states

    def _reached(self, states: set[int], text: str, at: int) -> set[int]:
        """The states with those to which ways lead freely at a place of the text."""
        found, left = set(states), [*states]
        while left:
            for place, behind in self.free.get(left.pop(), ()):
                if behind not in found and (place is None or _is_at(place.word, text, at)):
                    found.add(behind)
                    left.append(behind)
        return found


def _is_one_of(character: str, characters: Characters) -> bool:
    own = {character, character.lower(), character.upper()} if characters.folded else {character}
    codes = [ord(each) for each in own if len(each) == 1]
    return any(low <= code <= high for low, high in characters.ranges for code in codes)


def _is_at(word: str, text: str, at: int) -> bool:
    if word in ("begin", "end"):
        return at == (0 if word == "begin" else len(text))
    before, behind = text[at - 1 : at] if at else "", text[at : at + 1]
    if word == "begin_line":
        return before in ("", "\n")
    if word == "end_line":
        return behind in ("", "\n")
    is_edge = _is_of_word(before) != _is_of_word(behind)
    return is_edge == (word == "edge")


def _is_of_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")
