"""`imported-<version>.yaml`: a YAML document for each source document, with the facts that it states.

The entries are the form of the file: what is read is held against them, and what is written has their keys in
their order, without those that say what they say by default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import FileState, file_state
from opcert.vocabulary.yaml_files import YamlDocument, load_file
from opcert.vocabulary.yaml_schemas import validate
from specs.files.schemas import Entry
from specs.files.written_entries import (
    AttributeEntry,
    DocumentEntry,
    ExampleEntry,
    FindingEntry,
    FormulaEntry,
    ImportedFile,
    ItemEntry,
    OperatorEntry,
    ParameterEntry,
    ProseEntry,
    RelationEntry,
    StepEntry,
    TypesEntry,
    ValueEntry,
)
from specs.files.yaml_writer import dump
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
    Source,
    Spec,
    TypeConstraint,
    Value,
)
from specs.model.statements import KINDS, Statement, is_proposed
from specs.model.worked_values import Assignment, Relation, read_index, write_index

_HEADER = """\
# Written by `opcert import`: facts, and where they stand; no sentence of the document.
# Do not edit: what people add belongs into spec.yaml beside this file.
"""


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


def _same(entry: Entry, kind: type) -> dict[str, Any]:
    """What an entry holds under the names that the fields of a part of a spec have."""
    names = {field.name for field in fields(kind)}
    return {name: getattr(entry, name) for name in type(entry).model_fields if name in names}


def _layer(file: ImportedFile, document: YamlDocument) -> Spec:
    if len(file.documents) != 1:
        raise UserError(
            "one document a layer", got=", ".join(file.documents), where=document.place(("documents",))
        )
    return Spec(
        operator=OperatorName(file.operator.domain, file.operator.name, file.operator.since_version),
        documents=tuple(
            Document(key, **_same(document_entry, Document)) for key, document_entry in file.documents.items()
        ),
        attributes={name: _attribute(name, attribute) for name, attribute in file.attributes.items()},
        inputs=tuple(map(_parameter, file.inputs)),
        outputs=tuple(map(_parameter, file.outputs)),
        type_constraints={
            name: TypeConstraint(name, type_constraint.types, Origin("imported", type_constraint.src))
            for name, type_constraint in file.type_constraints.items()
        },
        examples=tuple(map(_example, file.examples)),
        findings=tuple(
            Finding(**_same(finding, Finding), source=finding.src[0], by_reader=finding.by is not None)
            for finding in file.findings
        ),
        formulas=tuple(
            Formula(**_same(formula, Formula), origin=Origin("imported", formula.src))
            for formula in file.formulas
        ),
        statements=tuple(statement.statement() for statement in file.statements),
        prose=tuple(map(_prose, file.prose)),
        input_arity=Arity(*file.arity.inputs) if file.arity.inputs else None,
        output_arity=Arity(*file.arity.outputs) if file.arity.outputs else None,
        deprecated=file.deprecated,
        category=file.category,
        origins={
            f"attributes.{name}.default": attribute.default.origin
            for name, attribute in file.attributes.items()
            if attribute.default is not None
        },
    )


def _prose(entry: ProseEntry) -> Prose:
    normative = tuple((word_entry.word, word_entry.src[0]) for word_entry in entry.normative)
    return Prose(entry.about, entry.src[0], entry.lines, entry.sha256, normative)


def _attribute(name: str, entry: AttributeEntry) -> AttributeSpec:
    default, values = entry.default, entry.values
    own = {
        "name": name,
        "kind": entry.type,
        "default": default.value if default else None,
        "has_default": default is not None,
        "values": values
        and AllowedValues(values.items, values.rule, values.confidence, values.proposed, values.origin),
        "origin": Origin("imported", entry.src),
    }
    return AttributeSpec(**{**_same(entry, AttributeSpec), **own})


def _parameter(entry: ParameterEntry) -> ParameterSpec:
    return ParameterSpec(**_same(entry, ParameterSpec), origin=Origin("imported", entry.src))


def _example(entry: ExampleEntry) -> Example:
    values = {
        name: tuple((each.name, _value(each)) for each in getattr(entry, name))
        for name in ("inputs", "outputs")
    }
    return Example(**{**_same(entry, Example), **values, "source": entry.src[0]})


def _value(entry: ValueEntry) -> Value | None:
    source = entry.src[0] if entry.src else None
    if entry.items is not None:
        return Value((), None, None, source, items=tuple(map(_value, entry.items)))
    if entry.shape is None:
        return None
    relation = None
    if entry.relation is not None:
        steps = (
            Assignment(read_index(step.target), step.source, read_index(step.index))
            for step in entry.relation.steps
        )
        relation = Relation(entry.relation.zeros, tuple(steps))
    return Value(entry.shape, entry.data, entry.type, source, entry.decimals, relation)


def write_imported(layers: Iterable[tuple[str, Spec]]) -> str:
    """The text of an `imported-<version>.yaml`: for each document its key, and the facts that it states."""
    return _HEADER + "---\n".join(dump(plain_layer(spec, key)) for key, spec in layers)


def plain_layer(spec: Spec, key: str) -> dict[str, Any]:
    """One document's facts as plain values, every place under the document key given."""
    arity = {name: each and [each.least, each.most] for name, each in
             (("inputs", spec.input_arity), ("outputs", spec.output_arity))}  # fmt: skip
    parts = {
        "operator": _written(OperatorEntry, spec.operator),
        "documents": {key: _written(DocumentEntry, spec.documents[0])},
        "arity": {name: bounds for name, bounds in arity.items() if bounds},
        "attributes": {
            name: _written_attribute(attribute, spec.origins.get(f"attributes.{name}.default"))
            for name, attribute in spec.attributes.items()
        },
        "inputs": [_written(ParameterEntry, parameter, src=parameter.origin) for parameter in spec.inputs],
        "outputs": [_written(ParameterEntry, output, src=output.origin) for output in spec.outputs],
        "type_constraints": {
            name: _written(TypesEntry, type_constraint, src=type_constraint.origin)
            for name, type_constraint in spec.type_constraints.items()
        },
        "formulas": [_written(FormulaEntry, formula, src=formula.origin) for formula in spec.formulas],
        "statements": [_written_statement(statement) for statement in spec.statements],
        "prose": [_written_prose(prose) for prose in spec.prose],
        "examples": [_written_example(example) for example in spec.examples],
        "findings": [
            _written(FindingEntry, finding, src=finding.source, by="reader" if finding.by_reader else None)
            for finding in spec.findings
        ],
    }
    layer = _written(ImportedFile, spec, **parts)
    plain: dict[str, Any] = _plain(
        {name: each for name, each in layer.items() if each or name in ("inputs", "outputs")}, key
    )
    return plain


def _written(form: type[Entry], part: object, **own: Any) -> dict[str, Any]:
    """A part of a spec as the form has it; `own` are the values under keys that the part does not have."""
    entry = {}
    for name, field in form.model_fields.items():
        value = own[name] if name in own else getattr(part, name)
        if field.is_required() or value != field.get_default(call_default_factory=True):
            entry[field.alias or name] = value
    return entry


def _plain(value: Any, key: str) -> Any:
    """The value with places as `[key, line]` or `[key, line, column]`, and tuples as lists."""
    match value:
        case Source():
            return [key, value.line] if value.column is None else [key, value.line, value.column]
        case Origin(sources=(only,)):
            return _plain(only, key)
        case Origin(sources=sources):
            return _plain(sources, key)
        case Mapping():
            return {name: _plain(each, key) for name, each in value.items()}
        case list() | tuple():
            return [_plain(each, key) for each in value]
    return value


def _found(origin: Origin) -> dict[str, Any]:
    confidence = 1.0 if origin.confidence is None else origin.confidence
    return {"rule": origin.rule or "stated", "confidence": confidence, "src": origin}


def _proposed(proposed: bool) -> dict[str, Any]:
    return {"proposed": True} if proposed else {}


def _written_attribute(spec: AttributeSpec, default: Origin | None) -> dict[str, Any]:
    own: dict[str, Any] = {"type": spec.kind, "default": None, "values": None, "src": spec.origin}
    if spec.has_default:
        own["default"] = {"value": spec.default, **_found(default or spec.origin)}
    if spec.values is not None:
        found = {**_proposed(spec.values.proposed), **_found(spec.values.origin)}
        own["values"] = {"list": spec.values.values, **found}
    return _written(AttributeEntry, spec, **own)


def _written_statement(spec: Statement) -> dict[str, Any]:
    word = next(word for word, kind in KINDS.items() if isinstance(spec, kind))
    own = {field.name.rstrip("_"): getattr(spec, field.name) for field in fields(spec)[2:]}
    if own.get("of") == "value":
        del own["of"]
    stated = {name: each for name, each in own.items() if each not in (None, ())}
    found = {**_proposed(is_proposed(spec)), **_found(spec.origin)}
    return {"about": spec.about, "says": word, **stated, **found}


def _written_prose(spec: Prose) -> dict[str, Any]:
    normative = tuple({"word": word, "src": source} for word, source in spec.normative)
    return _written(ProseEntry, spec, src=spec.source, normative=normative)


def _written_example(spec: Example) -> dict[str, Any]:
    values = {
        group: [_written_value(name, each) for name, each in getattr(spec, group)]
        for group in ("inputs", "outputs")
    }
    return _written(ExampleEntry, spec, src=spec.source, **values)


def _written_value(name: str | None, value: Value | None) -> dict[str, Any]:
    if value is None:
        return {} if name is None else {"name": name}
    sequence = value.items is not None
    own = {
        "name": name or "",
        "type": value.element_type,
        "shape": None if sequence else value.shape,
        "relation": value.relation and _written_relation(value.relation),
        "items": [_written_value(None, item) for item in value.items or ()] if sequence else None,
        "src": value.source,
    }
    return _written(ItemEntry if name is None else ValueEntry, value, **own)


def _written_relation(relation: Relation) -> dict[str, Any]:
    steps = [
        _written(StepEntry, step, target=write_index(step.target), index=write_index(step.index))
        for step in relation.steps
    ]
    return _written(RelationEntry, relation, zeros=relation.shape, steps=steps)
