"""Passages as pages show them: titles for digests, sections, text only of the very document that was read."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from reports.results.case_results import Results, put_together
from reports.results.document_texts import LONGEST, DocumentTexts, find_documents
from reports.single_cases.passages_shown import document_title, passages_of, public_page, with_titles
from tests.reports.sample import RESIZE_18, Maker, make_case, sample_facts

MARKDOWN = """# Operators
### <a name="Resize-18"></a>**Resize-18**

#### Attributes

<dl>
<dt><tt>axes</tt> : list of ints</dt>
<dd>Which axes &lt;all&gt; are meant.</dd>
<dt><tt>mode</tt> : string</dt>
<dd>How.</dd>
</dl>
"""
RST = "Pad\n===\n\nAttributes\n~~~~~~~~~~\n\n**mode** - STRING :\n\nSupported are\ntwo modes.\n\nOther.\n"
DIGEST = hashlib.sha256(MARKDOWN.encode()).hexdigest()


def texts(text: str) -> DocumentTexts:
    return DocumentTexts({"x": tuple(text.split("\n"))})


def test_a_passage_is_its_paragraph_without_markup() -> None:
    assert texts(MARKDOWN).passage("x", 7) == "axes : list of ints Which axes <all> are meant."
    assert texts(MARKDOWN).section("x", 7) == "Attributes"
    assert texts(MARKDOWN).section("x", 3) == "Resize-18"
    assert texts(RST).passage("x", 9) == "Supported are two modes."
    assert texts(RST).section("x", 9) == "Attributes"


def test_an_item_of_a_list_comes_with_the_items_that_say_what_it_is() -> None:
    page = """* *sizes*

  * **Description**: *sizes* is the size of the window.
    Two numbers.
  * **Required**: *yes*

* *strides*
- alone
- other
"""
    said = (
        "* *sizes* * **Description**: *sizes* is the size of the window. Two numbers. * **Required**: *yes*"
    )
    assert texts(page).passage("x", 1) == said
    assert texts(page).passage("x", 5) == "* **Required**: *yes*"
    assert texts(page).passage("x", 7) == "* *strides* - alone - other"


def test_a_page_in_one_line_is_read_from_its_column_on() -> None:
    line = "Pad " + "word " * 400
    said = texts(line).passage("x", 1, 5)
    assert said.startswith("word word")
    assert len(said) == LONGEST
    assert said.endswith("…")


@pytest.mark.parametrize(("sha256", "line"), [("y", 1), ("x", 0), ("x", -3), ("x", 10**9)])
def test_of_what_is_not_at_hand_nothing_is_said(sha256: str, line: int) -> None:
    assert texts(MARKDOWN).passage(sha256, line) == ""
    assert texts(MARKDOWN).section(sha256, line) == ""


def test_only_the_very_document_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "Changelog.md").write_text(f"{MARKDOWN}changed\n")
    assert find_documents(tmp_path, [("Changelog.md", DIGEST)]).lines == {}
    (tmp_path / "below" / "Changelog.md").write_text(MARKDOWN)
    assert set(find_documents(tmp_path, [("Changelog.md", DIGEST)]).lines) == {DIGEST}
    assert find_documents(tmp_path, [("Other.md", DIGEST)]).lines == {}
    with pytest.raises(UserError, match="folder of documents"):
        find_documents(tmp_path / "nowhere", [])


def results_of(folder: Path, document: dict[str, Any]) -> Results:
    facts = sample_facts()
    facts["operators"][str(RESIZE_18)]["documents"] = {"d1": document}
    made = Maker(folder).make([make_case(RESIZE_18, "cover", {"mode": "linear"})], facts=facts)
    return put_together(made.suite, made.record)


def test_lines_of_a_document_that_is_not_at_hand_are_one_passage(tmp_path: Path) -> None:
    results = results_of(tmp_path, {"file": "Changelog.md", "dialect": "onnx-markdown", "sha256": DIGEST})
    sources = [["d1", 7], ["d1", 9], ["d1", 7]]
    (found,) = passages_of(results, RESIZE_18, sources)
    assert found.where == "ONNX operator changelog, Resize-18, lines 7 and 9"
    assert found.address == "https://onnx.ai/onnx/operators/onnx__Resize.html"
    (many,) = passages_of(results, RESIZE_18, [["d1", line] for line in range(7, 17)])
    assert many.where == "ONNX operator changelog, Resize-18, 10 passages between lines 7 and 16"
    assert passages_of(results, RESIZE_18, ["odd", [], None]) == ()


def test_lines_of_a_document_that_is_at_hand_are_quoted(tmp_path: Path) -> None:
    results = results_of(tmp_path, {"file": "Changelog.md", "dialect": "onnx-markdown", "sha256": DIGEST})
    object.__setattr__(results, "texts", DocumentTexts({DIGEST: tuple(MARKDOWN.split("\n"))}))
    first, second = passages_of(results, RESIZE_18, [["d1", 7], ["d1", 9]])
    assert first.where == "ONNX operator changelog, Resize-18, Attributes, line 7"
    assert first.text.startswith("axes : list of ints")
    assert second.text == "mode : string How."


def test_no_title_is_a_digest() -> None:
    pad = OperatorName("com.microsoft", "Pad", 1)
    assert document_title(pad, "001_b77fe3e618f24325.txt", "onnx-sphinx-rst") == "ONNX Runtime page of Pad"
    assert document_title(pad, "notes.md") == "notes.md"
    assert (
        document_title(RESIZE_18, "onnx-1.jsonl", "onnx-package", "onnx 1.23.2") == "schemas of onnx 1.23.2"
    )
    said = "known as x: the runtime does not do it; 004_461a3d04fa574ae4.txt:48-49 and Changelog.md:7"
    assert with_titles(said, RESIZE_18) == (
        "known as x: the runtime does not do it; ONNX page of Resize, lines 48-49 and "
        "ONNX operator changelog, line 7"
    )
    twice = "Changelog.md:7, Changelog.md:9 and Changelog.md:27-29; Operators.md:3"
    assert with_titles(twice, RESIZE_18) == (
        "ONNX operator changelog, lines 7, 9 and 27-29; ONNX operators, line 3"
    )


def test_public_pages_follow_from_names_and_nothing_else() -> None:
    assert public_page(OperatorName("ai.onnx.ml", "LabelEncoder", 4)).endswith(
        "onnx_aionnxml_LabelEncoder.html"
    )
    assert public_page(OperatorName("com.microsoft", "Pad", 1)).endswith("#com.microsoft.Pad")
    assert public_page(OperatorName("org.example", "Pad", 1)) == ""
