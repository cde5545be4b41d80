"""What readers found of the linter's findings, and the page that states how many of each code are right."""

from __future__ import annotations

import os
import re

import pytest

from tests.documents.gathering import Documents
from tools.findings import BEGIN, END, PAGE, SAMPLE, lint_documents, read_looks, table

LEAST = 0.9
_ROW = re.compile(
    r"(?m)^\| (?P<code>[a-z-]+) \| (?P<severity>[a-z][a-z, ]*) "
    r"\| (?P<findings>\d+) \| (?P<seen>\d+) \| (?P<right>\d+) \|"
)
_LINE = re.compile(r"(?ms)^- (?P<severity>[a-z, ]+): (?P<codes>.*?)$(?!\n  )")
_LISTED = re.compile(r"`(?P<code>[a-z-]+)`\s+(?P<seen>\d+)\s+of\s+(?P<findings>\d+)")


def rows() -> dict[str, dict[str, str]]:
    """The page's figures, by code: of codes in a list all that was looked at is right."""
    text = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    found = {match["code"]: match.groupdict() for match in _ROW.finditer(text)}
    for line in _LINE.finditer(text):
        for each in _LISTED.finditer(line["codes"]):
            found[each["code"]] = {**each.groupdict(), "severity": line["severity"], "right": each["seen"]}
    return found


def test_the_page_states_what_readers_found() -> None:
    looks = read_looks()
    stated = rows()
    assert len(stated) > 50
    for code, row in stated.items():
        assert int(row["seen"]) <= len(looks[code]), code
        assert int(row["right"]) <= sum(look.right for look in looks[code].values()), code


def test_samples_are_whole() -> None:
    for code, row in rows().items():
        assert int(row["seen"]) == min(int(row["findings"]), SAMPLE), code


def test_nine_findings_in_ten_are_right_where_the_code_is_no_hint() -> None:
    for code, row in rows().items():
        if row["severity"] != "hint":
            assert int(row["right"]) >= LEAST * int(row["seen"]), code


def test_wrong_findings_have_a_reason() -> None:
    for code, looks in read_looks().items():
        assert [look.at for look in looks.values() if not look.right and not look.note] == [], code


@pytest.mark.skipif(not os.environ.get("OPCERT_EXAMPLES"), reason="lints every document: set OPCERT_EXAMPLES")
def test_the_page_is_of_the_linter_as_it_is(documents: Documents) -> None:
    linted = lint_documents([documents.find(".")])
    text = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip()
    assert table(linted.found, read_looks()) == text
