"""Adequacy measured by the workers of a cluster, set of mutants by set, with what one machine finds."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.clusters.cluster import Cluster, Lost
from conformance.clusters.machines import sources_digest
from conformance.clusters.own_process import in_own_process
from conformance.clusters.worker_answers import on_worker
from conformance.suite.suites import Suite, open_suite
from generator.adequacy.asked_node_tests import node_tests, tested_by_nodes
from generator.adequacy.kept import Kept
from generator.adequacy.measured_before import find_measured, keep_measured
from generator.adequacy.outcomes import Outcome
from generator.adequacy.work import Work, expectations_of, key_of, work_of
from opcert.vocabulary.errors import InternalError, UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName

MEMORY = 4 << 30
"""Bytes of address space of a process that tries mutants: one may ask for any amount."""


@dataclass(frozen=True)
class SetAnswer:
    """What became of the mutants of a set, and how many sets the operator has."""

    sets: int
    outcomes: Sequence[Outcome]


@dataclass(frozen=True, eq=False)
class SetUnit:
    """A set of an operator's mutants by its number; with `outcomes`, those of all sets, what they come to."""

    operator: OperatorName
    number: int = 0
    outcomes: Sequence[Outcome] | None = None


def do_unit(sources: str, work: bytes, unit: SetUnit) -> Any:
    """On a worker, in a process of its own: a SetAnswer, or a Kept where all outcomes are there."""
    return in_own_process(MEMORY, _do, sources, work, unit)


@on_worker
def _do(work: bytes, unit: SetUnit) -> SetAnswer | Kept:
    found: Work = pickle.loads(work)
    if unit.outcomes is not None:
        return found.together(unit.outcomes)
    with found.prepared() as prepared:
        return SetAnswer(prepared.sets, prepared.outcomes(unit.number))


def measure_on_cluster(
    cluster: Cluster, path: Path, operators: Sequence[OperatorName], tell: Callable[[str], None]
) -> Iterator[Kept]:
    """What every operator's part of a suite notices, in the order of the operators, as one machine finds it.

    What was measured before is not measured again. Raises as `Cluster.each` does, and in the end UserError
    where the workers of an operator were lost again and again.
    """
    tested = tested_by_nodes(operators, tell)
    with open_suite(path) as suite:
        measuring = _Measuring(suite, operators, tested)
        for unit, answer in cluster.each(do_unit, measuring.asked()):
            measuring.take(unit, answer)
            yield from measuring.through()
        yield from measuring.through()
    if measuring.lost:
        told = [f"{operator}: {one_line(reason)}" for operator, reason in measuring.lost.items()]
        raise UserError(
            "the workers that tried mutants were lost again and again",
            got="; ".join(told[:8]) + (f"; and {len(told) - 8} more" if len(told) > 8 else ""),
            remedy="Give them more memory. What was measured is kept: ask again for the rest.",
        )


@dataclass(eq=False)
class _Open:
    """An operator under way: its work as bytes, the key of its measurement, and the sets that have come."""

    work: bytes
    key: str
    came: dict[int, SetAnswer] = field(default_factory=dict)


class _Measuring:
    """Which units there are, as answers come: the first set of an operator says how many more it has."""

    def __init__(
        self, suite: Suite, operators: Sequence[OperatorName], tested: Collection[OperatorName]
    ) -> None:
        self._open: dict[OperatorName, _Open] = {}
        self.lost: dict[OperatorName, str] = {}
        self._suite, self._operators, self._tested = suite, operators, tested
        self._ready: deque[SetUnit] = deque()
        self._done: dict[OperatorName, Kept] = {}
        self._told = 0

    def _units(self) -> Iterator[SetUnit | None]:
        """Every unit, those of operators under way first; None while others hang on what is awaited."""
        left = iter(self._operators)
        while True:
            if self._ready:
                yield self._ready.popleft()
                continue
            operator = next(left, None)
            if operator is not None:
                self._begin(operator)
            elif self._open:
                yield None
            else:
                return

    def asked(self) -> Iterator[tuple[SetUnit, tuple[str, bytes, SetUnit]] | None]:
        """Every unit with what a worker is told of it."""
        sources = sources_digest()
        for unit in self._units():
            yield None if unit is None else (unit, (sources, self._open[unit.operator].work, unit))

    def take(self, unit: SetUnit, answer: SetAnswer | Kept | Lost) -> None:
        """Note what came of a unit."""
        opened = self._open.get(unit.operator)
        if opened is None:  # lost in another unit
            return
        if isinstance(answer, Lost):
            self.lost[unit.operator] = answer.reason
            self._ready = deque(each for each in self._ready if each.operator != unit.operator)
        elif isinstance(answer, Kept):
            self._done[unit.operator] = answer
            keep_measured(unit.operator, opened.key, answer)
        else:
            self._take_set(unit, opened, answer)
            return
        del self._open[unit.operator]

    def through(self) -> Iterator[Kept]:
        """What is known of the next operators, as far as nothing before is under way."""
        while self._told < len(self._operators):
            operator = self._operators[self._told]
            if operator not in self._done and operator not in self.lost:
                return
            self._told += 1
            if operator in self._done:
                yield self._done.pop(operator)

    def _begin(self, operator: OperatorName) -> None:
        tested = operator in self._tested
        key = key_of(operator, expectations_of(self._suite, operator), tested)
        before = find_measured(operator, key)
        if before is not None:
            self._done[operator] = before
            return
        tests = node_tests(operator, lambda _: None) if tested else []
        self._open[operator] = _Open(pickle.dumps(work_of(self._suite, operator, (), tests)), key)
        self._ready.append(SetUnit(operator))

    def _take_set(self, unit: SetUnit, opened: _Open, answer: SetAnswer) -> None:
        opened.came[unit.number] = answer
        sets = {each.sets for each in opened.came.values()}
        if len(sets) > 1:
            raise InternalError(
                "machines of a cluster find different mutants",
                got=f"{unit.operator} has {' and '.join(map(str, sorted(sets)))} sets of them",
            )
        if unit.number == 0:
            self._ready.extend(SetUnit(unit.operator, each) for each in range(1, answer.sets))
        if len(opened.came) >= answer.sets:
            outcomes = [each for number in sorted(opened.came) for each in opened.came[number].outcomes]
            self._ready.append(SetUnit(unit.operator, outcomes=outcomes))
