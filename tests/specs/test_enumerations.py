"""Allowed values in prose against `enumerations.yaml`, the list that a person made by reading."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import onnx.defs
import pytest
import yaml

from specs.documents.prose.described_values import ACCEPTED_FROM, find_values
from specs.documents.text.documents import Line, Passage
from specs.model.spec import AllowedValues, AttributeSpec, Origin
from tests.documents.gathering import Documents
from tests.specs.read_pages import read_specs

pytestmark = pytest.mark.slow

ENUMERATED = 49
DEMANDED = 41


@dataclass(frozen=True)
class Read:
    """What a person read: the values (None where the attribute is free), and the line in Operators.md."""

    operator: str
    attribute: str
    values: tuple[str, ...] | None
    line: int | None


@cache
def _list(file: str = "enumerations.yaml") -> tuple[Read, ...]:
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    return tuple(
        Read(
            operator,
            name,
            tuple(attribute["values"]) if "values" in attribute else None,
            int(attribute["line"]) if "line" in attribute else None,
        )
        for operator, attributes in yaml.load(text, Loader=yaml.BaseLoader).items()
        for name, attribute in attributes.items()
    )


def _schemas() -> dict[tuple[str, str], onnx.defs.OpSchema.Attribute]:
    """The string attributes of the newest version of every operator in the installed package."""
    return {
        (f"{schema.domain or 'ai.onnx'}::{schema.name}", attribute.name): attribute
        for schema in onnx.defs.get_all_schemas()
        for attribute in schema.attributes.values()
        if attribute.type == onnx.defs.OpSchema.AttrType.STRING
    }


def _found_in_schema(each: onnx.defs.OpSchema.Attribute) -> AllowedValues | None:
    default = each.default_value.s.decode() if each.default_value.name else None
    lines = [Line(text, number) for number, text in enumerate(each.description.split("\n"), 1)]
    return find_values(Passage(lines), each.name, default, each.required)


def _wrong(found: dict[tuple[str, str], AllowedValues | None]) -> list[str]:
    """Every answer that differs from the list, proposed ones as well."""
    read = {(each.operator, each.attribute): each.values for each in _list()}
    return [
        f"{operator} {name}: {values.values}, the text states {read[operator, name]}"
        for (operator, name), values in found.items()
        if values is not None and set(values.values) != set(read[operator, name] or ())
    ]


def _accepted(found: dict[tuple[str, str], AllowedValues | None]) -> int:
    return sum(
        allowed_values is not None and not allowed_values.proposed for allowed_values in found.values()
    )


def test_the_list_has_every_string_attribute_of_the_package() -> None:
    if onnx.__version__ != "1.23.2":
        pytest.skip(f"the list was read for onnx 1.23.2, this is {onnx.__version__}")
    assert {(read.operator, read.attribute) for read in _list()} == set(_schemas())
    assert sum(read.values is not None for read in _list()) == ENUMERATED


def test_values_of_the_current_operators() -> None:
    if onnx.__version__ != "1.23.2":
        pytest.skip(f"the list was read for onnx 1.23.2, this is {onnx.__version__}")
    found = {key: _found_in_schema(schema) for key, schema in _schemas().items()}
    assert _wrong(found) == []
    assert _accepted(found) >= DEMANDED
    assert _accepted(found) == ENUMERATED


def test_values_in_operators_md(documents: Documents) -> None:
    read = [each for each in _list() if each.line is not None]
    specs = read_specs(documents.find("onnx/Operators.md"))
    attributes = {
        (f"{spec.operator.domain}::{spec.operator.name}", attribute.name): attribute
        for spec in specs
        for attribute in spec.attributes.values()
        if attribute.kind == "string"
    }
    assert {(each.operator, each.attribute): each.line for each in read} == {
        key: attribute.origin.sources[0].line for key, attribute in attributes.items()
    }
    found = {key: attribute.values for key, attribute in attributes.items()}
    assert _wrong(found) == []
    assert _accepted(found) == sum(each.values is not None for each in read) == 35


@pytest.mark.nightly
def test_values_of_older_versions_and_of_com_microsoft(documents: Documents) -> None:
    current = {(each.operator, each.attribute): each.values for each in _list()}
    older = {(each.operator, each.attribute): each for each in _list("enumerations_older.yaml")}
    wrong, found = [], set()
    for file in ("onnx/Changelog.md", "onnxruntime/ContribOperators.md"):
        for spec in read_specs(documents.find(file)):
            for attribute in spec.attributes.values():
                if attribute.kind != "string" or attribute.values is None:
                    continue
                name, key = str(spec.operator), (str(spec.operator), attribute.name)
                found.add(key)
                read = older.get(key)
                line = attribute.origin.sources[0].line
                if read is not None and read.line != line:
                    wrong.append(f"{name} {attribute.name} stands at {line}, not {read.line}")
                values = read.values if read else current.get((name.rpartition("-")[0], attribute.name))
                if set(attribute.values.values) != set(values or ()):
                    wrong.append(
                        f"{name} {attribute.name}: {attribute.values.values}, the text states {values}"
                    )
    assert wrong == []
    assert set(older) - found == {("com.microsoft::GemmFloat8-1", "activation")}


def test_every_answer_names_its_rule_its_confidence_and_its_line(documents: Documents) -> None:
    for spec in read_specs(documents.find("onnx/Operators.md")):
        for attribute in spec.attributes.values():
            if attribute.values is not None:
                origin = attribute.values.origin
                assert origin.rule == attribute.values.rule
                assert origin.confidence == attribute.values.confidence
                assert origin.sources[0].line > attribute.origin.sources[0].line
                assert attribute.values.proposed or attribute.values.confidence >= ACCEPTED_FROM
                assert attribute.allowed == (None if attribute.values.proposed else attribute.values.values)


def test_proposed_values_are_not_used() -> None:
    origin = Origin("imported")
    for proposed, allowed in ((True, None), (False, ("a", "b"))):
        values = AllowedValues(("a", "b"), "conditions", 0.5, proposed, origin)
        spec = AttributeSpec("way", "string", False, None, False, values, origin)
        assert spec.allowed == allowed
