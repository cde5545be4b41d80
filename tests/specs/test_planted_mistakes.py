"""Single mistakes planted into clean pages: each is told at its place, and a clean page has no finding."""

from __future__ import annotations

import random
import re

import pytest

from specs.documents.text.documents import decode, read_document
from specs.importers import import_text
from specs.model.spec import Finding
from specs.rules.examples import fits
from specs.rules.type_lists import unknown
from tests.documents.gathering import Documents
from tests.specs.mistakes import CLEAN, MISTAKES, Mistake


def findings(page: str) -> list[Finding]:
    return [finding for spec in import_text(decode(page.encode(), "page.md")) for finding in spec.findings]


def test_the_clean_page_has_no_finding() -> None:
    assert findings(CLEAN) == []


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each.name)
def test_each_mistake_is_told_where_it_stands(mistake: Mistake) -> None:
    page = mistake.planted()
    line = page[: page.index(mistake.new)].count("\n") + 1
    told = [finding for finding in findings(page) if finding.code == mistake.code]
    assert told, [(finding.code, finding.message) for finding in findings(page)]
    # An example is told of where it is expected, or where its node is made.
    assert min(abs(each.source.line - line) for each in told) <= 12


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each.name)
def test_no_mistake_is_told_by_a_flood(mistake: Mistake) -> None:
    """One slip is one finding, or two where two rules see it, and what follows from it."""
    assert 1 <= len(findings(mistake.planted())) <= 4


def test_an_unknown_type_is_told_in_any_page(documents: Documents) -> None:
    """One type misspelt in each of thirty operators: each is told, and nothing of the page as it is."""
    content = read_document(documents.find("onnx/Operators.md")).content
    pages = re.split(r"(?m)^(?=### <a name=)", content)[1:]
    whole = [page for page in pages if "tensor(float)" in page and "(deprecated)" not in page]
    choices = random.Random(3)
    for page in choices.sample(whole, 30):
        head = "## ai.onnx\n"
        assert not [finding for finding in findings(head + page) if finding.code == "unknown-element-type"]
        places = [match.start() for match in re.finditer(r"tensor\(float\)", page.split("#### Examples")[0])]
        place = choices.choice(places)
        damaged = page[:place] + "tensor(flot)" + page[place + len("tensor(float)") :]
        told = [finding for finding in findings(head + damaged) if finding.code == "unknown-element-type"]
        assert told, page[:60]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("float", None),
        ("flot", "flot"),
        ("T", None),
        ("seq(tensor(flot))", "flot"),
        ("optional(seq(tensor(float16)))", None),
        ("map(int64, tensor(float))", None),
        ("map(itn64, tensor(float))", "itn64"),
        ("sparse_tensor(double)", None),
        ("float6e3m2", None),
        ("float8e4m3fm", "float8e4m3fm"),
    ],
)
def test_unknown_parts_of_types(text: str, name: str | None) -> None:
    assert unknown(text) == name


def test_values_that_fit_a_kind() -> None:
    assert fits("float", 1)
    assert fits("ints", [])
    assert fits("floats", [1, 0.5])
    assert not fits("int", 0.5)
    assert not fits("ints", 3)
    assert not fits("string", 1)
    assert not fits("strings", "a")
