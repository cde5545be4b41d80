"""Which contradictions between pages, listed by a reader, the linter tells: the second part of the list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import yaml

from opcert.vocabulary.names import OperatorName
from reference.rules import rules as reference_rules
from specs.importing.reading import Job, ReadingOutcome, read_one
from specs.lint.linting import Reported, lint_outcomes
from specs.rules import rules
from tests.documents.gathering import Documents, read_digests
from tools.page_defects import LIST, match_defects, read_defect


@dataclass(frozen=True)
class Contradiction:
    """An entry of the list's contradictions, and the finding that tells it, or None."""

    id: str
    what: str
    finding: Reported | None


def measure_contradictions(documents: Documents) -> tuple[list[Contradiction], list[Reported]]:
    """Each contradiction of the list with its finding, and the findings between documents that tell none.

    Where no rule has an entry's code, its documents are not read.
    """
    content = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    files: Mapping[str, str] = content["documents"]
    texts = {
        key: (documents.find("first-pages") / file).read_text(encoding="utf-8") for key, file in files.items()
    }
    entries = content["contradictions"]
    codes = {each.code for each in (*rules(), *reference_rules())}
    pairs = sorted(
        (files[each["document"]], each["against"]["file"], each["against"]["operator"])
        for each in entries if each["code"] in codes
    )  # fmt: skip
    found = [
        each for page, other, operator in dict.fromkeys(pairs)
        for each in _lint_pair(documents, page, other, OperatorName.parse(operator))
    ]  # fmt: skip
    defects = [read_defect(each, files, texts) for each in entries]
    told = match_defects(defects, found)
    contradictions = [
        Contradiction(each.id, each.what, found[told[position]] if position in told else None)
        for position, each in enumerate(defects)
    ]
    return contradictions, [each for at, each in enumerate(found) if at not in told.values()]


def _lint_pair(documents: Documents, page: str, other: str, operator: OperatorName) -> list[Reported]:
    """What the linter says of a page beside another document that it does not say of each alone."""
    path = documents.find(next(each for each in read_digests() if Path(each).name == other))
    outcomes = [
        _read(documents.find("first-pages") / page, operator),
        _read(path, None if path.suffix == ".md" else operator),
    ]
    outcomes = [
        replace(each, layers=tuple(layer for layer in each.layers if layer.operator == operator))
        for each in outcomes
    ]
    both = lint_outcomes(outcomes, lambda _: ())
    alone = {each.finding for outcome in outcomes for each in lint_outcomes([outcome], lambda _: ()).found}
    alone = {replace(each, source=replace(each.source, document="")) for each in alone}
    return [
        each for each in both.found
        if replace(each.finding, source=replace(each.finding.source, document="")) not in alone
    ]  # fmt: skip


@cache
def _read(path: Path, operator: OperatorName | None) -> ReadingOutcome:
    return read_one(Job(path, True, (operator,) if operator is not None else ()))
