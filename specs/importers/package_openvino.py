"""The installed OpenVINO: its operators and attributes, as `import --from-package openvino` writes them."""

from __future__ import annotations

from collections.abc import Sequence

from opcert.vocabulary.names import OperatorName
from specs.documents.openvino_pages.attribute_words import read_kind
from specs.documents.packages.dumped_rows import DumpLine, passage_of, read_operators, recognise_package
from specs.documents.prose.described_values import find_values
from specs.documents.text.documents import Passage, Text
from specs.importers import Importer
from specs.model.spec import AllowedValues, Arity, AttributeSpec, Document, Origin, ParameterSpec, Prose, Spec

DIALECT = "openvino-package"


def recognise(text: Text) -> float:
    """Sure where the first line says so."""
    return recognise_package(text, "openvino")


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """Every operator version of the package, or the one asked for; raises UserError where there is none.

    The package does not tell element types: the type variable of each input is its own.
    """
    return read_operators(text, DIALECT, operator, _name, _read)


def _name(head: DumpLine) -> OperatorName:
    return OperatorName("org.openvino", head.word("name"), head.number_of("since_version"))


def _read(rows: Sequence[DumpLine], name: OperatorName, document: Document) -> Spec:
    inputs = [_input(row) for row in rows if row.kind == "input"]
    attributes = [_attribute(row) for row in rows if row.kind == "attribute"]
    return Spec(
        operator=name,
        documents=(document,),
        attributes={attribute.name: attribute for attribute in attributes},
        inputs=tuple(inputs),
        outputs=(),
        type_constraints={},
        prose=tuple(_prose(rows)),
        input_arity=Arity.of(inputs),
        origins={
            f"attributes.{attribute.name}.default": Origin(
                "imported", attribute.origin.sources, rule="function"
            )
            for attribute in attributes
            if attribute.has_default
        },
    )


def _prose(rows: Sequence[DumpLine]) -> list[Prose]:
    summary = passage_of(rows)
    found = [summary.prose("summary")] if summary else []
    for row in rows:
        passage = Passage(row.text_lines()) if row.kind in ("input", "attribute") else None
        if passage:
            found.append(passage.prose(f"{row.kind}s.{row.word('name')}"))
    return found


def _origin(row: DumpLine) -> Origin:
    return Origin("imported", (row.line.source(),))


def _input(row: DumpLine) -> ParameterSpec:
    option = row.word("option")
    return ParameterSpec(
        name=row.word("name"),
        option="variadic" if row.flag("variadic") else "optional" if option == "optional" else "single",
        type=f"T_{row.word('name')}",
        origin=_origin(row),
    )


def _attribute(row: DumpLine) -> AttributeSpec:
    word = row.word("type")
    kind, other = read_kind(word) or (None, word)
    values = None
    if "allowed" in row.values:
        values = AllowedValues(row.words("allowed"), "annotation", 1.0, False, _origin(row))
    elif kind == "string":
        values = find_values(Passage(row.text_lines()), row.word("name"), row.values.get("default"))
    default = row.values.get("default")
    if kind == "int" and isinstance(default, bool):
        default = int(default)
    return AttributeSpec(
        name=row.word("name"),
        kind=kind,
        required=row.values.get("required") is True,
        default=default,
        has_default=default is not None,
        values=values,
        origin=_origin(row),
        other_type=other,
    )


IMPORTERS = (Importer(DIALECT, recognise, read),)
