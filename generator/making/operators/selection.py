"""The size `small`: cases that cover something new, or kill a mutant that none before them did."""

from __future__ import annotations

from conformance.suite.cases import Case
from generator.making.operators.workshop import Workshop


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
