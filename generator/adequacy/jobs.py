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
from generator.adequacy.kept import Kept, Selected, cases_digest, covered, local_name
from generator.adequacy.measure import measure
from generator.adequacy.measured_before import find_measured, keep_measured, measurement_key
from generator.adequacy.subject import Subject
from generator.making.discovery import open_spec
from generator.making.workshop import Options, Workshop
from generator.rows.clearest import ATTEMPTS, drawn_call
from opcert.vocabulary.names import OperatorName
from reference.registry import find_operator

MEMORY = 4 << 30
"""Bytes of address space that a process may have: a mutant may ask for any amount."""
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

    What was not measured before a `cluster` measures, if there is one; it knows nothing of `folders`.
    """
    # Whoever makes ONNX's tests does so once, not in every process.
    tested = tested_by_nodes(operators, tell)
    if cluster is not None and not folders:
        # Imported here: a process that measures imports this module, and asks nobody.
        from generator.adequacy.cluster_measures import measure_on_cluster

        with open_suite(suite) as opened:
            measure_on_cluster(cluster, opened, operators, tested, tell)
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
        prefix = f"{operator.path}/"
        names = [local_name(each) for each in suite.case_ids if each.startswith(prefix)]
        expectations = {name: str(suite.entry(prefix + name)["expectation"])[:16] for name in names}
        key = measurement_key(operator, cases_digest(expectations), against_node_tests)
        before = None if folders else find_measured(operator, key)
        if before is not None:
            return before
        cases = {local_name(str(case.id)): case for case in suite.cases(f"{operator.path}/")}
        coverage = suite.facts["operators"][str(operator)]["coverage"]
    spec, levels = open_spec(operator, folders)
    reference = find_operator(operator, spec.reference_module)
    tests = node_tests(operator, lambda _: None) if against_node_tests else []
    found = measure(Subject.of(spec, reference, folders), levels, cases, tests)
    workshop = Workshop(spec, reference, levels, Options())
    selection = []
    for name, kills in found.selection.items():
        rows = dict(cases[name].levels) if cases[name].family == "cover" else {}
        attempt = _attempt(workshop, rows, name) if rows else None
        selection.append(Selected(name, kills, expectations[name], rows, attempt))
    told = {**found.to_json(), "coverage": covered(coverage)}
    kept = Kept(str(operator), cases_digest(expectations), tuple(selection), told)
    if not folders:
        keep_measured(operator, key, kept)
    return kept


def summary(found: Mapping[str, Any]) -> str:
    """What was found, in one line."""
    mutants, tests = found["mutants"], found["node_tests"]
    counted = mutants["made"] - mutants["equivalent"]
    text = f"{mutants['killed']} of {counted} mutants killed, {mutants['equivalent']} equivalent"
    return f"{text}; {tests['killed']} by {tests['cases']} of ONNX's tests" if tests else text


def _attempt(workshop: Workshop, levels: Mapping[str, str], name: str) -> int | None:
    """Which draw of a row a case is; None where it is none, but another family's call."""
    digest = name.rpartition("/")[2]
    for attempt in range(ATTEMPTS):
        call = drawn_call(workshop, levels, attempt)
        if call is not None and call.digest(workshop.spec.operator) == digest:
            return attempt
    return None


def limit_memory() -> None:
    """Keep this process, which is for one measurement, from more than `MEMORY`."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
