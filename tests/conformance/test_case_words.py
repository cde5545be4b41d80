"""A golden's words are held against a grammar when it is read: they end up in scripts, files and pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import GraphProto

from conformance.suite.cases import Case
from conformance.suite.goldens import read_golden, write_golden
from conformance.suite.manifests import MANIFEST
from conformance.suite.suites import open_suite
from opcert.vocabulary.errors import UserError
from tests.commands.command_line import call, check_message
from tests.conformance.samples import echo_runtime, expect, make_case, make_suite, sample
from tests.conformance.test_strangers import rewrite

SCRIPT = "x\nimport os; os.system('touch owned')\n#"
Change = Callable[[GraphProto, dict[str, Any]], object]


def case() -> Case:
    return make_case(expectations=(expect(sample(), None, rounding="up"),))


def forged(change: Change) -> bytes:
    """A golden in which somebody changed something."""
    graph = GraphProto.FromString(write_golden(case())[0])
    rest = json.loads(graph.doc_string)
    change(graph, rest)
    graph.doc_string = json.dumps(rest)
    raw: bytes = graph.SerializeToString()
    return raw


def put(*path: Any) -> Change:
    *keys, last, value = path

    def change(graph: GraphProto, rest: dict[str, Any]) -> None:
        found: Any = rest
        for key in keys:
            found = found[key]
        found[last] = value

    return change


FORGERIES: dict[str, Change] = {
    "constraint": put("constraint", SCRIPT),
    "constraint that is no text": put("constraint", ["a"]),
    "demand": put("demand", "obey"),
    "valid case": put("valid_case", SCRIPT),
    "input": put("inputs", [SCRIPT]),
    "inputs that are no list": put("inputs", "X"),
    "output": put("expectations", 0, "outputs", [SCRIPT]),
    "reading": put("expectations", 0, "readings", {SCRIPT: ["a"]}),
    "option": put("expectations", 0, "readings", {"rounding": ["up\x1b[2J"]}),
    "options that are no list": put("expectations", 0, "readings", {"rounding": "up"}),
    "behaviour": put("expectations", 0, "behaviours", {"\u202e": ["a"]}),
    "level": put("levels", {"do": "a\u2028b"}),
    "factor": put("levels", {"\ud800": "a"}),
    "levels that are no object": put("levels", ["do"]),
    "rule that is no text": put("rule", {"a": 1}),
    "rule without end": put("rule", "x" * 100_000),
    "document": put("sources", [["d\n1", 1]]),
    "line": put("sources", [["d1", "1\n2"]]),
    "line below all": put("sources", [["d1", -1]]),
    "element type": put("element_type", "tensor(flot)"),
    "case id": lambda graph, _: setattr(graph, "name", graph.name + "\n"),
    "attribute": lambda graph, _: setattr(graph.node[0].attribute[0], "name", SCRIPT),
    "output of the node": lambda graph, _: graph.node[0].output.append(SCRIPT),
    "nesting": lambda graph, rest: rest.update(levels=json.loads("[" * 500 + "]" * 500)),
}  # fmt: skip


def test_what_nobody_changed_is_read() -> None:
    assert read_golden(forged(lambda *_: None)).id == case().id


@pytest.mark.parametrize("name", FORGERIES)
def test_a_golden_with_a_word_that_is_none_is_damaged(name: str) -> None:
    with pytest.raises(UserError):
        read_golden(forged(FORGERIES[name]))


@given(st.text())
def test_whatever_a_constraint_is_called_is_a_word_or_an_error(text: str) -> None:
    raw = forged(put("constraint", text))
    try:
        found = read_golden(raw).constraint
    except UserError:
        return
    assert found == text
    assert text == "" or text.isidentifier() or text.isalnum() or text[0].isdigit()
    assert text.isascii()
    assert len(text.splitlines()) < 2


def test_nobody_writes_what_could_not_be_read_again() -> None:
    with pytest.raises(UserError, match="a constraint"):
        write_golden(replace(case(), constraint=SCRIPT))


@pytest.mark.parametrize(
    ("key", "value"),
    [("family", "cover\n"), ("demand", "obey"), ("element_type", "flot"), ("id", "org.example/Echo-1/x")],
)
def test_a_manifest_s_words_are_looked_at_too(tmp_path: Path, key: str, value: str) -> None:
    suite = make_suite(tmp_path, [case()])
    rewrite(suite, lambda manifest: manifest["cases"][0].update({key: value}))
    with pytest.raises(UserError, match="the entry of case number 0"):
        open_suite(suite)


def test_a_damaged_suite_is_told_with_its_place_and_runs_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("conformance.suite.goldens.check_words", lambda each: each)
        suite = make_suite(
            tmp_path,
            [replace(make_case(demand="refuse", family="invalid"), constraint=SCRIPT)],
        )
    words = ["run", echo_runtime(), "-s", suite, "-o", tmp_path / "run.jsonl"]
    answer = call(capsys, *words)
    check_message(answer, 2, "input", "is damaged", "Echo-1.pb", "a constraint of a case is no such word")
    assert "\nimport os" not in answer.err
    assert not (tmp_path / "owned").exists()
    assert MANIFEST in {path.name for path in suite.iterdir()}
