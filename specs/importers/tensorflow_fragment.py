"""Fragments of TensorFlow's web pages: one argument's table cell, which does not name its operator."""

from __future__ import annotations

import re
from dataclasses import replace

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from specs.documents.tensorflow_texts.docstrings import Builder
from specs.documents.tensorflow_texts.phrases import (
    AttributePhrase,
    TensorPhrase,
    is_type,
    our_type,
    read_attribute,
    unique,
)
from specs.documents.tensorflow_texts.sections import ArgumentText, tidy_lines
from specs.documents.text.documents import KEY, Line, Passage, Text
from specs.importers import Importer
from specs.model.spec import Document, Finding, Spec

_TENSOR = re.compile(
    r"\A\s*An? (?:mutable )?`?Tensor`?(?: of type `?(?P<single>\w+)`?)? ?\."
    r"(?:\s*Must be one of the following types: (?P<types>`?\w+`?(?: ?, `?\w+`?)*) ?\."
    r"|\s*(?:Must have|Has) the same type as `?(?P<same>\w+)`? ?\.)?"
)
_ATTRIBUTE = re.compile(
    r"\A(?P<article>An? (?:optional )?(?:list of )?)"
    r"`?(?P<type>int|float|string|bool|tf\.DType|tf\.TensorShape)(?P<s>s?)`?"
    r"(?P<or_list> or list of `?ints`?)?"
    r"(?: that (?P<bound>is|has length) `?(?P<least>>= -?\d+)`?)?"
    r"(?: from: `?(?P<values>[^`]+?)`?)? ?\.(?: Defaults to `?(?P<default>[^`]*?)`? ?\.)?(?=\s|\Z)"
)


def _read_cell(operator: OperatorName, document: Document, name: str, passage: Passage, line: Line) -> Spec:
    """The facts of an argument that stands alone.

    The type variable of a tensor is `T_<name>` unless it shares another's.
    """
    builder = Builder()
    item = ArgumentText(name, line, passage)
    attribute = _attribute(passage.text)
    if attribute is not None:
        builder.attribute(item, attribute)
    else:
        phrase = _tensor(passage.text)
        builder.tensor(item, phrase)
        if phrase.relation == "single" and not is_type(our_type(phrase.type or "")):
            message = f"the type of {name} is no known one"
            builder.find("type-unread", "warning", line, message, passage.text[:80])
    return builder.spec(operator, document)


def _tensor(text: str) -> TensorPhrase:
    head = _TENSOR.match(text)
    if head is None:
        return TensorPhrase("unread")
    if head["types"]:
        types = unique(our_type(each) for each in re.findall(r"\w+", head["types"]))
        return TensorPhrase("listed", None, types, end=head.end())
    if head["same"]:
        return TensorPhrase("same", head["same"], end=head.end())
    return TensorPhrase("single" if head["single"] else "any", head["single"], end=head.end())


def _attribute(text: str) -> AttributePhrase | None:
    """The phrase of an attribute, its backquotes put back."""
    match = _ATTRIBUTE.match(text)
    if match is None:
        return None
    words = f"{match['article']}`{match['type']}{match['s']}`"
    words += " or list of `ints`" if match["or_list"] else ""
    words += f" that {match['bound']} `{match['least']}`" if match["least"] else ""
    words += f" from: `{match['values']}`." if match["values"] else "."
    words += f" Defaults to `{match['default']}`." if match["default"] is not None else ""
    return read_attribute(words)


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
    name_line = next(line for line in lines if line.text)
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
    document = Document(KEY, text.file, DIALECT, text.sha256, None, "asserted")
    facts = _read_cell(operator, document, match["name"], passage, name_line)
    return [replace(facts, findings=(*findings, *facts.findings))]


IMPORTERS = (Importer(DIALECT, recognise, read),)
