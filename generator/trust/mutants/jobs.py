"""Measuring the adequacy of a suite: an operator version at a time, by a process here or on a cluster."""

from __future__ import annotations

import resource
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from conformance.clusters.cluster import Cluster
from conformance.clusters.own_process import in_own_process
from conformance.clusters.worker_answers import Lost, WorkerFailure, on_worker
from conformance.suite.cases import Case
from conformance.suite.suites import Suite, open_suite
from generator.making.cases.clearest import ATTEMPTS, drawn_call
from generator.making.operators.discovery import open_spec
from generator.making.operators.workshop import Options, Workshop
from generator.measured.kept import MeasuredOperator, Selected, cases_digest, covered, local_name
from generator.trust.mutants.measure import measure, node_tests, tested_by_nodes
from generator.trust.mutants.subject import MutatedOperator
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.process_pools import broken_off, process_pool
from reference.registry import reference_of

Tell = Callable[[str], None]
MEMORY = 4 << 30
"""Bytes of address space of a process that tries mutants: one may ask for any amount."""


def measure_suite(
    path: Path,
    operators: Sequence[OperatorName],
    folders: Sequence[Path],
    processes: int,
    tell: Tell,
    cluster: Cluster | None = None,
) -> Iterator[MeasuredOperator]:
    """What every operator's part of a suite notices, in the order in which they are through.

    A `cluster` measures it, if there is one, and raises as `Cluster.each` does, in the end UserError where
    the workers of an operator were lost again and again; it knows nothing of `folders`, whose operators are
    measured here.
    """
    if cluster is not None and folders:
        tell("operators of specs of your own are measured here: workers have opcert and nothing else")
    tested = tested_by_nodes(operators, tell)
    if cluster is None or folders:
        found = _measure_here(path, operators, tested, folders, processes)
    else:
        found = _measure_on(cluster, path, operators, tested)
    for kept in found:
        tell(f"{kept.operator}: {summary(kept.found)}")
        yield kept


def _measure_here(
    path: Path,
    operators: Sequence[OperatorName],
    tested: Collection[OperatorName],
    folders: Sequence[Path],
    processes: int,
) -> Iterator[MeasuredOperator]:
    jobs: dict[OperatorName, Future[MeasuredOperator]] = {}
    with process_pool(processes, "trying mutants of", partial(broken_off, jobs), limit_memory) as pool:
        for operator in operators:
            jobs[operator] = pool.submit(
                measure_operator, path, operator, tuple(folders), tested=operator in tested
            )
        for job in as_completed(jobs.values()):
            yield job.result()


def measure_operator(
    path: Path, operator: OperatorName, folders: tuple[Path, ...], *, tested: bool
) -> MeasuredOperator:
    """Measure an operator's part of a suite; in the main thread of its process, because mutants may hang."""
    with open_suite(path) as suite:
        work = work_of(suite, operator, folders, tested=tested)
    return work.measured()


def _measure_on(
    cluster: Cluster, path: Path, operators: Sequence[OperatorName], tested: Collection[OperatorName]
) -> Iterator[MeasuredOperator]:
    sources, lost = project_digest(), dict[OperatorName, str]()
    with open_suite(path) as suite:
        units = (
            (operator, (sources, work_of(suite, operator, tested=operator in tested)))
            for operator in operators
        )
        for operator, answer in cluster.each(measure_apart, units):
            if isinstance(answer, Lost):
                lost[operator] = answer.reason
            else:
                yield answer
    if lost:
        told = [f"{operator}: {one_line(reason)}" for operator, reason in lost.items()]
        raise UserError(
            "the workers that tried mutants were lost again and again",
            got="; ".join(told[:8]) + (f"; and {len(told) - 8} more" if len(told) > 8 else ""),
            remedy="Give them more memory, and name these operators alone.",
        )


@dataclass(frozen=True, eq=False)
class MeasuredWork:
    """What is measured of an operator, apart from any folder: cases, by the part of their id behind it.

    `expectations` are digests of what the cases expect, `coverage` what the manifest says of the covering
    array, `node_tests` ONNX's of the operator; `folders` hold specs that do not ship.
    """

    operator: OperatorName
    cases: Mapping[str, Case]
    expectations: Mapping[str, str]
    coverage: Mapping[str, Any]
    node_tests: Sequence[Case]
    folders: tuple[Path, ...]

    def measured(self) -> MeasuredOperator:
        """What the cases notice; for the main thread alone, because mutants may hang."""
        spec, levels = open_spec(self.operator, self.folders)
        reference = reference_of(spec)
        subject = MutatedOperator.of(spec, reference, self.folders)
        with subject.quick():
            found = measure(subject, levels, self.cases, self.node_tests)
        workshop = Workshop(spec, reference, levels, Options())
        selection = []
        for name, kills in found.selection.items():
            rows = dict(self.cases[name].levels) if self.cases[name].family == "cover" else {}
            attempt = _attempt(workshop, rows, name) if rows else None
            selection.append(Selected(name, kills, self.expectations[name], rows, attempt))
        told = {**found.to_json(), "coverage": covered(self.coverage)}
        return MeasuredOperator(str(self.operator), cases_digest(self.expectations), tuple(selection), told)


def work_of(
    suite: Suite, operator: OperatorName, folders: tuple[Path, ...] = (), *, tested: bool = False
) -> MeasuredWork:
    """What is to be measured of an operator in a suite; `tested` says whether ONNX has node tests of it."""
    prefix = f"{operator.path}/"
    names = [local_name(case_id) for case_id in suite.case_ids if case_id.startswith(prefix)]
    return MeasuredWork(
        operator,
        cases={local_name(str(case.id)): case for case in suite.cases(prefix)},
        expectations={name: str(suite.entry(prefix + name)["expectation"])[:16] for name in names},
        coverage=suite.facts["operators"][str(operator)]["coverage"],
        node_tests=node_tests(operator, lambda _: None) if tested else (),
        folders=folders,
    )


def measure_apart(sources: str, work: MeasuredWork) -> MeasuredOperator | WorkerFailure | Lost:
    """On a worker of a cluster, which may start no process of a pool: measure in a process of its own."""
    found: MeasuredOperator | WorkerFailure | Lost = in_own_process(MEMORY, _measure_work, sources, work)
    return found


@on_worker
def _measure_work(work: MeasuredWork) -> MeasuredOperator:
    return work.measured()


def _attempt(workshop: Workshop, levels: Mapping[str, str], name: str) -> int | None:
    """Which draw of a row a case is; None where it is none, but another family's call."""
    digest = name.rpartition("/")[2]
    for attempt in range(ATTEMPTS):
        call = drawn_call(workshop, levels, attempt)
        if call is not None and call.digest(workshop.spec.operator) == digest:
            return attempt
    return None


def summary(found: Mapping[str, Any]) -> str:
    """What was found, in one line."""
    mutants, tests = found["mutants"], found["node_tests"]
    counted = mutants["made"] - mutants["equivalent"]
    text = f"{mutants['killed']} of {counted} mutants killed, {mutants['equivalent']} equivalent"
    return f"{text}; {tests['killed']} by {tests['cases']} of ONNX's tests" if tests else text


def limit_memory() -> None:
    """Let this process have no more than MEMORY."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
