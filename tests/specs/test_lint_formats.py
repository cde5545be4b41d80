"""Findings as text with carets, as JSON, and as SARIF that keeps to its standard."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from opcert.commands.lint_command import FORMATS
from opcert.vocabulary.names import OperatorName
from specs.lint.formats import FORMATS as WRITERS
from specs.lint.linting import Linted, Reported
from specs.model.spec import Finding, Source

NAME = OperatorName.parse("ai.onnx::Pad-1")
LINES = ("# Pad", "", "    speaks of \tpad here", "x" * 3000, "hidden \u202e mark")
FORM = Path(__file__).with_name("sarif_form.schema.json")


def reported(
    line: int, column: int | None = None, message: str = "the text speaks of pad", **more: Any
) -> Reported:
    finding = Finding("name-mismatch", "warning", Source("d", line, column), message, "pads", "noted")
    return replace(Reported(finding, "docs/a page.md", NAME), **more)


def linted(*found: Reported) -> Linted:
    return Linted(list(found), [("docs/a page.md", NAME)], {"docs/a page.md": LINES})


def text_of(*found: Reported) -> list[str]:
    return WRITERS["text"](linted(*found)).splitlines()


def sarif_of(*found: Reported) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(WRITERS["sarif"](linted(*found)))
    return log


def test_the_command_offers_every_form() -> None:
    assert sorted(FORMATS) == sorted(WRITERS)


def test_text_points_at_the_word_that_the_message_names() -> None:
    head, line, caret, evidence, *_ = text_of(reported(3))
    assert head == "docs/a page.md:3: warning name-mismatch: the text speaks of pad [ai.onnx::Pad-1]"
    assert evidence == "  pads; noted"
    assert line[caret.index("^") : caret.rindex("~") + 1] == "speaks"


def test_text_points_at_the_column_of_a_long_line() -> None:
    _, line, caret, *_ = text_of(reported(4, 2000))
    assert len(line) < 130
    assert line[caret.index("^")] == "x"
    assert line.startswith("     4 | ... ")
    assert line.endswith(" ...")


@pytest.mark.parametrize(
    ("line", "column"), [(1, None), (2, None), (3, 40), (4, 1), (4, 5000), (5, 8), (99, None)]
)
def test_a_caret_stands_below_its_line_wherever_a_finding_stands(line: int, column: int | None) -> None:
    blocks = text_of(reported(line, column))
    quoted = [block for block in blocks if " | " in block]
    assert len(quoted) == (0 if line == 99 else 2) or line == 2
    assert all(block.isprintable() for block in blocks)


def test_text_writes_out_what_would_turn_the_line_around() -> None:
    assert "\\u202e" in "\n".join(text_of(reported(5)))


def test_accepted_findings_are_counted_and_not_shown() -> None:
    assert text_of(reported(3, accepted="known")) == ["no findings in 1 document; 1 accepted"]
    assert text_of(reported(3))[-1] == "1 warning in 1 document"


def test_behind_the_first_twenty_of_a_kind_is_one_line() -> None:
    many = [reported(line) for line in range(1, 100_001)]
    begun = time.process_time()
    text = text_of(*many)
    assert time.process_time() - begun < 10
    (others,) = (each for each in text if "more of" in each)
    assert "99,980 more of" in others
    assert len(text) < 100
    assert text[-1].startswith("100,000 ")
    assert len(json.loads(WRITERS["json"](linted(*many[:30])))) == 30
    assert not any("more of" in each for each in text_of(*many[:20]))


def test_json_has_the_keys_of_the_format() -> None:
    rows = json.loads(WRITERS["json"](linted(reported(3), reported(4, 7, accepted="known"))))
    assert rows[0] == {
        "code": "name-mismatch",
        "severity": "warning",
        "document": "docs/a page.md",
        "line": 3,
        "column": None,
        "operator": "ai.onnx::Pad-1",
        "message": "the text speaks of pad",
        "evidence": "pads",
        "action": "noted",
        "accepted": None,
    }
    assert (rows[1]["column"], rows[1]["accepted"]) == (7, "known")


def check_sarif(log: dict[str, Any]) -> None:
    """The structure that the standard asks for; the whole of its schema where somebody has it at hand."""
    jsonschema.validate(log, json.loads(FORM.read_text(encoding="utf-8")))
    official = os.environ.get("OPCERT_SARIF_SCHEMA")
    if official:
        schema = json.loads(Path(official).read_text(encoding="utf-8"))
        kind = jsonschema.validators.validator_for(schema)
        kind(schema, format_checker=kind.FORMAT_CHECKER).validate(log)
    for run in log["runs"]:
        known = [each["id"] for each in run["tool"]["driver"]["rules"]]
        assert len(set(known)) == len(known)
        for result in run["results"]:
            assert known[result["ruleIndex"]] == result["ruleId"]


def test_sarif_keeps_to_its_standard() -> None:
    other = Finding("html-escape", "error", Source("d", 99), "a", "b", "repaired")
    log = sarif_of(
        reported(3),
        reported(2),
        reported(4, 2000),
        reported(5, accepted="known"),
        Reported(other, "/a b", None),
    )
    check_sarif(log)
    results = log["runs"][0]["results"]
    assert [result["level"] for result in results] == ["warning", "warning", "warning", "warning", "error"]
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results]
    assert uris == ["docs/a%20page.md"] * 4 + ["file:///a%20b"]
    assert results[3]["suppressions"] == [{"kind": "external", "justification": "known"}]
    assert results[2]["locations"][0]["physicalLocation"]["region"] == {"startLine": 4, "startColumn": 2000}


def test_sarif_of_nothing_keeps_to_its_standard() -> None:
    check_sarif(sarif_of())


def test_a_fingerprint_stays_when_lines_move() -> None:
    first, second = sarif_of(reported(3), reported(5))["runs"][0]["results"]
    assert first["partialFingerprints"] == second["partialFingerprints"]
