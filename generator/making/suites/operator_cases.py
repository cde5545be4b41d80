"""The cases of one operator: every family, in an order and with bytes that never change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from conformance.suite.cases import Case
from conformance.suite.suite_parts import suite_order
from generator.calls.declared.declared_levels import UnlearnedCore
from generator.calls.declared.modelled import KeptDraws, searched_of
from generator.making.cases.mechanisms import add_lone_levels, add_specials_together, add_told_shortcuts
from generator.making.cases.sized_cases import add_kernel_sizes, add_narrow_stages, add_sizes_in_vectors
from generator.making.cases.told_cases import add_told_losses, add_wide_values
from generator.making.cases.typed_cases import add_integer_ends, add_lengths_in_types, add_type_pairs
from generator.making.families import cover, example
from generator.making.families.boundary import make_boundary, make_inert, make_invalid, make_survival
from generator.making.operators.discovery import newer_versions, open_spec
from generator.making.operators.selections import read_selection
from generator.making.operators.workshop import Options, Workshop
from generator.making.suites.found_calls import add_calls, read_kept_calls
from generator.making.suites.manifest_facts import operator_facts
from generator.making.suites.taken_over import Newer, take_over, takes_over
from generator.measured.slack import slack_facts
from opcert.vocabulary.names import OperatorName
from reference.registry import find_operator
from specs.files.library import load_spec
from specs.files.user_modules import mistakes_of


def keep_what_adds(workshop: Workshop) -> None:
    """Drop the cases of a workshop that add nothing to its selection; all stay where there is none.

    The covering rows stay (every level, once), the selection, for every constraint one case that breaks it,
    with its valid neighbour, and for every attribute one case outside its scope.
    """
    selected = {each.digest for each in workshop.selected}
    if not selected:
        return
    kept: dict[str, Case] = {}
    seen: set[tuple[str, str | None]] = set()
    for digest, case in workshop.cases.items():
        what = (case.family, case.constraint or case.id.word)
        is_first = case.family in ("invalid", "survival", "inert") and what not in seen
        if case.family == "cover" or digest in selected or is_first:
            seen.add(what)
            kept[digest] = case
    neighbours = {case.valid_case for case in kept.values()}
    workshop.cases = {
        digest: case
        for digest, case in workshop.cases.items()
        if digest in kept or str(case.id) in neighbours
    }


_MAKERS: tuple[Callable[[Workshop], None], ...] = (
    make_boundary,
    cover.make_cases,
    make_inert,
    make_invalid,
    make_survival,
    add_wide_values,
    add_sizes_in_vectors,
    add_told_losses,
    add_specials_together,
    add_kernel_sizes,
    add_narrow_stages,
    add_told_shortcuts,
    add_integer_ends,
    add_lengths_in_types,
    add_lone_levels,
    add_type_pairs,
)
"""What makes cases behind those of documents, in an order that never changes: later ones add what lacks."""


@dataclass(frozen=True, eq=False)
class OperatorCases:
    """What was generated for one operator: cases in suite order, facts for the manifest, seconds taken.

    `draws` are those of the covering rows that became cases.
    """

    operator: OperatorName
    cases: tuple[Case, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    draws: KeptDraws | None = None


def generate_operator(
    operator: OperatorName,
    options: Options,
    folders: Sequence[Path] = (),
    cases_of: Callable[[OperatorName], Sequence[Case]] | None = None,
    *,
    afresh: bool = False,
) -> OperatorCases:
    """Every case of one operator; raises UserError where it lacks spec, reference or declared calls.

    An older version takes the calls of the next newer one over: `cases_of` gives its cases, which are made
    here where nobody has them. The draws of covering rows that are kept in its room, and what else searches
    found before, are taken as they are, unless they are to be searched for `afresh`; what is not kept there,
    or no longer true, is searched for.
    """
    try:
        return _generate(operator, options, folders, cases_of, afresh=afresh)
    except UnlearnedCore:
        return _generate(operator, options, folders, cases_of, afresh=afresh, learn=True)


def _generate(
    operator: OperatorName,
    options: Options,
    folders: Sequence[Path],
    cases_of: Callable[[OperatorName], Sequence[Case]] | None,
    *,
    afresh: bool,
    learn: bool = False,
) -> OperatorCases:
    started = perf_counter()
    spec, levels = open_spec(operator, folders, learn=learn)
    reference = find_operator(operator, spec.reference_module)
    selected = read_selection(operator, folders) if options.size == "small" else ()
    workshop = Workshop(spec, reference, levels, options, selected)
    if not afresh:
        workshop.kept_draws = searched_of(operator, folders).draws
    with mistakes_of(spec.reference_module):
        example.make_cases(workshop)
        _take_over(workshop, folders, cases_of)
        for make_cases in _MAKERS:
            make_cases(workshop)
        keep_what_adds(workshop)
        add_calls(workshop, read_kept_calls(operator, folders))
    cases = sorted(workshop.cases.values(), key=lambda each: suite_order(each.id))
    facts = operator_facts(workshop) | slack_facts(cases)
    return OperatorCases(operator, tuple(cases), facts, perf_counter() - started, workshop.draws)


def _take_over(
    workshop: Workshop, folders: Sequence[Path], cases_of: Callable[[OperatorName], Sequence[Case]] | None
) -> None:
    newer = next(iter(newer_versions(workshop.spec.operator, folders)), None)
    if newer is None or not takes_over(workshop):
        return
    cases = generate_operator(newer, workshop.options, folders).cases if cases_of is None else cases_of(newer)
    take_over(workshop, Newer(load_spec(newer, folders), cases))
