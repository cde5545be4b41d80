"""Generate suites: put together of the parts of operators, which are made or taken from the user's cache."""

from __future__ import annotations

import tempfile
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

from conformance.clusters.cluster import Cluster
from conformance.clusters.run_units import deflated, inflated
from conformance.clusters.worker_answers import Lost, machine_here, on_worker
from conformance.suite.kept_parts import keep_part, parts_of
from conformance.suite.suite_parts import SuitePart, part_bytes, read_part
from conformance.suite.suites import write_suite_of_parts
from generator.asking.ambiguity import Ambiguity
from generator.calls.declared.modelled import declaration_ships
from generator.making.operators.discovery import select_operators
from generator.making.operators.sources import SourceReader
from generator.making.operators.workshop import Options
from generator.making.suites.lock import known_sizes
from generator.making.suites.part_making import MadePart, find_part, make_part_anew, make_part_once, part_key
from opcert.vocabulary.errors import InternalError, OpcertError, Place, UserError, unwritable
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.process_pools import broken_off, process_pool
from reference.readings.disagreements import load_disagreements
from reference.registry import reference_of
from specs.files.declarations import find_declaration
from specs.files.library import load_spec

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
    units = ((operator, (sources, operator, options)) for operator in operators)
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


_ONE_BY_ONE = "Give it more memory, or name one operator at a time: that takes one process."


@dataclass(frozen=True)
class Made:
    """Tells that the cases of one operator are there, and how far that is; as text, a line.

    `part` is what was made.
    """

    operator: OperatorName
    cases: int
    seconds: float
    cases_so_far: int
    done: tuple[OperatorName, ...]
    left: tuple[OperatorName, ...]
    ambiguity: Ambiguity
    kept: bool = False
    part: SuitePart | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        how = "kept from before" if self.kept else f"in {self.seconds:.1f} s"
        return f"{self.operator}: {self.cases} cases {how}; {self.ambiguity}"


Progress = Callable[[Made | str], object]
"""Is told sentences, and each operator whose cases are there."""


def make_parts(
    operators: Sequence[OperatorName],
    options: Options,
    folders: Sequence[Path] = (),
    processes: int = 1,
    *,
    keep: bool = False,
    cluster: Cluster | None = None,
) -> Iterator[MadePart]:
    """The parts of several operators, each as soon as it is there; what they are hangs on no `processes`.

    With `keep`, those that were made before of the same come from the user's cache, and others go there. What
    is missing a cluster makes, if there is one; it knows nothing of `folders`.
    """
    found = _kept_parts(operators, options, folders) if keep else {}
    missing = [operator for operator in operators if operator not in found]
    if cluster is not None and missing:
        if folders:
            cluster.tell("cases of specs of your own are made here: workers have opcert and nothing else")
        else:
            ordered = sorted(missing, key=partial(_combinations, folders), reverse=True)
            found |= make_on_cluster(cluster, ordered, options)
            missing = []
    yield from (found[operator] for operator in operators if operator in found)
    make = make_part_once if keep else make_part_anew
    failed = _Failures(folders)
    cheapest_first = sorted(missing, key=partial(_cost, known_sizes(), folders))
    one = partial(make, options=options, folders=tuple(folders))
    together = processes > 1 and len(missing) > 1
    made = _made_together if together else _made_one_by_one
    with closing(made(cheapest_first, one, processes)) as results:
        for operator, result in results:
            part = failed.unless(operator, result)
            if part is not None:
                yield part
    failed.tell()


_Results = Generator[tuple[OperatorName, Callable[[], MadePart]], None, None]
"""Operators, each with what gives its part or raises."""


def _made_one_by_one(
    cheapest_first: Sequence[OperatorName], make: Callable[[OperatorName], MadePart], _: int
) -> _Results:
    yield from ((operator, partial(make, operator)) for operator in cheapest_first)


def _made_together(
    cheapest_first: Sequence[OperatorName], make: Callable[[OperatorName], MadePart], processes: int
) -> _Results:
    """Operators as they are made.

    One process makes the dearest, so that none of them is left over at the end; the others begin with the
    cheapest, so that there is something to read, and to run, from the beginning.
    """
    left = deque(cheapest_first)
    jobs: dict[OperatorName, Future[MadePart]] = {}
    under_way: dict[Future[MadePart], OperatorName] = {}
    dearest: OperatorName | None = None
    with process_pool(
        processes, "making the cases of", partial(broken_off, jobs), remedy=_ONE_BY_ONE
    ) as pool:
        while left or under_way:
            # One more than there are processes, so that none of them waits for this one.
            while left and len(under_way) <= processes:
                alone = dearest not in under_way.values()
                operator = left.pop() if alone else left.popleft()
                dearest = operator if alone else dearest
                jobs[operator] = pool.submit(make, operator)
                under_way[jobs[operator]] = operator
            for job in wait(under_way, return_when=FIRST_COMPLETED).done:
                if isinstance(job.exception(), BrokenProcessPool):
                    job.result()
                yield under_way.pop(job), job.result


class _Failures:
    """Our own mistakes in making the cases of operators: the others are made before any is told."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._found: list[tuple[OperatorName, Exception]] = []

    def unless(self, operator: OperatorName, make: Callable[[], MadePart]) -> MadePart | None:
        """What is made of an operator, unless that fails; what a user did wrong is raised at once."""
        try:
            return make()
        except (UserError, BrokenProcessPool):
            raise
        except MemoryError as error:
            if not self._folders or declaration_ships(operator, self._folders):
                raise
            declaration = find_declaration(operator, self._folders)
            raise UserError(
                "the calls that a declaration speaks of take more memory than there is",
                got=str(operator),
                where=None if declaration is None else Place(str(declaration)),
                remedy="Bound its extents and counts more tightly.",
            ) from error
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told with the operator
            self._found.append((operator, error))
            return None

    def tell(self) -> None:
        """Raise InternalError with every operator that failed, if any did."""
        if not self._found:
            return
        found = sorted(self._found, key=lambda each: each[0])
        told = (f"{operator}: {_said(error)}" for operator, error in found)
        raise InternalError("cases of operators cannot be made", got="; ".join(told)) from found[0][1]


def _said(error: Exception) -> str:
    said = str(error) if isinstance(error, OpcertError) else f"{type(error).__name__}: {error}"
    return " ".join([said, *getattr(error, "__notes__", ())])


def _kept_parts(
    operators: Sequence[OperatorName], options: Options, folders: Sequence[Path]
) -> dict[OperatorName, MadePart]:
    """The parts that the cache has; of those that are damaged, whoever makes them again will tell."""
    reader = SourceReader(folders)
    found = {
        operator: find_part(operator, part_key(operator, options, folders, reader))[0]
        for operator in operators
        # The keys of all operators take seconds to work out, which a first run has no use for.
        if not parts_of(operator).is_empty
    }
    return {operator: MadePart(part, 0.0, kept=True) for operator, part in found.items() if part is not None}


def _combinations(folders: Sequence[Path], operator: OperatorName) -> int:
    """In how many ways an operator's documents can be read: what its cases take goes with that."""
    found = reference_of(load_spec(operator, folders))
    return prod(len(options) for options in found.readings.values())


_USUAL_CASES = 100
"""So many cases an operator is taken to have that no lock knows."""


def _cost(cases: Mapping[str, int], folders: Sequence[Path], operator: OperatorName) -> int:
    """About what the making of an operator's cases takes, beside that of others."""
    return _combinations(folders, operator) * cases.get(str(operator), _USUAL_CASES)


def write_generated(
    path: Path,
    operators: Sequence[OperatorName],
    options: Options,
    folders: Sequence[Path] = (),
    processes: int = 1,
    progress: Progress = lambda _: None,
    *,
    keep: bool = False,
    cluster: Cluster | None = None,
) -> str:
    """Generate a suite and write it to `path` (a folder, or a `.zip`); returns its digest.

    With `keep`, parts of operators that were made before of the same are taken from the user's cache; a
    `cluster` makes the others. Raises UserError where the place cannot be written, before anything is made.
    """
    _check_place(path)
    wanted = sorted(set(operators)) if operators else select_operators((), folders)
    if not wanted:
        raise UserError(
            "no operator that cases can be made of",
            got=", ".join(map(str, folders)),
            expected="a spec.yaml that names `reference`",
            remedy="docs/your-operator.md shows how.",
        )
    parts: list[SuitePart] = []
    made_parts = make_parts(wanted, options, folders, processes, keep=keep, cluster=cluster)
    for made in made_parts:
        parts.append(made.part)
        done = tuple(part.operator for part in parts)
        if made.told is not None:
            progress(made.told)
        progress(
            Made(
                made.part.operator,
                len(made.part.entries),
                made.seconds,
                sum(len(part.entries) for part in parts),
                done,
                tuple(operator for operator in wanted if operator not in done),
                Ambiguity(**made.part.facts["ambiguity"]),
                made.kept,
                made.part,
            )
        )
    facts = {str(part.operator): part.facts for part in parts}
    chosen = {"size": options.size, "strength": options.strength, "operators": sorted(facts)}
    known = known_causes([part.operator for part in parts], folders)
    return write_suite_of_parts(path, parts, {"operators": facts}, chosen, known)


def known_causes(operators: Sequence[OperatorName], folders: Sequence[Path]) -> list[dict[str, Any]]:
    """The entries about runtimes of these operators, so that a report needs nothing beside the suite."""
    entries = [*(entry for folder in folders for entry in load_disagreements(folder)), *load_disagreements()]
    names = list(map(str, operators))
    return [
        entry.model_dump(mode="json", exclude_defaults=True)
        for entry in entries
        if entry.against != ("document",) and any(map(entry.concerns, names))
    ]


def _check_place(path: Path) -> None:
    folder = path.absolute().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise unwritable("the suite", path, error) from error
