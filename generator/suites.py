"""Generate suites: every family of every operator, in an order and with bytes that never change."""

from __future__ import annotations

import pkgutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from math import prod
from multiprocessing import active_children, get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import generator.families
from conformance.cases import Case
from conformance.suites import suite_order, write_suite
from generator.ambiguity import Ambiguity
from generator.discovery import find_levels, known_operators
from generator.facts import operator_facts
from generator.workshop import Options, Workshop
from opcert.errors import unwritable
from opcert.names import FAMILIES, OperatorName
from reference.registry import find_operator
from specs.library import load_spec


@dataclass(frozen=True)
class Made:
    """Tells that the cases of one operator are made, and how far that is; as text, a line."""

    operator: OperatorName
    cases: int
    seconds: float
    cases_so_far: int
    done: tuple[OperatorName, ...]
    left: tuple[OperatorName, ...]
    ambiguity: Ambiguity

    def __str__(self) -> str:
        return f"{self.operator}: {self.cases} cases in {self.seconds:.1f} s; {self.ambiguity}"


Progress = Callable[[Made | str], object]
"""Is told sentences, and each operator that is made."""


@dataclass(frozen=True, eq=False)
class OperatorCases:
    """What was generated for one operator: cases in suite order, facts for the manifest, seconds taken."""

    operator: OperatorName
    cases: tuple[Case, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


@cache
def _families() -> dict[str, Callable[[Workshop], None]]:
    """The function that makes each family's cases, in the order of families."""
    names = {each.name for each in pkgutil.iter_modules(generator.families.__path__)}
    found = [name for name in FAMILIES if name in names]
    return {name: import_module(f"generator.families.{name}").make_cases for name in found}


def generate_operator(
    operator: OperatorName, options: Options, folders: Sequence[Path] = ()
) -> OperatorCases:
    """Every case of one operator; raises UserError where it has no spec, reference or levels module."""
    started = perf_counter()
    spec = load_spec(operator, folders)
    workshop = Workshop(spec, find_operator(operator), find_levels(operator), options)
    for make_cases in _families().values():
        make_cases(workshop)
    cases = sorted(workshop.cases.values(), key=lambda each: suite_order(each.id))
    return OperatorCases(operator, tuple(cases), operator_facts(workshop), perf_counter() - started)


def generate(
    operators: Sequence[OperatorName],
    options: Options,
    folders: Sequence[Path] = (),
    processes: int = 1,
) -> Iterator[OperatorCases]:
    """The cases of several operators (default: all that can be generated), one operator after the other.

    The result does not depend on `processes`.
    """
    wanted = sorted(set(operators)) if operators else known_operators()
    if processes < 2 or len(wanted) < 2:
        for operator in wanted:
            yield generate_operator(operator, options, folders)
        return
    # Workers are started afresh, never forked: runtimes and test runners hold threads.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        # The longest first, so that none of them is left over at the end.
        jobs = {
            operator: pool.submit(generate_operator, operator, options, tuple(folders))
            for operator in sorted(wanted, key=_combinations, reverse=True)
        }
        try:
            for operator in wanted:
                yield jobs[operator].result()
        except BaseException:
            # Whoever is interrupted does not wait for the operators under way.
            for child in active_children():
                child.terminate()
            raise


def _combinations(operator: OperatorName) -> int:
    """In how many ways an operator's documents can be read: what its cases take goes with that."""
    return prod(len(options) for options in find_operator(operator).readings.values())


def write_generated(
    path: Path,
    operators: Sequence[OperatorName],
    options: Options,
    folders: Sequence[Path] = (),
    processes: int = 1,
    progress: Progress = lambda _: None,
) -> str:
    """Generate a suite and write it to `path` (a folder, or a `.zip`); returns its digest.

    Raises UserError where the place cannot be written, before anything is generated.
    """
    _check_place(path)
    cases: list[Case] = []
    facts: dict[str, Any] = {}
    wanted = sorted(set(operators)) if operators else known_operators()
    for number, made in enumerate(generate(wanted, options, folders, processes), start=1):
        cases.extend(made.cases)
        facts[str(made.operator)] = made.facts
        unclear = Ambiguity(**made.facts["ambiguity"])
        done, left = tuple(wanted[:number]), tuple(wanted[number:])
        progress(Made(made.operator, len(made.cases), made.seconds, len(cases), done, left, unclear))
    chosen = {"size": options.size, "strength": options.strength, "operators": sorted(facts)}
    return write_suite(path, cases, {"operators": facts}, chosen)


def _check_place(path: Path) -> None:
    folder = path.absolute().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise unwritable("the suite", path, error) from error
