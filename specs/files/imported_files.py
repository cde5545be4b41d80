"""`imported-<version>.yaml`: a YAML document for each source document, with the facts that it states."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import FileState, file_state
from opcert.vocabulary.yaml_files import YamlDocument, load_file
from opcert.vocabulary.yaml_schemas import validate
from specs.files.imported_entries import (
    AttributeEntry,
    ExampleEntry,
    FoundEntry,
    ImportedFile,
    ParameterEntry,
    ProseEntry,
    ValueEntry,
)
from specs.model.spec import (
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
    Value,
)
from specs.model.worked_values import Assignment, Relation, read_index


def read_imported(path: Path) -> list[Spec]:
    """The layers of a file of facts, one for each source document; SeveralErrors with all faults."""
    return list(_layers(path, file_state(path)))


@lru_cache(maxsize=1024)
def _layers(path: Path, _: FileState | None) -> tuple[Spec, ...]:
    """What a file holds in a state, by its time, size and number: a version is loaded again and again."""
    layers = []
    errors: list[UserError] = []
    for document in load_file(path):
        try:
            layers.append(_layer(validate(ImportedFile, document), document))
        except SeveralErrors as several:
            errors += several.errors
        except UserError as error:
            errors.append(error)
    if errors:
        raise SeveralErrors(errors)
    if not layers:
        raise UserError("the file holds no facts", got=str(path), expected="what `opcert import` writes")
    return tuple(layers)


def _layer(file: ImportedFile, document: YamlDocument) -> Spec:
    if len(file.documents) != 1:
        raise UserError(
            "one document a layer", got=", ".join(file.documents), where=document.place(("documents",))
        )
    return Spec(
        operator=OperatorName(file.operator.domain, file.operator.name, file.operator.since_version),
        documents=tuple(
            Document(key, each.file, each.dialect, each.sha256, each.release, each.identity)
            for key, each in file.documents.items()
        ),
        attributes={name: _attribute(name, each) for name, each in file.attributes.items()},
        inputs=tuple(map(_parameter, file.inputs)),
        outputs=tuple(map(_parameter, file.outputs)),
        type_constraints={
            name: TypeConstraint(name, tuple(each.types), Origin("imported", each.src))
            for name, each in file.type_constraints.items()
        },
        examples=tuple(map(_example, file.examples)),
        findings=tuple(
            Finding(
                each.code,
                each.severity,
                each.src[0],
                each.message,
                each.evidence,
                each.action,
                by_reader=each.by is not None,
            )
            for each in file.findings
        ),
        formulas=tuple(
            Formula(each.name, each.text, Origin("imported", each.src), each.when) for each in file.formulas
        ),
        statements=tuple(each.statement() for each in file.statements),
        prose=tuple(map(_prose, file.prose)),
        input_arity=_arity(file.arity.inputs),
        output_arity=_arity(file.arity.outputs),
        deprecated=file.deprecated,
        category=file.category,
        origins={
            f"attributes.{name}.default": _found(each.default)
            for name, each in file.attributes.items()
            if each.default is not None
        },
    )


def _prose(entry: ProseEntry) -> Prose:
    normative = tuple((each.word, each.src[0]) for each in entry.normative)
    return Prose(entry.about, entry.src[0], entry.lines, entry.sha256, normative)


def _arity(bounds: list[int | None] | None) -> Arity | None:
    return None if bounds is None else Arity(bounds[0] or 0, bounds[1])


def _found(entry: FoundEntry) -> Origin:
    return Origin("imported", entry.src, rule=entry.rule, confidence=entry.confidence)


def _attribute(name: str, entry: AttributeEntry) -> AttributeSpec:
    values = entry.values
    return AttributeSpec(
        name=name,
        kind=entry.type,
        required=entry.required,
        default=entry.default.value if entry.default else None,
        has_default=entry.default is not None,
        values=None
        if values is None
        else AllowedValues(
            tuple(values.items), values.rule, values.confidence, values.proposed, _found(values)
        ),
        origin=Origin("imported", entry.src),
        at_least=entry.at_least,
        other_type=entry.other_type,
        more_than=entry.more_than,
        at_most=entry.at_most,
        least_length=entry.least_length,
    )


def _parameter(entry: ParameterEntry) -> ParameterSpec:
    return ParameterSpec(
        name=entry.name,
        option=entry.option,
        type=entry.type,
        origin=Origin("imported", entry.src),
        rank=entry.rank,
        shape=None if entry.shape is None else tuple(entry.shape),
        at_least=entry.at_least,
        homogeneous=entry.homogeneous,
        differentiable=entry.differentiable,
        default=entry.default,
        least_length=entry.least_length,
    )


def _example(entry: ExampleEntry) -> Example:
    return Example(
        id=entry.id,
        attributes=entry.attributes,
        inputs=tuple((each.name, _value(each)) for each in entry.inputs),
        outputs=tuple((each.name, _value(each)) for each in entry.outputs),
        source=entry.src[0],
        note=entry.note,
        repaired=entry.repaired,
    )


def _value(entry: ValueEntry) -> Value | None:
    if entry.items is not None:
        source = entry.src[0] if entry.src else None
        return Value((), None, None, source, items=tuple(_value(each) for each in entry.items))
    if entry.shape is None:
        return None
    relation = None
    if entry.relation is not None:
        zeros = entry.relation.zeros
        relation = Relation(
            None if zeros is None else tuple(zeros),
            tuple(
                Assignment(read_index(each.target), each.source, read_index(each.index))
                for each in entry.relation.steps
            ),
        )
    return Value(
        shape=tuple(entry.shape),
        data=None if entry.data is None else tuple(entry.data),
        element_type=entry.type,
        source=entry.src[0] if entry.src else None,
        decimals=entry.decimals,
        relation=relation,
    )
