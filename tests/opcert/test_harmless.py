"""Text from strangers in each medium: held against the programs that read it, where there are such."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import shutil
import subprocess
import unicodedata
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from opcert.vocabulary.harmless import (
    for_json,
    for_markdown,
    for_markdown_code,
    for_python,
    for_python_comment,
    for_shell,
    for_spreadsheet,
    for_terminal,
    for_workflow,
    for_workflow_property,
    for_xml,
    is_plain,
    one_line,
    shown,
    tidy_xml,
)

SURROGATES = st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)
CONTROLS = st.characters(categories=["Cc", "Cf", "Zl", "Zp"])
TEXTS = st.text(st.one_of(st.characters(), SURROGATES, CONTROLS, st.sampled_from("\n\t\r'\"\\`:#[]=@|<&$")))
HOSTILE = (
    "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe\u2066\u200b\ud800\x00\r::set-env name=A::b\n::error::no"
)


def hidden(text: str) -> list[str]:
    """What must be in no text that people look at, by Unicode's own word for it."""
    return [
        each
        for each in text
        if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") and each not in "\n\t"
    ]


def test_no_character_at_all_hides_from_people() -> None:
    assert not hidden("".join(shown(chr(point)) for point in range(0x110000)))


@given(TEXTS)
@example(HOSTILE)
def test_nothing_hides_from_people(text: str) -> None:
    for said in (shown(text), one_line(text), for_terminal(text), for_markdown(text), for_markdown_code(text),
                 for_spreadsheet(text), for_xml(text), for_python(text), for_python_comment(text),
                 for_shell([text]), for_json(text), for_workflow(text),
                 for_workflow_property(text)):  # fmt: skip
        assert not hidden(said)
        said.encode("utf-8")


@given(TEXTS)
@example(HOSTILE)
@example(" \t::add-mask::x")
@example("a ##[section]b ##vso[task.complete]c ##teamcity[d]")
def test_no_line_of_a_log_is_an_order_to_continuous_integration(text: str) -> None:
    for line in for_terminal(text).splitlines():
        assert not line.strip().startswith("::")
        assert "##[" not in line
        assert "##vso[" not in line
        assert "##teamcity[" not in line


def test_plain_text_reaches_a_terminal_as_it_is() -> None:
    text = "ai.onnx::Resize-18: 3 × fails\n\t- as “it” is, 日本語 ✓\n"
    assert for_terminal(text) == text


@given(TEXTS)
@example("a\nimport os")
@example("a\x85import os\u2028import os\x0cimport os")
def test_a_comment_of_python_is_one(text: str) -> None:
    source = f"{for_python_comment(text)}\nx = 1\n"
    assert [type(each) for each in ast.parse(source).body] == [ast.Assign]


@given(st.dictionaries(TEXTS, st.one_of(TEXTS, st.integers(), st.lists(TEXTS))))
def test_a_value_of_python_is_itself_again(value: object) -> None:
    source = for_python(value)
    assert source.isascii()
    assert len(source.splitlines()) == 1
    assert ast.literal_eval(source) == value


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1))
@example(["$(touch owned)", "`x`", "a b", "", "'", "!!", "a\n'b\\", "\x1b[2J", "~", "-rf", "\u202ex", "é"])
def test_a_shell_reads_the_words_again(words: list[str]) -> None:
    line = for_shell(words)
    assert "\n" not in line
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True)
    assert done.stdout.decode("utf-8").split("\0")[:-1] == words


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_a_file_that_is_no_text_is_named_to_a_shell_by_its_bytes() -> None:
    line = for_shell([b"caf\xe9".decode("utf-8", "surrogateescape")])
    done = subprocess.run(["bash", "-c", f"printf %s {line}"], capture_output=True, check=True)
    assert done.stdout == b"caf\xe9"


@given(TEXTS)
@example('<testcase/> & "quotes" \ufffe')
def test_xml_takes_every_text(text: str) -> None:
    root = ElementTree.Element("a", name=text)
    ElementTree.SubElement(root, "b").text = text
    tidy_xml(root, 100)
    again = ElementTree.fromstring(ElementTree.tostring(root, encoding="utf-8"))
    assert len(list(again.iter())) == 2
    assert again.get("name") == root.get("name")


@given(st.recursive(TEXTS, lambda text: st.lists(text) | st.dictionaries(TEXTS, text)))
def test_json_keeps_every_text(value: object) -> None:
    assert json.loads(for_json(value)) == value
    assert json.loads(for_json(value, indent=2)) == value


def test_json_has_no_numbers_that_it_lacks() -> None:
    with pytest.raises(ValueError, match="JSON"):
        for_json(float("nan"))


@given(TEXTS)
@example("=HYPERLINK(1)")
@example("  @SUM(1)")
@example("\n=1")
@example("＝1")
def test_no_cell_is_a_formula(text: str) -> None:
    written = io.StringIO()
    csv.writer(written).writerow([for_spreadsheet(text), "end"])
    ((cell, _),) = csv.reader(io.StringIO(written.getvalue(), newline=""))
    assert not cell.strip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a](javascript:x)", r"\[a\]\(javascript:x\)"),
        ("<img src=x>", r"\<img src=x\>"),
        ("https://example.org", r"https\://example.org"),
        ("www.example.org", "www&#8203;.example.org"),
        ("@someone and #12", r"\@&#8203;someone and \#&#8203;12"),
        ("a | b", r"a \| b"),
        ("a\n# b", r"a \# b"),
    ],
)
def test_markdown_marks_up_links_and_mentions_nothing(text: str, said: str) -> None:
    assert for_markdown(text) == said


@given(TEXTS)
def test_code_of_markdown_ends_where_it_must(text: str) -> None:
    said = for_markdown_code(text)
    fence = said[: len(said) - len(said.lstrip("`"))]
    assert "\n" not in said
    assert not said or (said.endswith(fence) and fence not in said[len(fence) : -len(fence)])


@given(TEXTS)
def test_a_plain_name_needs_no_care_anywhere(text: str) -> None:
    if is_plain(text, 100):
        assert not hidden(text)
        assert len(text.splitlines()) < 2
        assert shown(text) == text


@given(TEXTS, TEXTS)
@example(HOSTILE, HOSTILE)
def test_an_order_to_a_workflow_is_one_line_and_comes_out_as_it_went_in(title: str, text: str) -> None:
    """Read back as a runner does: the property up to the next colon, then what % stands for."""
    line = f"::error title={for_workflow_property(title)}::{for_workflow(text)}"
    assert len(line.splitlines()) == 1
    head, message = re.fullmatch(r"::error title=([^:,]*)::(.*)", line).groups()  # type: ignore[union-attr]
    assert decoded(message) == shown(text)
    assert decoded(head) == one_line(title, 200)


def decoded(text: str) -> str:
    for code, letter in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, letter)
    return text
