"""The rules: each code has one rule or row that says what it means, pages are cut rightly."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import reference.rules
import specs.rules
from opcert.vocabulary.names import OperatorName
from specs.documents.pages.pages import DocumentPage
from specs.documents.text.documents import Text, read_document
from specs.files.library import load_spec
from specs.importers import find_importer
from specs.model.spec import Origin
from specs.rules import LintRule, examine_spec
from tests.documents.gathering import Documents

RULES = (*specs.rules.rules(), *reference.rules.rules())
DOCUMENTS = ("first-pages/*.txt", "onnx/Operators.md", "openvino/movement/*.md",
             "tensorflow/docstrings/Re*.txt")  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_says_what_it_means_and_finds_or_names_who_does(rule: LintRule) -> None:
    finds = [each for each in (rule.check, rule.compare, rule.examine) if each is not None]
    assert finds or rule.found_by
    assert rule.meaning.endswith(".")
    assert rule.severity in ("error", "warning", "hint")


def codes_of(path: Path) -> Iterator[str]:
    """The codes that a module gives to findings, as literals."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if called in ("Finding", "find", "_find", "_finding", "_note") and "-" in str(node.args[0].value):
                yield str(node.args[0].value)


@pytest.mark.slow
def test_every_code_of_the_importers_is_known(repository: Path) -> None:
    known = {rule.code for rule in RULES}
    found = {
        code
        for folder in ("specs", "reference", "generator")
        for path in sorted((repository / folder).rglob("*.py"))
        for code in codes_of(path)
    }
    assert len(found) > 20
    assert sorted(found - known) == []


def texts(documents: Documents) -> Iterator[Text]:
    for pattern in DOCUMENTS:
        folder, _, names = pattern.rpartition("/")
        for path in sorted(documents.find(folder).glob(names)):
            yield read_document(path)


@pytest.mark.slow
def test_pages_give_back_the_passages_that_were_read(documents: Documents) -> None:
    """The prose that rules see is what the importer saw, word for word."""
    right, wrong = 0, []
    for text in texts(documents):
        importer = find_importer(text)
        operator = (
            OperatorName.parse("org.tensorflow::BatchToSpaceND-1") if "fragment" in importer.dialect else None
        )
        for version in DocumentPage(text, importer.dialect, importer.read(text, operator)).versions():
            for prose in version.spec.prose:
                words = " ".join(version.passages[prose.about].text.split())
                if hashlib.sha256(words.encode()).hexdigest()[:16] == prose.sha256:
                    right += 1
                else:
                    wrong.append((text.file, prose.about))
    assert right > 1700
    assert len(wrong) < right / 50, wrong[:20]


def test_a_version_has_its_own_lines_alone(first_pages: Path) -> None:
    text = read_document(next(first_pages.glob("004_*")))
    importer = find_importer(text)
    versions = list(DocumentPage(text, importer.dialect, importer.read(text, None)).versions())
    assert [(version.spec.operator.short, version.lines[0].text) for version in versions] == [
        (f"Resize-{number}", f"Resize - {number}") for number in (18, 13, 11, 10)
    ]
    ends = [version.lines[-1].number for version in versions]
    assert [version.lines[0].number for version in versions[1:]] == [end + 1 for end in ends[:-1]]
    assert [len(version.blocks) for version in versions] == [37, 0, 0, 0]


def test_a_fact_without_source_is_an_error() -> None:
    spec = load_spec(OperatorName.parse("ai.onnx::Resize-18"))
    assert [finding for finding in examine_spec(spec) if finding.code == "fact-without-source"] == []
    bare = replace(spec.constraints[0], origin=Origin("added", (), "  "))
    found = examine_spec(replace(spec, constraints=(bare, *spec.constraints[1:])))
    errors = [finding for finding in found if finding.code == "fact-without-source"]
    assert [(error.severity, bare.id in error.message) for error in errors] == [("error", True)]
