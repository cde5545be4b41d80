"""Parts of operators made by the workers of a cluster: they come as bytes, and go into the user's cache."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.clusters.cluster import Cluster
from conformance.clusters.machines import machine_here
from conformance.clusters.run_units import deflated, inflated
from conformance.clusters.worker_answers import Lost, on_worker
from conformance.suite.kept_parts import keep_part
from conformance.suite.suite_parts import part_bytes, read_part
from generator.making.operators.sources import SourceReader
from generator.making.operators.workshop import Options
from generator.making.suites.part_making import MadePart, make_part_once, part_key
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName

_LARGEST = 1 << 30
_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BEFORE_ESTIMATE = 3.0


@dataclass(frozen=True)
class PartAnswer:
    """A part as the bytes of a file, deflated; the machine that made it, of what (a digest), in what time."""

    machine: str
    key: str
    part: bytes
    seconds: float


@on_worker
def make_on_worker(operator: OperatorName, options: Options) -> PartAnswer:
    """Make an operator's part, or take it from the cache of this machine; raises as `make_part_anew` does."""
    made = make_part_once(operator, options)
    raw = deflated(part_bytes(made.part))
    return PartAnswer(str(machine_here()["name"]), part_key(operator, options), raw, made.seconds)


def make_on_cluster(
    cluster: Cluster, operators: Sequence[OperatorName], options: Options
) -> dict[OperatorName, MadePart]:
    """The parts of operators, made in this order; each is in the user's cache as soon as it has come.

    Raises as `make_part_anew` and `Cluster.each` do, UserError where all workers of an operator are lost.
    """
    found: dict[OperatorName, MadePart] = {}
    lost: list[OperatorName] = []
    begun = told = time.monotonic()
    sources, reader = project_digest(), SourceReader()
    units = ((each, (sources, each, options)) for each in operators)
    for operator, answer in cluster.each(make_on_worker, units):
        if isinstance(answer, Lost):
            lost.append(operator)
            continue
        found[operator] = _received(operator, part_key(operator, options, (), reader), answer)
        now = time.monotonic()
        if now - told > _SECONDS_BETWEEN_LINES:
            told = now
            left = (now - begun) * (len(operators) - len(found)) / len(found)
            estimate = f", about {left:.0f} s left" if now - begun > _SECONDS_BEFORE_ESTIMATE else ""
            cluster.tell(f"{len(found)} of {len(operators)} operators made{estimate}")
    if lost:
        raise UserError(
            "the workers that made cases were lost again and again",
            got=", ".join(map(str, lost)),
            remedy="Give them more memory and time. What the others made is kept: ask again for the rest.",
        )
    return found


def _received(operator: OperatorName, key: str, answer: PartAnswer) -> MadePart:
    """A part that a worker made, kept in the cache; UserError where it is damaged or of something else."""
    machine = one_line(answer.machine, 200)
    try:
        part = read_part(inflated(answer.part, _LARGEST))
    except (ValueError, KeyError, TypeError, AttributeError, UserError) as error:
        raise UserError(
            f"the cases of {operator} from {machine} are damaged",
            got=one_line(str(error), 300),
            remedy="Look at what runs there. What the others made is kept: ask again for the rest.",
        ) from error
    if part.operator != operator or key != answer.key:
        raise UserError(
            f"the cases of {operator} from {machine} were made of something else than there is here",
            got=answer.key[:12],
            expected=key[:12],
            remedy="Install the same opcert on both, and the same versions of what it needs.",
        )
    keep_part(part, key)
    return MadePart(part, answer.seconds, told=f"{operator} was made on {machine}")
