"""Searches for the calls of operators, made where what is kept of them is out of date."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path

from generator.borders.breaches import find_breaches
from generator.borders.known_breaches import places_of
from generator.families.cover import dealt_rows, first_seeds
from generator.making.cache import PROCESSES
from generator.making.kept_searches import (
    FoundCalls,
    KeptSearches,
    digest_of_code,
    digest_of_spec,
    read_searches,
    write_searches,
)
from generator.making.sources import SEARCHES_FILE
from generator.making.workshop import Options, open_workshop
from generator.rows.row_search import RowSearch
from generator.spaces.declared_levels import UnlearnedCore
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.process_pools import broken_off, process_pool


def keep_searches(
    operators: Sequence[OperatorName], progress: Callable[[str], object], path: Path = SEARCHES_FILE
) -> None:
    """Write what searches find for some operators; those that are kept, and as they were, are not made."""
    code, specs = digest_of_code(), {str(each): digest_of_spec(each) for each in operators}
    try:
        kept = read_searches(path)
    except UserError as error:  # a file that nobody can read is what this mends
        progress(f"all calls are searched for anew: {error}")
        kept = None
    known = kept.found if kept is not None and kept.code == code else {}
    found = {name: each for name, each in known.items() if specs.get(name) == each.spec}
    lacking = [each for each in operators if str(each) not in found]
    if lacking:
        progress(f"searching for calls of {len(lacking)} operators")
        jobs: dict[OperatorName, Future[FoundCalls]] = {}
        with process_pool(
            PROCESSES, "searching for calls of", partial(broken_off, jobs), remedy="Give it more memory."
        ) as pool:
            jobs |= {each: pool.submit(search_calls, each) for each in lacking}
            found |= {str(each): job.result() for each, job in jobs.items()}
    searches = KeptSearches(code, found)
    if searches != kept:
        write_searches(searches, path)


def search_calls(operator: OperatorName) -> FoundCalls:
    """What the whole searches for the rows and breaches of an operator version find."""
    try:
        return _search_calls(operator, learn=False)
    except UnlearnedCore:
        return _search_calls(operator, learn=True)


def _search_calls(operator: OperatorName, *, learn: bool) -> FoundCalls:
    workshop = open_workshop(operator, Options(), learn=learn)
    levels, search = workshop.levels, RowSearch()
    if workshop.model.levels:
        dealt_rows(workshop, first_seeds(workshop), search)
    breaches = find_breaches(levels.space, workshop.draw("invalid"))
    return FoundCalls(digest_of_spec(operator), search.found, places_of(levels.space, breaches))
