"""Pages of no dialect are told what they lack, and the template has all of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from specs.documents.text.documents import Text, decode
from specs.documents.text.page_template import PARTS, TemplatePart, describe_missing, write_template
from specs.importers import find_importer, import_text
from tests.commands.command_line import call, check_message

PLAIN = """# Frobnicate

Computes the frobnication of its input, since version 3.

## Inputs
X: a tensor of float32

**Returns**
Y: a tensor
"""


def text_of(content: str) -> Text:
    return decode(content.encode(), "page.md")


@pytest.mark.parametrize("name", ["org.example::MyOperator-1", "ai.onnx::Frob-30", "a.b_c::X_1-7"])
def test_the_template_is_a_page_without_a_finding(name: str) -> None:
    operator = OperatorName.parse(name)
    (spec,) = import_text(text_of(write_template(operator)))
    assert spec.operator == operator
    assert spec.findings == ()
    assert list(spec.attributes) == ["axis"]
    assert [[each.name for each in group] for group in (spec.inputs, spec.outputs)] == [["X"], ["Y"]]
    assert [len(example.inputs) for example in spec.examples] == [1]


def test_a_plain_page_is_told_what_it_lacks_and_where_that_may_stand() -> None:
    with pytest.raises(UserError) as raised:
        find_importer(text_of(PLAIN))
    told = str(raised.value)
    for each in ("heading (perhaps line 1)", "version it holds (perhaps line 3)", "Inputs (perhaps line 5)"):
        assert each in told
    assert "Outputs (perhaps line 8)" in told
    assert "- Type Constraints:" in told
    assert "Attributes" not in told, "a page may have none"
    assert "opcert import --template" in told


@pytest.mark.parametrize("part", PARTS[:2], ids=lambda each: str(each.name))
def test_a_template_without_a_part_lacks_that_one(part: TemplatePart) -> None:
    broken = part.pattern.sub("gone", write_template(OperatorName.parse("org.example::MyOperator-1")))
    with pytest.raises(UserError, match=re.escape(part.name)):
        find_importer(text_of(broken))
    assert describe_missing(text_of(broken)).count("\n- ") == 1


def test_openvino_pages_lack_their_name() -> None:
    assert "**Versioned name**: *" in describe_missing(text_of("# Add\n\nVersioned name: Add-1\n"))


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, plain = tmp_path / "page.md", tmp_path / "plain.md"
    page.write_text(call(capsys, "import", "--template").out)
    plain.write_text(PLAIN)
    assert call(capsys, "lint", page).code == 0
    assert call(capsys, "import", page, "-o", tmp_path / "specs").code == 0
    assert (tmp_path / "specs/org.example/MyOperator/imported-1.yaml").is_file()
    for words in (("lint", plain), ("import", plain, "-o", tmp_path / "specs")):
        check_message(call(capsys, *words), 2, "input", "no operator page", "Inputs (perhaps line 5)")
    check_message(call(capsys, "import", "--template", "Frob"), 2, "input", "not an operator's name")
    assert call(capsys, "import", "--template", "a::B-1", page).code == 2
    folder = call(capsys, "import", tmp_path, "-o", tmp_path / "specs")
    assert folder.code == 0
    assert "perhaps line" not in folder.out


@pytest.mark.parametrize(
    "piece", ["### ", "    ", "####", "This version ", "versioned ", "Input ", "-\n---\n"]
)
def test_hostile_pages_are_told_at_once(piece: str) -> None:
    assert describe_missing(text_of("x\n" + piece * 200_000))
