"""Fragments of TensorFlow's web pages: one argument's table cell, which does not name its operator."""

from __future__ import annotations

import re
from dataclasses import replace

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from specs.documents.tensorflow_texts.cells import read_cell
from specs.documents.tensorflow_texts.sections import tidy_lines
from specs.documents.text.documents import KEY, Passage, Text
from specs.importers import Importer
from specs.model.spec import Document, Finding, Spec

DIALECT = "tensorflow-fragment"

_CELL = re.compile(r"\A\s*(?P<name>\w+)\s*\n\|\s*\n(?P<text>.*?)(?P<end>\n\|\s*)?\Z", re.DOTALL)


def recognise(text: Text) -> float:
    """Sure where a name, a bar and a tensor's description follow each other."""
    match = _CELL.match(text.content)
    return 0.9 if match and re.match(r"An? (?:optional )?`?\w+`?", match["text"]) else 0.0


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """The facts of one argument; raises UserError where the user did not name the operator."""
    where = Place(text.file)
    if operator is None:
        raise UserError(
            "the fragment does not name its operator",
            where=where,
            remedy=f"Name it: --operator {text.file}=domain::Name-version",
        )
    match = _CELL.match(text.content)
    if match is None:
        raise UserError("the document is no table cell", expected="name, bar, text, bar", where=where)
    first = text.content[: match.start("text")].count("\n")
    last = text.content[: match.end("text")].count("\n") + 1
    lines, damage = tidy_lines(text.content)
    passage = Passage(lines[first:last])
    if not passage:
        raise UserError("the table cell is empty", expected="name, bar, text, bar", where=where)
    name_line = next(each for each in lines if each.text)
    findings = [
        Finding(
            "operator-unnamed",
            "warning",
            name_line.source(),
            "the fragment describes one argument and does not name its operator",
            f"imported as {operator} because its user said so",
            "noted",
        ),
        *damage,
    ]
    if match["end"] is None:
        end, shown = passage.source(len(passage.text)), passage.text[-60:]
        findings.append(Finding("section-cut", "warning", end, "the cell has no end", shown, "noted"))
    facts = read_cell(match["name"], passage, name_line)
    document = Document(KEY, text.file, DIALECT, text.sha256, None, "asserted")
    return [replace(facts, operator=operator, documents=(document,), findings=(*findings, *facts.findings))]


IMPORTERS = (Importer(DIALECT, recognise, read),)
