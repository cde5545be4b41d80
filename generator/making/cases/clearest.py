"""The clearest case of a row: of the calls drawn for it, one in which hardly an element is doubtful."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from conformance.suite.cases import Case
from generator.asking.ambiguity import Ambiguity, ambiguity, ambiguity_of_answers
from generator.asking.calls import Call
from generator.asking.questions import Question
from generator.making.operators.workshop import Workshop
from reference.answers import UnstableLength

ATTEMPTS = 25
"""Draws for one row before it is given up: an output length may hang on rounding, or the call be known."""
CLEARER = 8
"""Draws among which the clearest is taken."""
CLEAR = Fraction(1, 100)
"""A share of elements with several accepted results that is clear enough."""
ALIKE = 3
HOPELESS = Fraction(1, 4)
"""Where each of so many draws has a greater share, it is the levels that are unclear, and not the numbers."""


@dataclass(frozen=True, eq=False)
class MadeCase:
    """A case, its call, the number of its draw, and how many elements have several accepted results."""

    doubt: Ambiguity
    call: Call
    case: Case
    attempt: int

    @cached_property
    def share(self) -> Fraction:
        """The share of its elements that have several accepted results."""
        return self.doubt.share

    def keep(self, workshop: Workshop, levels: Mapping[str, str]) -> None:
        """Put it into the suite, as the case of a row."""
        workshop.keep(self.call, self.case)
        workshop.rows.append(levels)


def drawn_call(workshop: Workshop, levels: Mapping[str, str], attempt: int) -> Call | None:
    """One of the calls that are drawn for a row; None where no call has its levels."""
    label = " ".join(f"{name}={level}" for name, level in sorted(levels.items()))
    draw = workshop.draw("cover", label).child(str(attempt))
    return workshop.levels.build_call(workshop.spec, levels, draw)


@dataclass(eq=False)
class _Drawn:
    """A call that was drawn for a row, with what is found of it, each thing when it is first asked for."""

    workshop: Workshop
    levels: Mapping[str, str]
    call: Call
    attempt: int
    _question: Question | None = None

    @cached_property
    def doubt(self) -> Ambiguity | None:
        """What is doubtful under the first option of each open reading; None where a length is unstable."""
        self._question = self.workshop.question(self.call)
        try:
            return ambiguity_of_answers(self._question.plain_answers())
        except UnstableLength:
            return None
        except Exception:
            # A call that breaks a rule is told as that, whatever the reference makes of it.
            self.workshop.make_valid("cover", None, self.call, self.levels)
            raise

    @cached_property
    def made(self) -> MadeCase | None:
        """Its case; None where a reading leaves the length of an output open."""
        question, self._question = self._question, None  # the answers of many calls would fill the memory
        try:
            case = self.workshop.make_valid("cover", None, self.call, self.levels, question)
        except UnstableLength:
            return None
        return MadeCase(ambiguity([case]), self.call, case, self.attempt)


@dataclass(frozen=True, eq=False)
class Clearest:
    """The clearest case of some draws, whether there was a call, and whether one was in the suite already.

    `clear` are cases; draws that are unclear under the first option of each open reading, the clearest first,
    become cases only where there are none of these.
    """

    clear: Sequence[MadeCase]
    unclear: Sequence[_Drawn]
    drawn: bool
    known: bool

    @cached_property
    def made(self) -> MadeCase | None:
        """The clearest case; None where none can be made."""
        if self.clear:
            return min(self.clear, key=lambda each: each.share)
        return next((each.made for each in self.unclear if each.made is not None), None)

    @property
    def least_several(self) -> int:
        """How many elements of its case have several accepted results at least."""
        if self.clear:
            return 0 if self.made is None else self.made.doubt.several
        return min((each.doubt.several for each in self.unclear if each.doubt is not None), default=0)


_Levels = frozenset[tuple[str, str]]
"""A row's levels by factor."""


@dataclass(frozen=True, eq=False)
class Draws:
    """The calls that are drawn for rows, each once: a row may be tried again when others are in the suite."""

    workshop: Workshop
    _attempts: dict[tuple[_Levels, int], _Drawn | None] = field(default_factory=dict)
    _found: dict[tuple[_Levels, str], _Drawn] = field(default_factory=dict)

    def clearest(self, levels: Mapping[str, str]) -> Clearest:
        """The clearest case of some draws: the first in which hardly an element is doubtful."""
        known = drawn = False
        made: list[MadeCase] = []
        unclear: list[tuple[Fraction, int, _Drawn]] = []
        for attempt in range(ATTEMPTS):
            if (made or unclear) and attempt >= CLEARER:
                break
            found = self._draw(levels, attempt)
            if found is None:
                continue
            drawn = True
            if self.workshop.has(found.call):
                known = True
                continue
            if found.doubt is None:
                continue
            if found.doubt.share > CLEAR:
                unclear.append((found.doubt.share, attempt, found))
                continue
            made += [found.made] if found.made is not None else []
            if made and (made[-1].share <= CLEAR or _are_alike(made)):
                break
        ordered = [each for *_, each in sorted(unclear, key=lambda each: each[:2])]
        return Clearest(made, ordered, drawn, known)

    def _draw(self, levels: Mapping[str, str], attempt: int) -> _Drawn | None:
        row = frozenset(levels.items())
        if (row, attempt) not in self._attempts:
            call = drawn_call(self.workshop, levels, attempt)
            self._attempts[row, attempt] = None if call is None else self._known(row, levels, call, attempt)
        return self._attempts[row, attempt]

    def _known(self, row: _Levels, levels: Mapping[str, str], call: Call, attempt: int) -> _Drawn:
        """What is found of a call; several draws of a row may give the same one."""
        digest = call.digest(self.workshop.spec.operator)
        return self._found.setdefault((row, digest), _Drawn(self.workshop, levels, call, attempt))

    def again(self, levels: Mapping[str, str], attempt: int) -> MadeCase | None:
        """The case of a draw that was chosen before; None where it is none now."""
        found = self._draw(levels, attempt)
        return None if found is None or self.workshop.has(found.call) else found.made


def _are_alike(made: Sequence[MadeCase]) -> bool:
    """Whether so much is doubtful in each of the first draws that further ones will not be clear."""
    return len(made) >= ALIKE and all(made_case.share > HOPELESS for made_case in made)
