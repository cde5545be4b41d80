"""Adequacy measured by the workers of a cluster, an operator version at a time, for the user's cache."""

from __future__ import annotations

import subprocess
import sys
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from conformance.clusters.cluster import Cluster, Lost
from conformance.clusters.machines import machine_here, sources_digest
from conformance.clusters.worker_answers import on_worker
from conformance.processes.scratch_folders import scratch_folder
from conformance.suite.suite_parts import SuitePart, part_bytes, read_part
from conformance.suite.suites import Suite, write_suite_of_parts
from generator.adequacy.kept import Kept, cases_digest, expectations_in, parse_kept
from generator.adequacy.measured_before import find_measured, keep_measured, measurement_key
from generator.witnessed.measured_files import DAMAGED
from opcert.vocabulary.errors import InternalError, UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName

_LONGEST = 2000


@dataclass(frozen=True)
class MeasureAnswer:
    """What was found of an operator's cases, as its file has it, and the machine that found it."""

    machine: str
    kept: str


@dataclass(frozen=True)
class _Asked:
    operator: OperatorName
    key: str


@on_worker
def measure_on_worker(operator: OperatorName, part: bytes, nodes: bool) -> MeasureAnswer:
    """Measure an operator's cases, which `part` holds, deflated; as `measure_operator`."""
    own = read_part(zlib.decompress(part))
    with scratch_folder("adequacy") as folder:
        facts = {"operators": {str(operator): own.facts}}
        write_suite_of_parts(folder / "suite", [own], facts, {})
        words = [str(folder / "suite"), str(operator), str(int(nodes)), str(folder / "found.json")]
        done = subprocess.run(
            [sys.executable, "-m", "generator.adequacy.measured_alone", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace")[-_LONGEST:]
            raise InternalError(f"{operator} cannot be measured", got=f"{done.returncode}: {said}")
        return MeasureAnswer(str(machine_here()["name"]), (folder / "found.json").read_text(encoding="utf-8"))


def measure_on_cluster(
    cluster: Cluster,
    suite: Suite,
    operators: Sequence[OperatorName],
    tested: Collection[OperatorName],
    tell: Callable[[str], object],
) -> None:
    """Have measured, and kept in the user's cache, what is not there of a suite's operators.

    `tested` are those of which ONNX has node tests. Raises as `Cluster.each`, UserError where all workers of
    an operator are lost.
    """
    sources, number = sources_digest(), 0
    lost: list[str] = []
    missing = _missing(suite, operators, tested)
    units = ((each, (sources, each.operator, part, each.operator in tested)) for each, part in missing)
    for asked, answer in cluster.each(measure_on_worker, units):
        if isinstance(answer, Lost):
            lost.append(str(asked.operator))
            continue
        keep_measured(asked.operator, asked.key, _received(asked, answer))
        number += 1
        tell(f"{asked.operator} was measured on {one_line(answer.machine, 200)}; {number} so far")
    if lost:
        raise UserError(
            "the workers that measured were lost again and again",
            got=", ".join(lost),
            remedy="Give them more memory and time. What the others found is kept: ask again for the rest.",
        )


def _received(asked: _Asked, answer: MeasureAnswer) -> Kept:
    try:
        found = parse_kept(answer.kept)
    except DAMAGED as error:
        raise InternalError(f"what was found of {asked.operator} is damaged", got=str(error)) from error
    if found.operator != str(asked.operator):
        raise InternalError("another operator was measured", got=found.operator, expected=str(asked.operator))
    return found


def _missing(
    suite: Suite, operators: Sequence[OperatorName], tested: Collection[OperatorName]
) -> Iterator[tuple[_Asked, bytes]]:
    """What is to be asked of each operator that was not measured before, with its part, deflated."""
    for operator in operators:
        prefix = f"{operator.path}/"
        names = [each for each in suite.case_ids if each.startswith(prefix)]
        entries = tuple(suite.entry(each) for each in names)
        key = measurement_key(operator, cases_digest(expectations_in(entries)), operator in tested)
        if find_measured(operator, key) is None:
            golden = b"".join(map(suite.golden, names))
            part = SuitePart(operator, golden, entries, suite.facts["operators"][str(operator)])
            yield _Asked(operator, key), zlib.compress(part_bytes(part), 1)
