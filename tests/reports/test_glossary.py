"""The words of the glossary are those of the report and of the code, and where they are said to be."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from tests.conftest import doc_section

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in doc_section(
        (ROOT / "docs" / "reference.md").read_text(encoding="utf-8"), "Words"
    ).splitlines()
    if line.startswith("| ") and not line.startswith("| word")
]
MEANINGS = {row[0].strip("| "): row[1] for row in ROWS}
IN_REPORT = re.findall(
    r"<dt>(.*?)</dt><dd>(.*?)</dd>",
    (ROOT / "reports" / "templates" / "glossary.html.j2").read_text(encoding="utf-8"),
)


def test_the_report_says_of_a_word_what_the_glossary_says() -> None:
    assert len(IN_REPORT) >= 10
    assert {word: html.unescape(text) for word, text in IN_REPORT} == {
        word: MEANINGS.get(word) for word, _ in IN_REPORT
    }


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_word_stands_where_the_glossary_says(row: list[str]) -> None:
    places = re.findall(r"`([\w./-]+)`", row[2])
    assert places
    for place, word in zip(places, row[0].strip("| ").split(", "), strict=False):
        path = ROOT / place
        files = sorted(path.glob("*.py")) if path.is_dir() else [path]
        text = " ".join(file.read_text(encoding="utf-8") for file in files).lower()
        stem = word.removeprefix("class of ").rstrip("s").replace(" version", "")
        assert stem.lower() in text or stem.replace(" ", "_").lower() in text, f"{place} does not say {word}"
