"""The linter against the defects that a reader found in the first pages, and the figures that are stated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest
import yaml

import reference.rules
import specs.rules
from opcert.vocabulary.names import OperatorName
from specs.importing.reading import Job, ReadingOutcome, read_one
from specs.lint.linting import Reported, lint_outcomes
from specs.model.spec import Finding, Source
from tests.documents.gathering import Documents, read_digests
from tools.findings import PAGE
from tools.page_defects import (
    BEGIN,
    END,
    LIST,
    Measured,
    match_defects,
    measure,
    page_section,
    read_defect,
    read_list,
    read_untold,
)

pytestmark = pytest.mark.slow

MOST_FINDINGS_PER_DEFECT = 4 / 3
KNOWN_MISSES = {
    "patches-out-rows",
    "resize11-unit-axis",
    "pad-two-dimensions",
    "ccp-listed-order",
    "resize13-scale",
    "resize11-scale",
}
KNOWN_MISSED_CONTRADICTIONS = {"ccp-function-operators"}


@pytest.fixture
def measured(documents: Documents) -> Measured:
    return _measured(documents.find("first-pages"))


@cache
def _measured(folder: Path) -> Measured:
    return measure(folder)


def test_every_entry_names_a_place_of_its_document_and_a_code_that_exists(documents: Documents) -> None:
    first, later = read_list(documents.find("first-pages"))
    codes = {rule.code for rule in (*specs.rules.rules(), *reference.rules.rules())}
    untold = read_untold()
    codes |= {defect.code for defect in (*first, *later) if defect.id in untold}
    lengths = {
        path.name: len(path.read_text(encoding="utf-8").split("\n"))
        for path in (documents.find("first-pages")).glob("*.txt")
    }
    for defect in (*first, *later):
        assert defect.code in codes, defect.id
        assert all(1 <= start <= end <= lengths[defect.file] for start, end in defect.lines), defect.id
    ids = [defect.id for defect in (*first, *later)]
    assert len(set(ids)) == len(ids)


def test_the_linter_finds_what_the_reader_found(measured: Measured) -> None:
    """All that rules tell which tell as much elsewhere."""
    missed = {defect.id for defect in (*measured.missed, *measured.later_missed)}
    assert missed == KNOWN_MISSES | read_untold()


def test_the_linter_says_little_beside(measured: Measured) -> None:
    assert len(measured.found) <= MOST_FINDINGS_PER_DEFECT * (len(measured.told) + len(measured.missed))
    assert measured.precision > 0.9


def test_each_finding_tells_one_defect_at_most(measured: Measured) -> None:
    told = [*measured.told.values(), *measured.later.values()]
    assert len({id(reported) for reported in told}) == len(told)
    assert len(told) + len(measured.beside) == len(measured.found)


def test_a_finding_elsewhere_or_of_another_code_tells_nothing(
    measured: Measured, documents: Documents
) -> None:
    first, _ = read_list(documents.find("first-pages"))
    by_id = {each.id: each for each in first}
    for name, reported in measured.told.items():
        defect = by_id[name]
        assert defect.told_by(reported)
        far = Source(reported.finding.source.document, 10**6, reported.finding.source.column)
        for other in (
            _changed(reported.finding, source=far),
            _changed(reported.finding, code="another-code"),
        ):
            assert not defect.told_by(type(reported)(other, reported.document, reported.operator))


def _changed(finding: Finding, source: Source | None = None, code: str | None = None) -> Finding:
    return Finding(
        code or finding.code,
        finding.severity,
        source or finding.source,
        finding.message,
        finding.evidence,
        finding.action,
    )


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
    codes = {rule.code for rule in (*specs.rules.rules(), *reference.rules.rules())}
    pairs = sorted(
        (files[entry["document"]], entry["against"]["file"], entry["against"]["operator"])
        for entry in entries if entry["code"] in codes
    )  # fmt: skip
    found = [
        reported for page, other, operator in dict.fromkeys(pairs)
        for reported in _lint_pair(documents, page, other, OperatorName.parse(operator))
    ]  # fmt: skip
    defects = [read_defect(entry, files, texts) for entry in entries]
    told = match_defects(defects, found)
    contradictions = [
        Contradiction(defect.id, defect.what, found[told[position]] if position in told else None)
        for position, defect in enumerate(defects)
    ]
    return contradictions, [reported for at, reported in enumerate(found) if at not in told.values()]


def _lint_pair(documents: Documents, page: str, other: str, operator: OperatorName) -> list[Reported]:
    """What the linter says of a page beside another document that it does not say of each alone."""
    path = documents.find(next(digest for digest in read_digests() if Path(digest).name == other))
    outcomes = [
        _read(documents.find("first-pages") / page, operator),
        _read(path, None if path.suffix == ".md" else operator),
    ]
    outcomes = [
        replace(outcome, layers=tuple(layer for layer in outcome.layers if layer.operator == operator))
        for outcome in outcomes
    ]
    both = lint_outcomes(outcomes, lambda _: ())
    alone = {
        reported.finding for outcome in outcomes for reported in lint_outcomes([outcome], lambda _: ()).found
    }
    alone = {replace(finding, source=replace(finding.source, document="")) for finding in alone}
    return [
        reported for reported in both.found
        if replace(reported.finding, source=replace(reported.finding.source, document="")) not in alone
    ]  # fmt: skip


@cache
def _read(path: Path, operator: OperatorName | None) -> ReadingOutcome:
    return read_one(Job(path, True, (operator,) if operator is not None else ()))


def test_contradictions_between_documents_of_one_version_are_found(documents: Documents) -> None:
    contradictions, beside = measure_contradictions(documents)
    assert {
        contradiction.id for contradiction in contradictions if contradiction.finding is None
    } == KNOWN_MISSED_CONTRADICTIONS
    assert _codes(reported.finding for reported in beside) <= {"texts-differ"}


def _codes(findings: Iterable[Finding]) -> set[str]:
    return {finding.code for finding in findings}


def test_the_list_says_of_everything_why_it_is_wrong_or_is_not() -> None:
    content = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    for section in ("defects", "later", "contradictions", "considered"):
        assert all(each["what"] and each["why"] for each in content[section])


def test_the_page_states_the_figures(measured: Measured) -> None:
    page = PAGE.read_text(encoding="utf-8")
    stated = page.split(BEGIN)[1].split(END)[0].strip("\n")
    assert stated == page_section(measured), "run `uv run python -m tools.page_defects --write`"
