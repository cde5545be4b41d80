"""Adequacy measured by the workers of a cluster, set of mutants by set, with what one machine finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from conformance.clusters.cluster import Cluster
from conformance.clusters.own_process import in_own_process
from conformance.clusters.worker_answers import Lost, WorkerFailure, on_worker
from conformance.suite.suites import open_suite
from generator.measured.kept import MeasuredOperator
from generator.measured.outcomes import SetAnswer
from generator.trust.mutants.asked_node_tests import tested_by_nodes
from generator.trust.mutants.set_units import Measuring, SetUnit, answer_unit
from generator.trust.mutants.work import unpacked
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName

MEMORY = 4 << 30
"""Bytes of address space of a process that tries mutants: one may ask for any amount."""


def do_unit(sources: str, work: bytes, unit: SetUnit) -> SetAnswer | MeasuredOperator | WorkerFailure | Lost:
    """On a worker, in a process of its own: a SetAnswer, or a Kept where all outcomes are there."""
    found: SetAnswer | MeasuredOperator | WorkerFailure | Lost = in_own_process(
        MEMORY, _do, sources, work, unit
    )
    return found


@on_worker
def _do(work: bytes, unit: SetUnit) -> SetAnswer | MeasuredOperator:
    found = unpacked(work)
    with found.prepared() as prepared:
        return answer_unit(found, prepared, unit)


def measure_on_cluster(
    cluster: Cluster, path: Path, operators: Sequence[OperatorName], tell: Callable[[str], None]
) -> Iterator[MeasuredOperator]:
    """What every operator's part of a suite notices, in the order of the operators, as one machine finds it.

    What was measured before is not measured again. Raises as `Cluster.each` does, and in the end UserError
    where the workers of an operator were lost again and again.
    """
    tested, sources = tested_by_nodes(operators, tell), project_digest()
    with open_suite(path) as suite:
        measuring = Measuring(suite, operators, tested, (), tell)
        asked = (
            None if each is None else (each[0], (sources, each[1], each[0])) for each in measuring.units()
        )
        for unit, answer in cluster.each(do_unit, asked):
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
