"""Docstrings of TensorFlow's generated functions: summary, `Args:`, `Returns:`, worked examples."""

from __future__ import annotations

import re
from dataclasses import replace

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from specs.documents.tensorflow_texts.docstrings import operator_name, read_docstring
from specs.documents.tensorflow_texts.sections import tidy_lines
from specs.documents.text.documents import KEY, Text
from specs.importers import Importer
from specs.model.spec import Document, Finding, Spec

DIALECT = "tensorflow-docstring"

_NAME = re.compile(r"^# op: (?P<name>\w+)\s*$", re.MULTILINE)
_RELEASE = re.compile(r"^# source: (?P<release>\S+)", re.MULTILINE)


def recognise(text: Text) -> float:
    """Sure where the operator is named; likely where arguments and results stand as docstrings have them."""
    if _NAME.search(text.content):
        return 1.0
    return 0.6 if re.search(r"^Returns:[ \t]*\n  \S", text.content, re.MULTILINE) else 0.0


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """The facts of one docstring; raises UserError where neither it nor the user names the operator."""
    stated = _NAME.search(text.content)
    if stated is None and operator is None:
        raise UserError(
            "the docstring does not name its operator",
            where=Place(text.file),
            remedy=f"Name it: --operator {text.file}=domain::Name-version",
        )
    name = operator or operator_name(stated["name"] if stated else "")
    if stated is not None and stated["name"] != name.name:
        raise UserError(
            "the docstring names another operator", got=stated["name"], expected=name.name,
            where=Place(text.file),
        )  # fmt: skip
    release = _RELEASE.search(text.content)
    document = Document(
        KEY,
        text.file,
        DIALECT,
        text.sha256,
        release["release"] if release else None,
        "stated" if stated else "asserted",
    )
    lines, damage = tidy_lines(text.content)
    spec = read_docstring(lines, name, document)
    findings = [*spec.findings, *damage]
    last = next((line for line in reversed(lines) if line.text), None)
    if last is not None and not text.content.endswith("\n"):
        message = "the docstring ends within a line"
        findings.append(Finding("section-cut", "hint", last.source(), message, last.text[-60:], "noted"))
    return [replace(spec, findings=tuple(findings))]


IMPORTERS = (Importer(DIALECT, recognise, read),)
