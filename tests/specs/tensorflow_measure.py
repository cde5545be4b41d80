"""How much of TensorFlow's docstrings is read, field by field, and whether it is right.

What a docstring states is counted on its raw lines, by patterns that know nothing of the importer. Whether it
was understood is told by the definition in the registry of the installed package, which states the same facts
in another form.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from specs.documents.packages.dumped_rows import read_dump
from specs.documents.tensorflow_texts.docstrings import operator_name
from specs.documents.text.documents import Text, read_document
from specs.importers.package_tensorflow import DIALECT, layers
from specs.importers.tensorflow_docstring import read
from specs.model.spec import AttributeSpec, ParameterSpec, Spec
from specs.rules.several_documents import same_default

FIELDS = ("argument", "type", "list of types", "default", "enumeration", "bound")
_STATED: Mapping[str, str] = {
    "list of types": r"(?:following types|same type in|types from): `",
    "enumeration": r" from: `(?:\"|tf\.)",
    "bound": r" that (?:is|has length) `>= |^A list of at least \d",
}


@dataclass
class Measure:
    """What docstrings state (`stated`) and what the importer read of it (`read`), by field."""

    operators: int = 0
    stated: Counter[str] = field(default_factory=Counter)
    read: Counter[str] = field(default_factory=Counter)
    not_read: list[str] = field(default_factory=list)

    def share(self, name: str) -> float:
        return self.read[name] / self.stated[name] if self.stated[name] else 1.0

    def add(self, operator: str, name: str, stated: int, found: int) -> None:
        """Count a field of one operator; what is missing, or too much, goes on the list."""
        self.stated[name] += stated
        self.read[name] += min(stated, found)
        if stated != found:
            self.not_read.append(f"{operator}: {name}: {stated} stated, {found} read")


@dataclass
class Agreement:
    """Of the arguments, those whose fields are what the definition says; and every difference."""

    operators: int = 0
    compared: Counter[str] = field(default_factory=Counter)
    equal: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def add(self, name: str, what: str, docstring: object, definition: object, same: bool) -> None:
        self.compared[what] += 1
        self.equal[what] += same
        if not same:
            self.differences.append(f"{name}: {what}: {docstring} in the docstring, {definition} defined")


def measure_folder(folder: Path) -> Measure:
    """The measure of the docstrings of a folder."""
    measure = Measure()
    for path in sorted(folder.glob("*.txt")):
        text = read_document(path)
        (spec,) = read(text, None)
        measure.operators += 1
        _measure(measure, path.stem, text, spec)
    return measure


def _measure(measure: Measure, name: str, text: Text, spec: Spec) -> None:
    signature = re.search(r"^# signature: \w+\((.*?)\) defaults=(\[.*\])$", text.content, re.MULTILINE)
    arguments = [word for word in signature[1].split(", ") if word != "name"] if signature else []
    defaults = ast.literal_eval(signature[2]) if signature else []
    section = re.split(r"^ *Args:$", text.content, flags=re.MULTILINE)[-1]
    section = re.split(r"^ *Returns:$", section, flags=re.MULTILINE)[0]
    heads = re.findall(rf"^ *(?:{'|'.join(arguments) or '-'}): (.*)$", section, re.MULTILINE)
    attributes, inputs = spec.attributes.values(), spec.inputs
    typed = sum(attribute.kind is not None or attribute.other_type is not None for attribute in attributes)
    unread = sum(finding.code == "type-unread" for finding in spec.findings)
    measure.add(name, "argument", len(arguments), len(attributes) + len(inputs))
    measure.add(name, "type", len(arguments), typed + len(inputs) - min(unread, len(inputs)))
    measure.add(
        name, "default", max(len(defaults) - 1, 0), sum(attribute.has_default for attribute in attributes)
    )
    listed = sum(f"T_{parameter.name}" in spec.type_constraints for parameter in inputs)
    values = sum(
        attribute.values is not None and attribute.values.rule == "stated-list" for attribute in attributes
    )
    bounds = sum(
        attribute.at_least is not None or attribute.least_length is not None for attribute in attributes
    )
    bounds += sum(parameter.least_length is not None for parameter in inputs)
    for field_name, found in (("list of types", listed), ("enumeration", values), ("bound", bounds)):
        stated = sum(bool(re.search(_STATED[field_name], head)) for head in heads)
        measure.add(name, field_name, stated, found)


def measure_package(path: Path) -> Agreement:
    """Docstrings against definitions, operator by operator, in the dump of an installed TensorFlow."""
    agreement = Agreement()
    dump = read_dump(read_document(path), DIALECT)
    for rows in dump.operators:
        name = rows[0].word("name")
        docstring, definition = layers(rows, operator_name(name), dump.document)
        if not (docstring.inputs or docstring.attributes or docstring.outputs):
            continue
        agreement.operators += 1
        _compare(agreement, name, docstring, definition)
    return agreement


def _compare(agreement: Agreement, operator: str, docstring: Spec, definition: Spec) -> None:
    ours = [*docstring.attributes, *(parameter.name for parameter in docstring.inputs)]
    theirs = [*definition.attributes, *(parameter.name for parameter in definition.inputs)]
    for name in dict.fromkeys((*ours, *theirs)):
        here, there = name in ours, name in theirs
        agreement.add(f"{operator}.{name}", "argument", here, there, here == there)
    for name, attribute in docstring.attributes.items():
        if name in definition.attributes:
            for what, mine, other in _attribute_fields(attribute, definition.attributes[name]):
                same = same_default(mine, other) if what == "default" else mine == other
                agreement.add(f"{operator}.{name}", what, mine, other, same)
    parameters = {parameter.name: parameter for parameter in (*definition.inputs, *definition.outputs)}
    for parameter in (*docstring.inputs, *docstring.outputs):
        found = parameters.get(parameter.name)
        if found is not None:
            for what, mine, other in _parameter_fields(parameter, found, docstring, definition):
                agreement.add(f"{operator}.{parameter.name}", what, mine, other, mine == other)


def _attribute_fields(
    docstring: AttributeSpec, definition: AttributeSpec
) -> Iterator[tuple[str, object, object]]:
    kinds = [
        (attribute.kind, attribute.other_type, attribute.required) for attribute in (docstring, definition)
    ]
    yield "type", kinds[0], kinds[1]
    if docstring.has_default or definition.has_default:
        yield "default", docstring.default, definition.default
    if docstring.allowed is not None or definition.allowed is not None:
        yield "enumeration", docstring.allowed, definition.allowed
    bounds = [(attribute.at_least, attribute.least_length) for attribute in (docstring, definition)]
    if any(each is not None for pair in bounds for each in pair):
        yield "bound", bounds[0], bounds[1]


def _parameter_fields(
    docstring: ParameterSpec, definition: ParameterSpec, ours: Spec, theirs: Spec
) -> Iterator[tuple[str, object, object]]:
    kinds = [
        (parameter.type, parameter.option, parameter.homogeneous) for parameter in (docstring, definition)
    ]
    yield "type", kinds[0], kinds[1]
    types = [spec.type_constraints.get(docstring.type) for spec in (ours, theirs)]
    lists = [None if type_constraint is None else type_constraint.types for type_constraint in types]
    if any(lists) and docstring.type == f"T_{docstring.name}":
        yield "list of types", lists[0], lists[1]
    # A list whose types an attribute lists has a least length that docstrings never tell.
    if definition.homogeneous and (docstring.least_length or definition.least_length):
        yield "bound", docstring.least_length, definition.least_length
