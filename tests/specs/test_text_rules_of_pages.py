"""Rules on the words of pages: what each says, and what it must not say."""

from __future__ import annotations

import pytest

from specs.documents.text.documents import Text
from specs.importers import import_text
from specs.model.spec import Finding
from tests.growth import LINEAR, growth

pytestmark = pytest.mark.slow

PAGE = """\
### <a name="Twice"></a><a name="twice">**Twice**</a>

  {summary}

#### Version

This version of the operator has been available since version 1 of the default ONNX operator set.

#### Attributes

<dl>
<dt><tt>dilations</tt> : {attribute}</dt>
<dd>{description}</dd>
</dl>

#### Inputs

<dl>
<dt><tt>X</tt> : T</dt>
<dd>Input.</dd>
</dl>

#### Outputs

<dl>
<dt><tt>Y</tt> : T</dt>
<dd>Output.</dd>
</dl>

#### Type Constraints

<dl>
<dt><tt>T</tt> : {types}</dt>
<dd>{constraint}</dd>
</dl>
"""
RIGHT = {
    "summary": "Doubles `X`.",
    "attribute": "list of ints (required)",
    "description": "Distances.",
    "types": "tensor(float16), tensor(float)",
    "constraint": "Constrain to float tensors.",
}


def findings(**changes: str) -> list[Finding]:
    page = PAGE.format(**{**RIGHT, **changes})
    (spec,) = import_text(Text("page.md", page, "0" * 64))
    return list(spec.findings)


def codes(**changes: str) -> list[str]:
    return [finding.code for finding in findings(**changes)]


def test_a_right_page_has_no_finding() -> None:
    assert codes() == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"summary": "As `dilation[i]` says."}, "name-mismatch"),
        ({"summary": "As 'dilation' says."}, "name-mismatch"),
        ({"summary": "Doubles `X and `Y`."}, "unbalanced-quotes"),
        ({"summary": "It is `floor(X * (2 + 1)`."}, "unbalanced-brackets"),
        ({"summary": r"It is \f[ \min\big( X,\ 2 \big \f]."}, "unbalanced-brackets"),
        ({"summary": "It doubles the the input."}, "repeated-word"),
        ({"attribute": "list of ints"}, "default-missing"),
        ({"attribute": "list of ints (default is many)"}, "default-undecodable"),
        ({"attribute": "string (default is tow)", "description": "One of: one (default), two."},
         "default-outside-values"),
        ({"constraint": "Constrain to float16 or double tensors."}, "text-vs-types"),
        ({"constraint": "Constrain to integer tensors."}, "text-vs-types"),
        ({"constraint": "Constrain to float tensors.", "types": "tensor(float), tensor(int32)"},
         "text-vs-types"),
    ],
)  # fmt: skip
def test_a_slip_is_told(change: dict[str, str], code: str) -> None:
    assert [each for each in codes(**change) if each != "low-confidence-values"] == [code]


@pytest.mark.parametrize(
    "change",
    [
        {"summary": "Supports three `dilationss`: none."},
        {"summary": "Where ```y = dilation * X``` holds, all is well."},
        {"summary": "Takes `[0, 1)` and `(a, b]` for intervals."},
        {"summary": "Can can be danced, and that that is so is known."},
        {"summary": "Where `dilations` is not given, no element is left out.", "attribute": "list of ints"},
        {"attribute": "list of ints", "description": "Distances; 1 if not present."},
        {"constraint": "Constrain to float16 or float tensors."},
        {"constraint": "Constrain to half or float32."},
        {"constraint": "Constrain to all types that can be doubled."},
    ],
)
def test_what_is_right_is_left_alone(change: dict[str, str]) -> None:
    assert codes(**change) == []


def test_a_finding_stands_at_its_line() -> None:
    page = PAGE.format(**{**RIGHT, "summary": "Fine.\n\n  As `dilation[i]` says."})
    (spec,) = import_text(Text("page.md", page, "0" * 64))
    assert [(finding.source.line, finding.evidence) for finding in spec.findings] == [
        (5, "dilation at line 5")
    ]


@pytest.mark.nightly
@pytest.mark.parametrize("text", ["`a` ", "``` ", "`a ", "'a' ", "(", "if ", "the\n"])
def test_hostile_text_takes_time_in_proportion(text: str) -> None:
    assert growth(lambda size: lambda: findings(summary=text * size), 50_001) <= LINEAR
