"""Measuring the adequacy of a suite, operator by operator, in processes of their own."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

from conformance.clusters.cluster import Cluster
from conformance.suite.suites import open_suite
from generator.adequacy.asked_node_tests import node_tests, tested_by_nodes
from generator.adequacy.cluster_sets import MEMORY, measure_on_cluster
from generator.adequacy.kept import Kept
from generator.adequacy.measured_before import find_measured, keep_measured
from generator.adequacy.work import expectations_of, key_of, work_of
from opcert.vocabulary.names import OperatorName

Tell = Callable[[str], None]


def measure_suite(
    suite: Path,
    operators: Sequence[OperatorName],
    folders: Sequence[Path],
    processes: int,
    tell: Tell,
    cluster: Cluster | None = None,
) -> Iterator[Kept]:
    """What every operator's part of a suite notices, in the order of the operators.

    A `cluster` measures it, if there is one, and raises as `measure_on_cluster` does; it knows nothing of
    `folders`, whose operators are measured here.
    """
    if cluster is not None and folders:
        tell("operators of specs of your own are measured here: workers have opcert and nothing else")
    elif cluster is not None:
        for kept in measure_on_cluster(cluster, suite, operators, tell):
            tell(f"{kept.operator}: {summary(kept.found)}")
            yield kept
        return
    # Whoever makes ONNX's tests does so once, not in every process.
    tested = tested_by_nodes(operators, tell)
    with ProcessPoolExecutor(processes, get_context("spawn"), limit_memory) as pool:
        jobs = [
            pool.submit(measure_operator, suite, operator, tuple(folders), operator in tested)
            for operator in operators
        ]
        try:
            for operator, job in zip(operators, jobs, strict=True):
                kept = job.result()
                tell(f"{operator}: {summary(kept.found)}")
                yield kept
        except BaseException:
            # Whoever is interrupted does not wait for the operators under way.
            for child in active_children():
                child.terminate()
            raise


def measure_operator(
    path: Path, operator: OperatorName, folders: Sequence[Path] = (), against_node_tests: bool = False
) -> Kept:
    """What one operator's cases in a suite notice; of those that ship, as it was measured before."""
    with open_suite(path) as suite:
        key = key_of(operator, expectations_of(suite, operator), against_node_tests)
        before = None if folders else find_measured(operator, key)
        if before is not None:
            return before
        tests = node_tests(operator, lambda _: None) if against_node_tests else []
        work = work_of(suite, operator, folders, tests)
    kept = work.measured()
    if not folders:
        keep_measured(operator, key, kept)
    return kept


def summary(found: Mapping[str, Any]) -> str:
    """What was found, in one line."""
    mutants, tests = found["mutants"], found["node_tests"]
    counted = mutants["made"] - mutants["equivalent"]
    text = f"{mutants['killed']} of {counted} mutants killed, {mutants['equivalent']} equivalent"
    return f"{text}; {tests['killed']} by {tests['cases']} of ONNX's tests" if tests else text


def limit_memory() -> None:
    """Let this process have no more than MEMORY."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
