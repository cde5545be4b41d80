"""Measuring the adequacy of a suite in processes of this machine, each doing one set of mutants at a time."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from conformance.clusters.cluster import Cluster
from conformance.suite.suites import open_suite
from generator.measured.kept import MeasuredOperator
from generator.measured.outcomes import SetAnswer
from generator.trust.mutants.asked_node_tests import tested_by_nodes
from generator.trust.mutants.cluster_sets import MEMORY, measure_on_cluster
from generator.trust.mutants.measure import Prepared
from generator.trust.mutants.set_units import Measuring, SetUnit, answer_unit
from generator.trust.mutants.work import MeasuredWork, unpacked
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.process_pools import process_pool

Tell = Callable[[str], None]


def measure_suite(
    suite: Path,
    operators: Sequence[OperatorName],
    folders: Sequence[Path],
    processes: int,
    tell: Tell,
    cluster: Cluster | None = None,
) -> Iterator[MeasuredOperator]:
    """What every operator's part of a suite notices, in the order of the operators.

    A `cluster` measures it, if there is one, and raises as `measure_on_cluster` does; it knows nothing of
    `folders`, whose operators are measured here.
    """
    if cluster is not None and folders:
        tell("operators of specs of your own are measured here: workers have opcert and nothing else")
    if cluster is None or folders:
        found = _measure_here(suite, operators, folders, processes, tell)
    else:
        found = measure_on_cluster(cluster, suite, operators, tell)
    for kept in found:
        tell(f"{kept.operator}: {summary(kept.found)}")
        yield kept


def _measure_here(
    path: Path, operators: Sequence[OperatorName], folders: Sequence[Path], processes: int, tell: Tell
) -> Iterator[MeasuredOperator]:
    tested = tested_by_nodes(operators, tell)
    waiting: dict[Future[SetAnswer | MeasuredOperator], SetUnit] = {}
    with (
        open_suite(path) as suite,
        process_pool(
            processes, "trying mutants of", lambda: (each.operator for each in waiting.values()), limit_memory
        ) as pool,
    ):
        measuring = Measuring(suite, operators, tested, folders, tell)
        units = measuring.units()
        while True:
            while len(waiting) < processes and (asked := next(units, None)) is not None:
                unit, work = asked
                waiting[pool.submit(do_here, work, unit)] = unit
            if not waiting:
                break
            for each in wait(waiting, return_when=FIRST_COMPLETED).done:
                measuring.take(waiting[each], each.result())
                del waiting[each]
            yield from measuring.through()
        yield from measuring.through()


def do_here(work: bytes, unit: SetUnit) -> SetAnswer | MeasuredOperator:
    """In a process for such units, and its main thread: a SetAnswer, or a Kept where all outcomes are there.

    What is known of an operator before a mutant is tried stays until another operator comes.
    """
    return answer_unit(*_desk().prepared(work), unit)


class _Desk:
    """The operator that a process is at."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._bytes: bytes | None = None
        self._prepared: tuple[MeasuredWork, Prepared] | None = None

    def prepared(self, work: bytes) -> tuple[MeasuredWork, Prepared]:
        if self._prepared is None or work != self._bytes:
            self._open.close()
            self._prepared = None
            found = unpacked(work)
            self._prepared = found, self._open.enter_context(found.prepared())
            self._bytes = work
        return self._prepared


@cache
def _desk() -> _Desk:
    """The desk of this process."""
    return _Desk()


def summary(found: Mapping[str, Any]) -> str:
    """What was found, in one line."""
    mutants, tests = found["mutants"], found["node_tests"]
    counted = mutants["made"] - mutants["equivalent"]
    text = f"{mutants['killed']} of {counted} mutants killed, {mutants['equivalent']} equivalent"
    return f"{text}; {tests['killed']} by {tests['cases']} of ONNX's tests" if tests else text


def limit_memory() -> None:
    """Let this process have no more than MEMORY."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
