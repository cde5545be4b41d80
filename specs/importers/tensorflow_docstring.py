"""Docstrings of TensorFlow's generated functions: summary, `Args:`, `Returns:`, worked examples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from opcert.attributes import AttributeKind
from opcert.errors import Place, UserError
from opcert.names import OperatorName
from specs.documents import KEY, Line, Passage, Text, split_lines
from specs.model import (
    AllowedValues,
    Arity,
    AttributeSpec,
    Document,
    Example,
    Finding,
    Formula,
    Origin,
    ParameterSpec,
    Prose,
    Spec,
    TypeConstraint,
)
from specs.tensorflow_texts.arguments import argument_facts
from specs.tensorflow_texts.examples import read_input_examples

DIALECT = "tensorflow-docstring"

_NAME = re.compile(r"^# op: (?P<name>\w+)$", re.MULTILINE)
_RELEASE = re.compile(r"^# source: (?P<release>\S+)", re.MULTILINE)
_ITEM = re.compile(r"^  (?P<name>\w+): (?P<text>.*)$")
_ATTRIBUTE = re.compile(
    r"^An? (?P<optional>optional )?(?P<list>list of )?`(?P<type>[\w.]+)s?`(?: that is `>= (?P<least>-?\d+)`)?"
    r"(?: from: `(?P<values>[^`]+)`)?\.(?: Defaults to `(?P<default>[^`]*)`\.)?"
)
_KINDS: dict[str, AttributeKind] = {"int": "int", "float": "float", "string": "string"}
_LIST_KINDS: dict[str, AttributeKind] = {"int": "ints", "float": "floats", "string": "strings"}


def recognise(text: Text) -> float:
    """Sure where the operator is named; likely where arguments and results stand as docstrings have them."""
    if _NAME.search(text.content):
        return 1.0
    return 0.6 if re.search(r"^Returns:\n  \S", text.content, re.MULTILINE) else 0.0


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """The facts of one docstring; raises UserError where neither it nor the user names the operator."""
    stated = _NAME.search(text.content)
    if stated is None and operator is None:
        raise UserError(
            "the docstring does not name its operator",
            where=Place(text.file),
            remedy=f"Name it: --operator {text.file}=domain::Name-version",
        )
    name = operator or OperatorName("org.tensorflow", stated["name"] if stated else "", 1)
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
    builder = _Builder()
    summary, arguments, returns = _sections(split_lines(text.content))
    builder.summary(summary)
    for head, lines in arguments:
        builder.argument(head, lines)
    builder.returns(returns)
    return [
        Spec(
            operator=name,
            documents=(document,),
            attributes=builder.attributes,
            inputs=tuple(builder.inputs),
            outputs=tuple(builder.outputs),
            type_constraints=builder.type_constraints,
            formulas=tuple(builder.formulas),
            prose=tuple(builder.prose),
            examples=tuple(builder.examples),
            findings=tuple(builder.findings),
            input_arity=Arity(len(builder.inputs), len(builder.inputs)),
            output_arity=Arity(len(builder.outputs), len(builder.outputs)),
            origins=builder.origins,
        )
    ]


Argument = tuple[str, list[Line]]


def _sections(lines: Sequence[Line]) -> tuple[list[Line], list[Argument], list[Line]]:
    """Summary, arguments (name and lines) and the lines of `Returns:`."""
    summary: list[Line] = []
    returns: list[Line] = []
    arguments: list[Argument] = []
    current = "summary"
    for line in lines:
        if line.text in ("Args:", "Returns:"):
            current = line.text
        elif current == "Returns:":
            returns.append(line)
        elif current == "summary" and not line.text.startswith("# "):
            summary.append(line)
        elif current == "Args:":
            item = _ITEM.match(line.text)
            if item:
                arguments.append((item["name"], [line.after(item.start("text"))]))
            elif arguments:
                arguments[-1][1].append(line)
    return summary, arguments, returns


@dataclass
class _Builder:
    """Collects the facts of one docstring."""

    attributes: dict[str, AttributeSpec] = field(default_factory=dict)
    inputs: list[ParameterSpec] = field(default_factory=list)
    outputs: list[ParameterSpec] = field(default_factory=list)
    type_constraints: dict[str, TypeConstraint] = field(default_factory=dict)
    formulas: list[Formula] = field(default_factory=list)
    prose: list[Prose] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    origins: dict[str, Origin] = field(default_factory=dict)

    def summary(self, lines: list[Line]) -> None:
        passage = Passage(lines)
        if passage:
            self.prose.append(passage.prose("summary"))
            self._examples(passage, "summary")

    def _examples(self, passage: Passage, about: str) -> None:
        examples, findings = read_input_examples(passage, about)
        self.examples += examples
        self.findings += findings

    def argument(self, name: str, lines: list[Line]) -> None:
        passage = Passage(lines)
        if name == "name" or not passage:
            return
        if "Tensor" in passage.text.split(".")[0]:
            self._input(name, passage, lines)
        else:
            self._attribute(name, passage, lines)

    def _input(self, name: str, passage: Passage, lines: list[Line]) -> None:
        facts = argument_facts(name, passage, lines[0].source())
        self.inputs.append(facts.parameter)
        self.type_constraints.update(facts.type_constraints)
        self.formulas += facts.formulas
        self.prose.append(passage.prose(f"inputs.{name}"))
        self._examples(passage, name)

    def _attribute(self, name: str, passage: Passage, lines: list[Line]) -> None:
        self.prose.append(passage.prose(f"attributes.{name}"))
        match = _ATTRIBUTE.match(passage.text)
        origin = Origin("imported", (lines[0].source(),))
        if match is None:
            self.attributes[name] = AttributeSpec(name, None, False, None, False, None, origin)
            return
        kind = (_LIST_KINDS if match["list"] else _KINDS).get(match["type"])
        values = None
        if match["values"]:
            words = tuple(re.findall(r'"([^"]*)"', match["values"]))
            values = AllowedValues(words, "stated-list", 1.0, False, origin)
        default = _decode(match["default"], kind)
        if default is not None:
            self.origins[f"attributes.{name}.default"] = origin
        least = int(match["least"]) if match["least"] else None
        self.attributes[name] = AttributeSpec(
            name, kind, not match["optional"], default, default is not None, values, origin, least
        )

    def returns(self, lines: list[Line]) -> None:
        passage = Passage(lines)
        if not passage or "Operation" in passage.text.split(".")[0]:
            return
        self.prose.append(passage.prose("outputs"))
        several = re.match(r"A tuple of `Tensor` objects \((?P<names>[^)]*)\)", passage.text)
        names = [each.strip() for each in several["names"].split(",")] if several else ["output"]
        for name in names:
            own = passage
            place = passage.source()
            for position, line in enumerate(lines):
                item = _ITEM.match(line.text)
                if several and item and item["name"] == name:
                    own, place = (
                        Passage([line.after(item.start("text")), *lines[position + 1 :]]),
                        line.source(),
                    )
                    break
            facts = argument_facts(name, own, place)
            self.outputs.append(facts.parameter)
            self.type_constraints.update(facts.type_constraints)


def _decode(text: str | None, kind: AttributeKind | None) -> object:
    """A default as its kind has it; None where there is none or it cannot be read."""
    if text is None:
        return None
    if kind == "string":
        return text.strip('"')
    if kind == "int" and re.fullmatch(r"-?\d+", text):
        return int(text)
    if kind == "float" and re.fullmatch(r"-?[\d.]+(?:[eE][-+]?\d+)?", text):
        return float(text)
    if kind in ("ints", "floats") and re.fullmatch(r"\[[-\d., eE]*\]", text):
        number = int if kind == "ints" else float
        return [number(each) for each in text.strip("[]").split(",") if each.strip()]
    return None
