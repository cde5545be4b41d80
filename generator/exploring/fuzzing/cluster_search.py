"""A search that the workers of a cluster share: units of draws, each with a seed of its own.

What is found hangs on the run's seed and on the number of calls, not on who draws them, nor in which order.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance.clusters.cluster import Cluster
from conformance.clusters.run_units import RunOrder, ToldRuntime
from conformance.clusters.run_worker import Standing, end_run, give_back, take_standing
from conformance.clusters.worker_answers import Lost, machine_here, on_worker
from conformance.judging.responses import Response
from conformance.processes.worker_limits import Limits
from conformance.running.run_options import RunOptions, Task
from conformance.runtimes.runtimes import Runtime
from conformance.suite.cases import Case
from generator.asking.calls_files import KeptCall, call_text, parse_call
from generator.exploring.fuzzing.known_failures import KnownFailures, find_known_failures
from generator.exploring.fuzzing.search import Find, FuzzResult, Tell, add_search, fuzz
from generator.exploring.shrinking.judged_calls import CallFailure
from generator.exploring.shrinking.known_space import Attempt, CallValidity, open_space
from generator.exploring.shrinking.relevant_factors import RelevantFactor
from generator.exploring.shrinking.shrinking import Small
from opcert.vocabulary.errors import Place, RuntimeUnavailable, UserError
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName

UNIT = 200
"""Calls that are drawn under one seed."""
_CAME = Path("a worker's find")
SLICE = 10.0
"""Seconds that a unit may take where the time alone ends the search."""


@dataclass(frozen=True)
class DrawUnit:
    """So many calls to draw under a seed, and the seconds after which a worker draws no more."""

    number: int
    seed: int
    calls: int
    seconds: float


@dataclass(frozen=True)
class FoundAnswer:
    """A find as it travels: its call as a file of one has it, and the rule that it breaks by its id."""

    call: str
    breaks: str | None
    failure: CallFailure
    tries: int
    least: bool
    matters: tuple[RelevantFactor, ...]
    calls: int

    @classmethod
    def of(cls, operator: OperatorName, find: Find) -> FoundAnswer:
        small, attempt = find.small, find.small.attempt
        text = call_text(KeptCall(operator, attempt.call, attempt.made_from))
        breaks = None if attempt.breaks is None else attempt.breaks.id
        return cls(text, breaks, small.failure, small.tries, small.least, find.matters, find.calls)

    def find(self, space: CallValidity) -> Find:
        """The find; UserError where its call is none of the operator, or breaks a rule that there is not."""
        kept = parse_call(self.call, _CAME)
        if kept.operator != space.spec.operator:
            raise UserError("a call of something else", got=str(kept.operator))
        rules = {constraint.id: constraint for constraint in space.spec.constraints}
        if self.breaks is not None and (self.breaks not in rules or kept.made_from is None):
            raise UserError("a call that breaks a rule which there is not", got=self.breaks)
        attempt = Attempt(kept.call, None if self.breaks is None else rules[self.breaks], kept.made_from)
        return Find(Small(attempt, self.failure, self.tries, self.least), self.matters, self.calls)


@dataclass(frozen=True)
class DrawAnswer:
    """What was found of a unit, by which runtime, on which machine: as `FuzzResult` has it."""

    machine: str
    runtime: Mapping[str, Any]
    finds: tuple[FoundAnswer, ...]
    tried: Mapping[str, int]
    mistakes: tuple[str, ...]
    failed: tuple[str, ...]
    drawn: int
    seconds: float

    @classmethod
    def of(
        cls, machine: str, runtime: Mapping[str, Any], operator: OperatorName, search: FuzzResult
    ) -> DrawAnswer:
        finds = tuple(FoundAnswer.of(operator, each) for each in search.finds)
        mistakes, failed = tuple(search.mistakes), tuple(search.failed)
        return cls(
            machine, runtime, finds, search.tried, mistakes, failed, search.drawn, float(search.seconds)
        )

    def search(self, space: CallValidity) -> FuzzResult:
        """What was found; raises as `FoundAnswer.find` does."""
        finds = [found_answer.find(space) for found_answer in self.finds]
        mistakes, failed = list(self.mistakes), list(self.failed)
        return FuzzResult(finds, Counter(self.tried), mistakes, failed, self.drawn, self.seconds)


@on_worker
def begin_search(order: RunOrder) -> tuple[str, Mapping[str, Any]]:
    """Start the runtime and say where, and who it is; raises as `install` and `Lane.start` do."""
    standing = take_standing(order)
    give_back(standing)
    return str(machine_here()["name"]), dict(standing.identity)


@on_worker
def search_unit(order: RunOrder, operator: OperatorName, unit: DrawUnit) -> DrawAnswer:
    """Draw the calls of a unit, and make small what fails; raises as `begin_search` does."""
    with _Asked(order) as standing:
        found = fuzz(_space(operator), standing.ask, unit.seed, unit.seconds, most_calls=unit.calls)
        return DrawAnswer.of(str(machine_here()["name"]), dict(standing.identity), operator, found)


@on_worker
def ask_cases(
    order: RunOrder, operator: OperatorName, cases: Sequence[Case]
) -> tuple[tuple[tuple[int, CallFailure], ...], int]:
    """The cases that the runtime fails, by their places, and how many were asked: `find_known_failures`."""
    with _Asked(order) as standing:
        found = find_known_failures(_space(operator), standing.ask, cases)
        places = {str(case.id): place for place, case in enumerate(cases)}
        return tuple((places[str(case.id)], failure) for case, failure in found.failing), found.asked


class _Asked:
    """A runtime that stands ready on this machine, asked one case at a time; lost where something fails."""

    def __init__(self, order: RunOrder) -> None:
        self._standing: Standing = take_standing(order)
        self.identity = self._standing.identity

    def ask(self, case: Case, valid_case: Case | None = None) -> Response:
        task = Task.of(case, self._standing.offer.forms[0], valid_case=valid_case)
        ((_, response),) = self._standing.lane.run([task])
        return response

    def __enter__(self) -> _Asked:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            give_back(self._standing)
        else:
            self._standing.lane.kill()


@cache
def _space(operator: OperatorName) -> CallValidity:
    return open_space(operator)


class ClusterSearch:
    """A runtime on a cluster, ready to be searched; used as a context manager, it lets the runtimes go.

    Raises RuntimeUnavailable, with the machine, where the runtime does not start on one.
    """

    def __init__(self, cluster: Cluster, runtime: Runtime, python: str | None, limits: Limits) -> None:
        self._cluster = cluster
        options = RunOptions(limits=limits)
        self._order = RunOrder(uuid.uuid4().hex, "", ToldRuntime.of(runtime, python), options)
        self._sources = project_digest()
        begun = cluster.ask(begin_search, self._sources, self._order)
        self._machine: str = begun[0]
        self.identity: Mapping[str, Any] = begun[1]
        if not all(type(self.identity.get(key)) is str for key in ("name", "version")):
            raise self._false("a runtime without a name or a version", self._machine)

    @property
    def name(self) -> str:
        return str(self.identity["name"])

    @property
    def version(self) -> str:
        return str(self.identity["version"])

    def __enter__(self) -> ClusterSearch:
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.forget(end_run, self._order.key)

    def search(
        self, space: CallValidity, seed: int, seconds: float, tell: Tell, most_calls: int | None
    ) -> FuzzResult:
        """Search for `seconds`, or for so many calls, on all workers at a time.

        Units are put together in the order of their numbers. Raises as `Cluster.each` does, and UserError
        where the workers of a unit were lost: without it the finds would be others.
        """
        begin = time.monotonic()
        found, came, following = FuzzResult(), dict[int, FuzzResult](), 0
        units = self._units(space.spec.operator, seed, begin + seconds, most_calls)
        for number, answer in self._cluster.each(search_unit, units):
            if isinstance(answer, Lost):
                raise UserError(
                    "the workers that searched were lost again and again",
                    got=f"{space.spec.operator}, calls from {number * UNIT}: {one_line(answer.reason)}",
                    remedy="Give them more memory. What was found so far is kept.",
                )
            self._check(answer)
            try:
                came[number] = answer.search(space)
            except UserError as error:
                raise self._false(str(error), answer.machine) from error
            while following in came:
                add_search(space, found, came.pop(following), tell)
                following += 1
        found.seconds = time.monotonic() - begin
        return found

    def known_failures(self, space: CallValidity, cases: Sequence[Case]) -> KnownFailures:
        """The cases of a suite that the runtime fails; one worker asks."""
        operator = space.spec.operator
        places, asked = self._cluster.ask(ask_cases, self._sources, self._order, operator, tuple(cases))
        if not all(0 <= place < len(cases) for place, _ in places):
            raise self._false("cases that it was not asked", "unknown")
        failing = tuple((cases[place], failure) for place, failure in places)
        return KnownFailures(space, failing, asked, len(cases))

    def _units(
        self, operator: OperatorName, seed: int, end: float, most_calls: int | None
    ) -> Iterator[tuple[int, tuple[str, RunOrder, OperatorName, DrawUnit]]]:
        number = 0
        while True:
            left = end - time.monotonic()
            calls = UNIT if most_calls is None else min(UNIT, most_calls - number * UNIT)
            if left <= 0 or calls <= 0:
                return
            # Where calls are counted, each unit has the time of all: it is to come to its end.
            most = left if most_calls is not None else min(left, SLICE)
            unit = DrawUnit(number, seed_of(seed, number), calls, most)
            yield number, (self._sources, self._order, operator, unit)
            number += 1

    def _false(self, what: str, machine: str) -> UserError:
        return UserError(
            "a worker's response does not fit the request",
            got=one_line(what, 300),
            where=Place(f"machine {one_line(machine, 200)} of {self._cluster.address}"),
            remedy="Look at what runs there. What was found so far is kept.",
        )

    def _check(self, answer: DrawAnswer) -> None:
        if answer.runtime != self.identity:
            raise RuntimeUnavailable(
                "the runtime is another one on this machine than where the search began",
                got=f"{answer.runtime.get('version')} on {one_line(answer.machine, 200)}",
                expected=f"{self.identity.get('version')}, as on {one_line(self._machine, 200)}",
                remedy="Name its version (NAME==VERSION), or make its environment anew on one of them "
                "(`opcert run --upgrade`).",
            )


def seed_of(seed: int, number: int) -> int:
    """The seed of a unit of draws."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{number}".encode()).digest()[:6], "big")
