"""Units of measuring: an operator's mutants in sets, and in the end what all of them come to.

Whoever does the units, in whatever order, finds the same. What came is kept until the operator is through, so
that a measurement that was interrupted goes on behind the sets that it had.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance.clusters.worker_answers import Lost
from conformance.suite.suites import Suite
from generator.measured.kept import MeasuredOperator
from generator.measured.outcomes import MutantOutcome, SetAnswer
from generator.trust.mutants.asked_node_tests import node_tests
from generator.trust.mutants.measure import Prepared
from generator.trust.mutants.measured_before import find_measured, find_sets, keep_measured, keep_set
from generator.trust.mutants.work import MeasuredWork, expectations_of, key_of, packed, work_of
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.names import OperatorName


@dataclass(frozen=True, eq=False)
class SetUnit:
    """A set of an operator's mutants by its number; with `outcomes`, those of all sets, what they come to."""

    operator: OperatorName
    number: int = 0
    outcomes: Sequence[MutantOutcome] | None = None


def answer_unit(work: MeasuredWork, prepared: Prepared, unit: SetUnit) -> SetAnswer | MeasuredOperator:
    """What became of a set; what all come to, where these are all."""
    if unit.outcomes is not None:
        return work.together(prepared, unit.outcomes)
    outcomes = prepared.outcomes(unit.number)
    return work.together(prepared, outcomes) if prepared.sets <= 1 else SetAnswer(prepared.sets, outcomes)


@dataclass(eq=False)
class _Open:
    """An operator under way: its work as bytes, the key of its measurement, and the sets that have come."""

    work: bytes
    key: str
    came: dict[int, SetAnswer] = field(default_factory=dict)


class Measuring:
    """Which units there are, as answers come: the first set of an operator says how many more it has.

    Nothing is kept of operators of `folders`: their measurements hang on more than their keys tell. `tell`
    is told how far an operator is that has several sets.
    """

    def __init__(
        self,
        suite: Suite,
        operators: Sequence[OperatorName],
        tested: Collection[OperatorName],
        folders: Sequence[Path] = (),
        tell: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.lost: dict[OperatorName, str] = {}
        self._open: dict[OperatorName, _Open] = {}
        self._suite, self._operators, self._tested = suite, operators, tested
        self._folders, self._tell = tuple(folders), tell
        self._ready: deque[SetUnit] = deque()
        self._done: dict[OperatorName, MeasuredOperator] = {}
        self._through = 0

    def units(self) -> Iterator[tuple[SetUnit, bytes] | None]:
        """Every unit with its operator's work; None while others hang on what is awaited.

        Those of operators under way come first.
        """
        left = iter(self._operators)
        while True:
            if self._ready:
                unit = self._ready.popleft()
                yield unit, self._open[unit.operator].work
                continue
            operator = next(left, None)
            if operator is not None:
                self._begin(operator)
            elif self._open:
                yield None
            else:
                return

    def take(self, unit: SetUnit, answer: SetAnswer | MeasuredOperator | Lost) -> None:
        """Note what came of a unit."""
        opened = self._open.get(unit.operator)
        if opened is None:  # lost in another unit
            return
        if isinstance(answer, Lost):
            self.lost[unit.operator] = answer.reason
            self._ready = deque(each for each in self._ready if each.operator != unit.operator)
        elif isinstance(answer, MeasuredOperator):
            self._done[unit.operator] = answer
            if not self._folders:
                keep_measured(unit.operator, opened.key, answer)
        else:
            self._take_set(unit, opened, answer)
            return
        del self._open[unit.operator]

    def through(self) -> Iterator[MeasuredOperator]:
        """What is known of the next operators, as far as nothing before is under way."""
        while self._through < len(self._operators):
            operator = self._operators[self._through]
            if operator not in self._done and operator not in self.lost:
                return
            self._through += 1
            if operator in self._done:
                yield self._done.pop(operator)

    def _begin(self, operator: OperatorName) -> None:
        tested = operator in self._tested
        key = key_of(operator, expectations_of(self._suite, operator), tested)
        before = None if self._folders else find_measured(operator, key)
        if before is not None:
            self._done[operator] = before
            return
        tests = node_tests(operator, lambda _: None) if tested else []
        opened = _Open(packed(work_of(self._suite, operator, self._folders, tests)), key)
        self._open[operator] = opened
        if not self._folders:
            opened.came.update(find_sets(operator, key))
        if opened.came:
            self._tell(f"{operator}: {len(opened.came)} sets of mutants are known from before")
        self._go_on(operator, opened)

    def _take_set(self, unit: SetUnit, opened: _Open, answer: SetAnswer) -> None:
        opened.came[unit.number] = answer
        sets = {each.sets for each in opened.came.values()}
        if len(sets) > 1:
            raise InternalError(
                "machines of a cluster find different mutants",
                got=f"{unit.operator} has {' and '.join(map(str, sorted(sets)))} sets of them",
            )
        if not self._folders:
            keep_set(unit.operator, opened.key, unit.number, answer)
        self._tell(f"{unit.operator}: {len(opened.came)} of {answer.sets} sets of mutants")
        if unit.number == 0 or len(opened.came) >= answer.sets:
            self._go_on(unit.operator, opened)

    def _go_on(self, operator: OperatorName, opened: _Open) -> None:
        """What is next of an operator: its first set, the others when that is there, what all come to."""
        came = opened.came
        if 0 not in came:
            self._ready.append(SetUnit(operator))
            return
        sets = came[0].sets
        self._ready.extend(SetUnit(operator, each) for each in range(1, sets) if each not in came)
        if len(came) >= sets:
            outcomes = [each for number in sorted(came) for each in came[number].outcomes]
            self._ready.append(SetUnit(operator, outcomes=outcomes))
