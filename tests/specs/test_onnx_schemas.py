"""What ONNX's documents say against the schemas of the installed packages, on every structural field.

`python -m tests.specs.test_onnx_schemas` prints the differences as entries of `known_differences.yaml`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from opcert.vocabulary.attributes import KINDS
from opcert.vocabulary.names import OperatorName
from specs.documents.text.documents import Text, read_document
from specs.importers import onnx_markdown
from specs.model.spec import (
    Arity,
    AttributeSpec,
    Document,
    Origin,
    ParameterSpec,
    Source,
    Spec,
    TypeConstraint,
)
from specs.rules import check_page
from specs.rules.several_documents import find_differences
from tests.documents.gathering import Documents, passing_documents
from tests.specs.emitters.onnx_schemas import (
    NO_LIMIT,
    ParameterSchema,
    Schema,
    dump_runtime,
    fixture_version,
    microsoft_schemas,
    onnx_schemas,
)
from tests.specs.schema_differences import Difference, Prints, differences, our_type, printed_type, same_value

KNOWN = Path(__file__).with_name("known_differences.yaml")
DOCUMENTS = {
    "onnx/Operators.md": (Prints(), 206),
    "onnx/Changelog.md": (Prints(), 614),
    # Nothing about derivatives, and no defaults but those in words.
    "onnxruntime/ContribOperators.md": (Prints(differentiable=False, defaults=False), 113),
}


@cache
def text_of(page: Path) -> Text:
    return read_document(page)


@cache
def specs_of(page: Path) -> tuple[Spec, ...]:
    """The facts of a document, without what the rules find."""
    return tuple(onnx_markdown.read(text_of(page), None))


def schemas_of(file: str) -> dict[OperatorName, Schema]:
    schemas = microsoft_schemas() if file == "ContribOperators.md" else onnx_schemas()
    return {schema.operator: schema for schema in schemas}


def compared(page: Path) -> Iterator[tuple[Spec, Schema]]:
    """Each operator version of a document that is not deprecated, with its schema."""
    schemas = schemas_of(page.name)
    for spec in specs_of(page):
        if not spec.deprecated:
            yield spec, schemas[spec.operator]


def entry(difference: Difference) -> dict[str, str]:
    """A difference as the list of known ones writes it: of two lists only what the other lacks."""
    document, schema = difference.document, difference.schema
    if isinstance(document, list) and isinstance(schema, list):
        document, schema = (
            ", ".join(str(own) for own in ours if own not in theirs) or "nothing more"
            for ours, theirs in ((document, schema), (schema, document))
        )
    return {"field": difference.field, "document": str(document), "schema": str(schema)}


def known(file: str) -> dict[str, list[dict[str, str]]]:
    """The known differences of a document by operator."""
    listed: dict[str, list[dict[str, str]]] = {}
    for each in yaml.safe_load(KNOWN.read_text(encoding="utf-8"))["differences"]:
        assert each["why"].strip()
        if file in each["documents"]:
            listed.setdefault(each["operator"], []).extend(each["fields"])
    return listed


def found(page: Path) -> dict[str, list[dict[str, str]]]:
    """The differences of a document by operator."""
    prints = DOCUMENTS[f"{page.parent.name}/{page.name}"][0]
    listed: dict[str, list[dict[str, str]]] = {}
    for spec, schema in compared(page):
        for difference in differences(spec, schema, prints):
            listed.setdefault(difference.operator, []).append(entry(difference))
    return listed


@pytest.mark.slow
@pytest.mark.parametrize("place", DOCUMENTS)
def test_every_structural_field_is_the_schema_s(documents: Documents, place: str) -> None:
    """All but the listed differences, and none of those is stale."""
    page = documents.find(place)
    assert found(page) == known(page.name)
    assert sum(1 for _ in compared(page)) == DOCUMENTS[place][1]


@pytest.mark.slow
@pytest.mark.parametrize("place", DOCUMENTS)
def test_every_known_difference_is_a_finding(documents: Documents, place: str) -> None:
    """One of the page itself, or of the page against the package."""
    page = documents.find(place)
    listed = known(page.name)
    wanted = [spec for spec in specs_of(page) if str(spec.operator) in listed]
    specs = {str(each.operator): each for each in check_page(text_of(page), onnx_markdown.DIALECT, wanted)}
    schemas = {str(name): schema for name, schema in schemas_of(page.name).items()}
    for name, fields in listed.items():
        package = package_layer(schemas[name])
        messages = [
            finding.message
            for finding in (*specs[name].findings, *find_differences(specs[name], package, "it"))
        ]
        for field in fields:
            subject = words_of(field["field"])
            assert any(set(subject) <= set(message.replace(":", " ").split()) for message in messages), field


def words_of(field: str) -> list[str]:
    """The words that a finding about a field must have."""
    group, _, rest = field.partition(".")
    name = rest.split(".")[0]
    if rest == "arity":
        return ["number", "of", group]
    if not rest:
        return [
            {"attributes": "attribute", "type_constraints": "variable"}.get(group, group.removesuffix("s"))
        ]
    return [name]


@pytest.mark.slow
def test_defaults_of_contrib_operators(documents: Documents) -> None:
    """That document prints none: those that it gives in words are the schemas' where these have any."""
    counts: Counter[str] = Counter()
    wrong = []
    for spec, schema in compared(documents.find("onnxruntime/ContribOperators.md")):
        for theirs in schema.attributes:
            ours = spec.attributes.get(theirs.name)
            if ours is None:
                continue
            if ours.has_default and theirs.default is not None:
                counts["both"] += 1
                if not same_value(ours.default, theirs.default):
                    wrong.append((str(spec.operator), theirs.name))
            elif ours.has_default or theirs.default is not None:
                counts["in words" if ours.has_default else "in the schema"] += 1
    assert wrong == []
    assert (
        counts == yaml.safe_load(KNOWN.read_text(encoding="utf-8"))["defaults_of_contrib_operators"]["counts"]
    )


@pytest.mark.runtimes("onnxruntime")
def test_the_fixture_is_what_the_runtime_exposes() -> None:
    version, schemas = dump_runtime()
    if version != fixture_version():
        pytest.skip(
            f"the fixture is of {fixture_version()}, the runtime of {version}: write the fixture again"
        )
    assert schemas == microsoft_schemas()


def package_layer(schema: Schema) -> Spec:
    """A schema as the layer that an importer of the package gives."""
    origin = Origin("imported", (Source("p", 1),))

    def parameter(each: ParameterSchema) -> ParameterSpec:
        return ParameterSpec(each.name, each.option, our_type(each.type), origin,  # type: ignore[arg-type]
                             homogeneous=each.homogeneous, differentiable=each.differentiable)  # fmt: skip

    return Spec(
        operator=schema.operator,
        documents=(Document("p", "package", "onnx-package", "0"),),
        attributes={
            attribute.name: AttributeSpec(
                name=attribute.name,
                kind=attribute.kind if attribute.kind in KINDS else None,
                required=attribute.required,
                default=attribute.default,
                has_default=attribute.default is not None,
                values=None,
                origin=origin,
                other_type=None if attribute.kind else printed_type(attribute.type),
            )
            for attribute in schema.attributes
        },
        inputs=tuple(map(parameter, schema.inputs)),
        outputs=tuple(map(parameter, schema.outputs)),
        type_constraints={
            constraint.name: TypeConstraint(constraint.name, tuple(map(our_type, constraint.types)), origin)
            for constraint in schema.constraints
        },
        input_arity=_arity(schema.input_arity),
        output_arity=_arity(schema.output_arity),
        deprecated=schema.deprecated,
    )


def _arity(bounds: tuple[int, int]) -> Arity:
    return Arity(bounds[0], None if bounds[1] == NO_LIMIT else bounds[1])


def _print() -> None:
    with passing_documents() as documents:
        for page in map(documents.find, DOCUMENTS):
            listed: Any = [
                {"documents": [page.name], "operator": name, "why": "", "fields": fields}
                for name, fields in found(page).items()
            ]
            print(yaml.safe_dump(listed, sort_keys=False, width=110, allow_unicode=True))


if __name__ == "__main__":
    _print()
