"""How many of the defects that a reader found in the first pages `opcert lint` finds, and what else it says.

    uv run python -m tools.page_defects            the figures, what was missed, what was said beside
    uv run python -m tools.page_defects --write    and writes the figures into docs/import-documents.md

The list is tests/specs/page_defects.yaml; it also says when a finding tells a defect. The pages are five of
tests/documents.
"""

from __future__ import annotations

import argparse
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from specs.lint.linting import Reported
from tests.documents.gathering import passing_documents
from tools.findings import lint_documents, write_section

REPOSITORY = Path(__file__).resolve().parents[1]
LIST = REPOSITORY / "tests" / "specs" / "page_defects.yaml"
BEGIN, END = "<!-- first pages: begin -->", "<!-- first pages: end -->"


@dataclass(frozen=True)
class Defect:
    """One entry of the list: its document's file, the places where it shows, and what a finding must say.

    `lines` are ranges of lines, `columns` ranges of characters in a document of one line.
    """

    id: str
    file: str
    code: str
    lines: tuple[tuple[int, int], ...]
    columns: tuple[tuple[int, int], ...]
    words: tuple[str, ...]
    what: str

    def told_by(self, reported: Reported) -> bool:
        """Whether a finding tells this defect, by the list's rule."""
        found = reported.finding
        if Path(reported.document).name != self.file or found.code != self.code:
            return False
        if not _within(found.source.line, self.lines):
            return False
        if self.columns and not _within(found.source.column or 0, self.columns):
            return False
        said = f"{found.message} {found.evidence}".lower()
        return not self.words or any(word.lower() in said for word in self.words)


@dataclass
class Measured:
    """Which finding tells which defect; findings that tell none, and defects that none tells."""

    told: dict[str, Reported] = field(default_factory=dict)
    missed: list[Defect] = field(default_factory=list)
    later: dict[str, Reported] = field(default_factory=dict)
    later_missed: list[Defect] = field(default_factory=list)
    beside: list[Reported] = field(default_factory=list)
    found: list[Reported] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """The share of the reader's defects that are told."""
        return len(self.told) / (len(self.told) + len(self.missed))

    @property
    def precision(self) -> float:
        """The share of findings that tell a defect, of the reader's or one that was seen later."""
        return (len(self.told) + len(self.later)) / len(self.found)


def read_list(folder: Path) -> tuple[list[Defect], list[Defect]]:
    """The reader's defects, and those that were seen later; `folder` has the pages."""
    content = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    files: Mapping[str, str] = content["documents"]
    texts = {key: (folder / file).read_text(encoding="utf-8") for key, file in files.items()}
    first, later = (
        [read_defect(entry, files, texts) for entry in content[section]] for section in ("defects", "later")
    )
    return first, later


def read_untold() -> set[str]:
    """The defects that only rules told which were written for these pages, and are gone."""
    return set(yaml.safe_load(LIST.read_text(encoding="utf-8"))["untold"])


def read_defect(entry: Mapping[str, Any], files: Mapping[str, str], texts: Mapping[str, str]) -> Defect:
    """An entry of the list; `files` and `texts` are the pages' names and their texts, by their keys."""
    lines = tuple((each, each) if isinstance(each, int) else tuple(each) for each in entry.get("lines", [1]))
    columns = tuple(_columns(texts[entry["document"]], words) for words in _listed(entry.get("at", [])))
    return Defect(
        id=entry["id"],
        file=files[entry["document"]],
        code=entry["code"],
        lines=lines,
        columns=columns,
        words=tuple(entry.get("words", ())),
        what=entry["what"],
    )


def _columns(text: str, words: str) -> tuple[int, int]:
    if text.count(words) != 1:
        raise ValueError(f"{words!r} stands {text.count(words)} times in the document, expected once")
    start = text.index(words)
    return start + 1, start + len(words)


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _within(number: int, ranges: Sequence[tuple[int, ...]]) -> bool:
    return any(each[0] <= number <= each[1] for each in ranges)


def lint_pages(folder: Path) -> list[Reported]:
    """What `opcert lint` says of the pages, each read alone, as the shipped specs name their operators."""
    linted = lint_documents(sorted(folder.glob("*.txt")))
    if linted.unread:
        raise ValueError(f"pages that were not read: {linted.unread}")
    return linted.found


def measure(folder: Path) -> Measured:
    """Match findings and defects, one to one, as many as can be."""
    first, later = read_list(folder)
    measured = Measured(found=lint_pages(folder))
    pairs = match_defects(first, measured.found)
    used = set(pairs.values())
    measured.told = {first[defect].id: measured.found[pair] for defect, pair in sorted(pairs.items())}
    measured.missed = [defect for position, defect in enumerate(first) if position not in pairs]
    rest = [reported for position, reported in enumerate(measured.found) if position not in used]
    more = match_defects(later, rest)
    measured.later = {later[defect].id: rest[each] for defect, each in sorted(more.items())}
    measured.later_missed = [defect for position, defect in enumerate(later) if position not in more]
    measured.beside = [
        reported for position, reported in enumerate(rest) if position not in set(more.values())
    ]
    return measured


def match_defects(defects: Sequence[Defect], found: Sequence[Reported]) -> dict[int, int]:
    """The greatest matching of defects with findings that tell them, by augmenting paths."""
    choices = [[at for at, reported in enumerate(found) if defect.told_by(reported)] for defect in defects]
    owner: dict[int, int] = {}

    def place(defect: int, tried: set[int]) -> bool:
        for at in choices[defect]:
            if at not in tried:
                tried.add(at)
                if at not in owner or place(owner[at], tried):
                    owner[at] = defect
                    return True
        return False

    for defect in range(len(defects)):
        place(defect, set())
    return {defect: at for at, defect in owner.items()}


def page_section(measured: Measured) -> str:
    """The figures as they stand in docs/import-documents.md."""
    defects, untold = len(measured.told) + len(measured.missed), read_untold()
    figures = (
        f"Defects on the list: {defects}. Findings: {len(measured.found)} "
        f"({len(measured.found) / defects:.2f} for each defect). "
        f"Recall {len(measured.told)} of {defects} ({measured.recall:.1%}), "
        f"precision {len(measured.told) + len(measured.later)} of {len(measured.found)} "
        f"({measured.precision:.1%}; {len(measured.later)} of them tell defects that the reader had missed)."
    )
    lines = [
        *textwrap.wrap(figures, 140),
        "",
        *_by_code(measured),
        "",
        f"Missed, beside the {len(untold)} of both lists that only rules told which are gone:",
        "",
        *[
            f"- {defect.id} (`{defect.code}`): {defect.what}"
            for defect in measured.missed
            if defect.id not in untold
        ],
        "",
        "Seen only later, by others or in a second reading: "
        f"{len(measured.later) + len(measured.later_missed)}, "
        f"of which the linter tells {len(measured.later)}. It never told:",
        "",
        *[
            f"- {defect.id} (`{defect.code}`): {defect.what}"
            for defect in measured.later_missed
            if defect.id not in untold
        ],
        "",
        "Said beside the list:",
        "",
        *[
            f"- `{reported.finding.code}`, line {reported.finding.source.line}: {reported.finding.message}"
            for reported in measured.beside
        ],
    ]
    return "\n".join(lines)


def _by_code(measured: Measured) -> Iterator[str]:
    """Codes of which every defect is told and nothing else in a sentence, the others as a table."""
    told = Counter(reported.finding.code for reported in measured.told.values())
    missed = Counter(defect.code for defect in measured.missed)
    found = Counter(reported.finding.code for reported in measured.found)
    codes = sorted({*told, *missed, *found})
    whole = [code for code in codes if told[code] == found[code] and not missed[code]]
    listed = ", ".join(f"`{code}` {told[code]}" for code in whole)
    yield from textwrap.wrap(f"All told, and nothing beside them: {listed}.", 140, break_on_hyphens=False)
    yield from ("", "| code | defects | found | findings |", "|---|---|---|---|")
    for code in codes:
        if code not in whole:
            yield f"| {code} | {told[code] + missed[code]} | {told[code]} | {found[code]} |"


def main() -> None:
    """Print the figures, and write them where asked to."""
    parser = argparse.ArgumentParser(description="measure the linter against the list of the pages' defects")
    parser.add_argument("--write", action="store_true", help="write the figures into the page")
    given = parser.parse_args()
    with passing_documents() as documents:
        section = page_section(measure(documents.find("first-pages")))
    print(section)
    if given.write:
        write_section(BEGIN, section, END)


if __name__ == "__main__":
    main()
