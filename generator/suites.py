"""Generate suites: every family of every operator, in an order and with bytes that never change."""

from __future__ import annotations

import pkgutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from math import prod
from multiprocessing import active_children, get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import generator.families
from conformance.cases import Case
from conformance.suites import suite_order, write_suite
from generator.adequacy.kept import adequacy_facts, adequacy_folder, read_kept
from generator.ambiguity import Ambiguity
from generator.calls_files import read_calls
from generator.discovery import find_levels, known_operators
from generator.facts import operator_facts
from generator.found_calls import add_calls
from generator.selection import keep_what_adds
from generator.workshop import Options, Workshop
from opcert.errors import UserError, unwritable
from opcert.names import FAMILIES, OperatorName
from reference.registry import find_operator
from specs.library import load_spec, regressions_folder
from specs.user_modules import mistakes_of


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
    """What was generated for one operator: cases in suite order, facts for the manifest, seconds taken.

    `adequacy` is what is known of what these cases notice, or None.
    """

    operator: OperatorName
    cases: tuple[Case, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    adequacy: dict[str, Any] | None = None
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
    reference = find_operator(operator, spec.reference_module)
    kept = read_kept(operator, adequacy_folder(folders))
    selected = kept.selection if kept is not None and options.size == "small" else ()
    workshop = Workshop(spec, reference, find_levels(operator, spec.levels_module), options, selected)
    with mistakes_of(spec.levels_module, spec.reference_module):
        for make_cases in _families().values():
            make_cases(workshop)
        keep_what_adds(workshop)
        add_calls(workshop, read_calls(regressions_folder(operator, folders)))
    cases = sorted(workshop.cases.values(), key=lambda each: suite_order(each.id))
    facts = operator_facts(workshop)
    adequacy = adequacy_facts(kept, cases, facts["coverage"])
    return OperatorCases(operator, tuple(cases), facts, adequacy, perf_counter() - started)


def generate(
    operators: Sequence[OperatorName],
    options: Options,
    folders: Sequence[Path] = (),
    processes: int = 1,
) -> Iterator[OperatorCases]:
    """The cases of several operators (default: all that can be generated), one operator after the other.

    The result does not depend on `processes`.
    """
    wanted = sorted(set(operators)) if operators else known_operators(folders)
    if processes < 2 or len(wanted) < 2:
        for operator in wanted:
            yield generate_operator(operator, options, folders)
        return
    # Workers are started afresh, never forked: runtimes and test runners hold threads.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        # The longest first, so that none of them is left over at the end.
        jobs = {
            operator: pool.submit(generate_operator, operator, options, tuple(folders))
            for operator in sorted(wanted, key=partial(_combinations, folders), reverse=True)
        }
        try:
            for operator in wanted:
                yield jobs[operator].result()
        except BaseException:
            # Whoever is interrupted does not wait for the operators under way.
            for child in active_children():
                child.terminate()
            raise


def _combinations(folders: Sequence[Path], operator: OperatorName) -> int:
    """In how many ways an operator's documents can be read: what its cases take goes with that."""
    module = load_spec(operator, folders).reference_module if folders else None
    found = find_operator(operator, module)
    return prod(len(options) for options in found.readings.values())


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
    adequacy: dict[str, Any] = {}
    wanted = sorted(set(operators)) if operators else known_operators(folders)
    if not wanted:
        raise UserError(
            "no operator that cases can be made of",
            got=", ".join(map(str, folders)),
            expected="a curated.yaml that names `levels` and `reference`",
            remedy="docs/your-operator.md shows how.",
        )
    for number, made in enumerate(generate(wanted, options, folders, processes), start=1):
        cases.extend(made.cases)
        facts[str(made.operator)] = made.facts
        if made.adequacy is not None:
            adequacy[str(made.operator)] = made.adequacy
        unclear = Ambiguity(**made.facts["ambiguity"])
        done, left = tuple(wanted[:number]), tuple(wanted[number:])
        progress(Made(made.operator, len(made.cases), made.seconds, len(cases), done, left, unclear))
    chosen = {"size": options.size, "strength": options.strength, "operators": sorted(facts)}
    return write_suite(path, cases, {"operators": facts, "adequacy": adequacy}, chosen)


def _check_place(path: Path) -> None:
    folder = path.absolute().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise unwritable("the suite", path, error) from error
