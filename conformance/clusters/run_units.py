"""Units of a run: some cases with their goldens, and the rows that a worker's machine makes of them."""

from __future__ import annotations

import shutil
import zlib
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from conformance.judging.verdicts import VERDICTS
from conformance.recording.records import Order
from conformance.recording.rows import Result
from conformance.running.run_options import RunOptions, RunPlan
from conformance.runtimes.adapter import load_adapter
from conformance.runtimes.runtimes import Runtime, find_runtime
from conformance.suite.case_index import CaseIndex
from conformance.suite.manifests import Manifest
from conformance.suite.suites import Suite
from opcert.vocabulary.errors import InternalError, UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.strict_json import parse_json

_PROGRAM = "exec"


@dataclass(frozen=True)
class ToldRuntime:
    """What `RUNTIME` and `--python` said; `command` is that of a program, with whole paths of its files."""

    text: str
    python: str | None = None
    command: tuple[str, ...] = ()

    @classmethod
    def of(cls, runtime: Runtime, python: str | None) -> ToldRuntime:
        """How to tell of a runtime that was found by its name here."""
        return cls(runtime.text, python, runtime.command if runtime.adapter.name == _PROGRAM else ())

    def find(self) -> Runtime:
        """The runtime on this machine; UserError where there is none, or no such interpreter or program."""
        if not self.command:
            return find_runtime(self.text, self.python)
        if self.python is not None:
            raise UserError("--python has no meaning for a program", got=one_line(self.text, 300))
        if shutil.which(self.command[0]) is None:
            raise UserError(
                "there is no such program on this machine",
                got=one_line(self.command[0], 300),
                remedy="Put it there, at the same path on every machine.",
            )
        return Runtime(self.text, load_adapter(_PROGRAM), command=self.command)


_FIRST, _FEWEST, _MOST = 32, 8, 4096
_SECONDS = 2.0
"""A unit has so many cases as take about so long, within limits; the first ones have few."""
_LARGEST = 1 << 20
"""Bytes of goldens of a unit, but for cases that stay together and are larger."""
_GOLDENS = "goldens"
_MOST_LINES = 1 << 28
_ORDER = array("Q")
_ROW: TypeAdapter[Any] = TypeAdapter(Result)


@dataclass(frozen=True)
class RunOrder:
    """What all units of a run have in common: the runtime as a worker's machine finds it, and the options.

    `key` is of this run alone.
    """

    key: str
    suite: str
    runtime: ToldRuntime
    options: RunOptions


@dataclass(frozen=True)
class RunUnit:
    """Some cases: their entries with places in `goldens`, those that are only asked about behind them.

    `positions` are those of the cases in the run, `forms` the forms of each, `between` the case that
    runs before another one on its model.
    """

    positions: Sequence[int]
    entries: Sequence[Mapping[str, Any]]
    goldens: bytes
    forms: Mapping[str, Sequence[str]]
    between: Mapping[str, str] = field(default_factory=dict)

    @property
    def cases(self) -> tuple[str, ...]:
        """The ids of the cases that are to run."""
        return tuple(str(entry["id"]) for entry in self.entries[: len(self.positions)])

    def suite(self, digest: str) -> Suite:
        """The unit as a suite of its own, which is in memory."""
        index = CaseIndex()
        for entry in self.entries:
            index.add(entry)
        head = {"digest": digest, "facts": {}, "goldens": {_GOLDENS: {"bytes": len(self.goldens)}}}
        return Suite(Path("unit"), Manifest(head, index), _InMemory(self.goldens))


@dataclass(frozen=True)
class UnitAnswer:
    """What came of a unit: the lines of its rows in a record, deflated, and the place of each in the run.

    `runtime` is who answered, `machine` where. `outputs` are files that belong beside the record, by name;
    `losses` and `loaded` as a record's footer has them; `stopped` is why the unit ended early, as its kind
    and its reason.
    """

    machine: Mapping[str, Any]
    runtime: Mapping[str, Any]
    lines: bytes
    orders: bytes
    seconds: float
    outputs: Mapping[str, bytes] = field(default_factory=dict)
    losses: Sequence[str] = ()
    loaded: Sequence[Mapping[str, Any]] | None = None
    stopped: tuple[str, str] | None = None

    def rows(self) -> Iterator[tuple[Result, Order, bytes]]:
        """Each row, its place, and its line; ValueError where one is none, or has not one place."""
        if len(self.orders) % (3 * _ORDER.itemsize):
            raise ValueError(f"{len(self.orders)} bytes of places")
        orders = array("Q")
        orders.frombytes(self.orders)
        lines = inflated(self.lines, _MOST_LINES).splitlines(keepends=True)
        if len(orders) != 3 * len(lines):
            raise ValueError(f"{len(lines)} rows and {len(orders)} numbers of their places")
        for number, line in enumerate(lines):
            place = orders[3 * number], orders[3 * number + 1], orders[3 * number + 2]
            yield _read_row(line), place, line


def _read_row(line: bytes) -> Result:
    """The row of a line as `Result.to_line` writes it; ValueError where it is another."""
    try:
        _ROW.validate_json(line, strict=True)
        found = Result.from_json(parse_json(line))
        again = found.to_line()
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise ValueError(f"a row that is none: {line[:200]!a}") from error
    own = all(type(output) in (str, dict) for output in found.outputs) and type(found.seconds) is float
    # A kind of JSON that a field cannot have is not written as it was read.
    if again != line or found.verdict not in VERDICTS or not own:
        raise ValueError(f"a row that is none: {line[:200]!a}")
    return found


class _InMemory:
    """The files of a suite that is in memory: one, of goldens."""

    def __init__(self, goldens: bytes) -> None:
        self._goldens = goldens

    def size(self, name: str) -> int:
        return len(self._goldens)

    def read(self, name: str, offset: int, length: int) -> bytes:
        return self._goldens[offset : offset + length]

    def digest(self, name: str) -> str:
        raise InternalError("a unit in memory is of digests that were held against the suite's before")

    def close(self) -> None: ...


class UnitMaker:
    """Cuts what a plan has left into units, one after the other, in the order of the record.

    `measured` is told what the units took, so that the next ones take about so long as is wanted; towards the
    end they become smaller, so that all workers end at one time. Cases of which `together` says the same stay
    in one unit: what becomes of them hangs on each other.
    """

    def __init__(self, plan: RunPlan, together: Callable[[str], str] | None = None) -> None:
        self._plan = plan
        self._together = together
        self._pace: float | None = None
        self._threads = 1
        self._left = len(plan.selected) - len(plan.done)

    def measured(self, cases: int, seconds: float, threads: int) -> None:
        """So many cases took so many seconds of one of so many threads."""
        pace = seconds / max(cases, 1)
        self._pace = pace if self._pace is None else 0.8 * self._pace + 0.2 * pace
        self._threads = max(threads, 1)

    def units(self) -> Iterator[RunUnit]:
        """Every unit; each is made when it is asked for."""
        plan, size, most = self._plan, 0, self._most()
        positions: list[int] = []
        for group in self._groups():
            length = sum(int(plan.suite.entry(plan.selected[each])["length"]) for each in group)
            if positions and (len(positions) >= most or size + length > _LARGEST):
                yield self._unit(positions)
                positions, size, most = [], 0, self._most()
            positions += group
            size += length
        if positions:
            yield self._unit(positions)

    def _groups(self) -> Iterator[Sequence[int]]:
        """The positions of what is left, those that stay together side by side."""
        left = ((each, name) for each, name in enumerate(self._plan.selected) if name not in self._plan.done)
        if self._together is None:
            yield from ((each,) for each, _ in left)
            return
        groups: dict[str, list[int]] = {}
        for each, name in left:
            groups.setdefault(self._together(name), []).append(each)
        yield from groups.values()

    def _most(self) -> int:
        """How many cases the next unit may have."""
        if self._pace is None:
            return _FIRST
        fair = self._left // (3 * self._threads)
        return max(_FEWEST, min(_MOST, fair, int(_SECONDS / max(self._pace, 1e-6))))

    def _unit(self, positions: Sequence[int]) -> RunUnit:
        plan = self._plan
        cases = [plan.selected[position] for position in positions]
        self._left -= len(cases)
        between = {each: plan.cases_between[each] for each in cases if each in plan.cases_between}
        asked = _asked_beside(plan.suite, cases, between.values())
        entries, pieces, offset = [], [], 0
        for case_id in (*cases, *asked):
            entry = plan.suite.entry(case_id)
            pieces.append(plan.suite.golden(case_id))
            entries.append({**entry, "file": _GOLDENS, "offset": offset})
            offset += len(pieces[-1])
        forms = {each: tuple(plan.forms_by_case[each]) for each in cases}
        return RunUnit(tuple(positions), tuple(entries), b"".join(pieces), forms, between)


def _asked_beside(suite: Suite, cases: Collection[str], between: Collection[str]) -> list[str]:
    """The valid cases of those that must be refused: whether a runtime answers them is asked as well.

    And the cases that run before others (`between`).
    """
    found: dict[str, None] = {}
    own = frozenset(cases)
    for each in cases:
        if suite.entry(each)["demand"] != "answer":
            valid = suite.case(each).valid_case
            if valid is not None and valid in suite and valid not in own:
                found[valid] = None
    found |= dict.fromkeys(each for each in between if each not in own)
    return list(found)


def deflated(lines: bytes) -> bytes:
    """Rows as they travel: quickly, not closely packed."""
    return zlib.compress(lines, 1)


def inflated(raw: bytes, most: int) -> bytes:
    """What was deflated; ValueError where it is damaged, cut off, or comes to more than so many bytes."""
    inflating = zlib.decompressobj()
    try:
        found = inflating.decompress(raw, most + 1)
    except zlib.error as error:
        raise ValueError(f"no bytes that were deflated: {error}") from error
    if len(found) > most:
        raise ValueError(f"bytes that were deflated, and more than {most} of them")
    if not inflating.eof or inflating.unused_data:
        raise ValueError("bytes that were deflated and cut off, or others behind them")
    return found
