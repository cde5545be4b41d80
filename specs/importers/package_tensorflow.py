"""The installed TensorFlow: docstrings and definitions, as `import --from-package tensorflow` writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opcert.vocabulary.names import OperatorName
from specs.documents.packages.dumped_rows import DumpLine, read_operators, recognise_package
from specs.documents.packages.tensorflow_definitions import read_definition
from specs.documents.tensorflow_texts.docstrings import read_docstring
from specs.documents.text.documents import Line, Text
from specs.files.layers import merge_layers
from specs.importers import Importer
from specs.importers.tensorflow_docstring import operator_name
from specs.model.spec import Document, ParameterSpec, Spec, TypeConstraint
from specs.rules.document_vs_package import find_differences

DIALECT = "tensorflow-package"


def recognise(text: Text) -> float:
    """Sure where the first line says so."""
    return recognise_package(text, "tensorflow")


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """Every operator of the package, or the one asked for; raises UserError where there is none of it.

    The docstring comes first; the definition adds what it leaves out, and contradictions are findings.
    """
    return read_operators(text, DIALECT, operator, lambda head: operator_name(head.word("name")), _read)


def _read(rows: Sequence[DumpLine], name: OperatorName, document: Document) -> Spec:
    docstring, definition = layers(rows, name, document)
    merged = merge_layers([docstring, definition])
    differences = find_differences(docstring, definition, "the operator's definition")
    return replace(
        merged,
        documents=(document,),
        input_arity=definition.input_arity,
        output_arity=definition.output_arity,
    ).with_findings((*docstring.findings, *differences))


def layers(rows: Sequence[DumpLine], name: OperatorName, document: Document) -> tuple[Spec, Spec]:
    """What the docstring says, and what the definition says, by the names that the function's users know."""
    lines = [Line(row.word("text").rstrip(), row.number) for row in rows if row.kind == "text"]
    docstring = read_docstring(lines, name, document)
    if not docstring.inputs and not docstring.attributes:
        findings = [each for each in docstring.findings if each.code != "section-missing"]
        docstring = replace(docstring, findings=tuple(findings))
    return docstring, _renamed(docstring, read_definition(rows, name, document))


def _renamed(docstring: Spec, definition: Spec) -> Spec:
    """The definition with the function's names, where the function calls some of as many inputs otherwise."""
    ours = [each.name for each in docstring.inputs]
    theirs = [each.name for each in definition.inputs]
    if len(ours) != len(theirs):
        return definition
    names = {old: new for old, new in zip(theirs, _in_order(theirs, ours), strict=True) if old != new}
    variables = {f"T_{old}": f"T_{new}" for old, new in names.items()}

    def rename(parameter: ParameterSpec) -> ParameterSpec:
        return replace(
            parameter,
            name=names.get(parameter.name, parameter.name),
            type=variables.get(parameter.type, parameter.type),
        )

    attributes = definition.attributes
    lost = [each for each in attributes if each not in docstring.attributes]
    found = [each for each in docstring.attributes if each not in attributes]
    if len(lost) == len(found):
        renamed = dict(zip(lost, found, strict=True))
        attributes = {
            renamed.get(name, name): replace(each, name=renamed.get(name, name))
            for name, each in attributes.items()
        }
    return replace(
        definition,
        attributes=attributes,
        inputs=tuple(map(rename, definition.inputs)),
        outputs=tuple(map(rename, definition.outputs)),
        type_constraints={
            variables.get(name, name): TypeConstraint(variables.get(name, name), each.types, each.origin)
            for name, each in definition.type_constraints.items()
        },
    )


def _in_order(theirs: Sequence[str], ours: Sequence[str]) -> list[str]:
    """Our names in the order of theirs: the same name where there is one, else the next that is left."""
    left = iter([each for each in ours if each not in theirs])
    return [each if each in ours else next(left) for each in theirs]


IMPORTERS = (Importer(DIALECT, recognise, read),)
