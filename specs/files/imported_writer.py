"""Writing `imported-<version>.yaml`: the facts of each source document as one YAML document, reproducibly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from specs.files.yaml_writer import dump
from specs.model.spec import (
    Arity,
    AttributeSpec,
    Example,
    Finding,
    Origin,
    ParameterSpec,
    Prose,
    Source,
    Spec,
    Value,
)
from specs.model.statements import KINDS, Statement, is_proposed
from specs.model.worked_values import Relation, write_index

_HEADER = """\
# Written by `opcert import`: facts, and where they stand; no sentence of the document.
# Do not edit: what people add belongs into spec.yaml beside this file.
"""


def write_imported(layers: Iterable[tuple[str, Spec]]) -> str:
    """The text of an `imported-<version>.yaml`: for each document its key, and the facts that it states."""
    return _HEADER + "---\n".join(dump(plain_layer(spec, key)) for key, spec in layers)


def plain_layer(spec: Spec, key: str) -> dict[str, Any]:
    """One document's facts as plain values, every place under the document key given."""
    writer = _Writer(key)
    document = spec.documents[0]
    entry: dict[str, Any] = {
        "operator": {
            "domain": spec.operator.domain,
            "name": spec.operator.name,
            "since_version": spec.operator.since_version,
        },
        "documents": {
            key: _without_empty(
                {
                    "file": document.file,
                    "dialect": document.dialect,
                    "sha256": document.sha256,
                    "release": document.release,
                    "identity": document.identity,
                }
            )
        },
        "category": spec.category,
        "deprecated": spec.deprecated,
        "arity": _without_empty({"inputs": _bounds(spec.input_arity), "outputs": _bounds(spec.output_arity)}),
        "attributes": {
            name: writer.attribute(each, spec.origins.get(f"attributes.{name}.default"))
            for name, each in spec.attributes.items()
        },
        "inputs": [writer.parameter(each) for each in spec.inputs],
        "outputs": [writer.parameter(each) for each in spec.outputs],
        "type_constraints": {
            name: {"types": list(each.types), "src": writer.src(each.origin)}
            for name, each in spec.type_constraints.items()
        },
        "formulas": [
            _without_empty(
                {"name": each.name, "text": each.text, "when": each.when, "src": writer.src(each.origin)}
            )
            for each in spec.formulas
        ],
        "statements": [writer.statement(each) for each in spec.statements],
        "prose": [writer.prose(each) for each in spec.prose],
        "examples": [writer.example(each) for each in spec.examples],
        "findings": [writer.finding(each) for each in spec.findings],
    }
    return {name: each for name, each in entry.items() if each or name in ("inputs", "outputs")}


class _Writer:
    """Writes the parts of one layer; remembers the document's key."""

    def __init__(self, key: str) -> None:
        self._key = key

    def place(self, source: Source) -> list[Any]:
        place: list[Any] = [self._key, source.line]
        return place if source.column is None else [*place, source.column]

    def src(self, origin: Origin) -> list[Any]:
        places = [self.place(each) for each in origin.sources]
        return places[0] if len(places) == 1 else places

    def attribute(self, spec: AttributeSpec, default: Origin | None) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "type": spec.kind,
            "other_type": spec.other_type,
            "required": spec.required,
            "at_least": spec.at_least,
            "more_than": spec.more_than,
            "at_most": spec.at_most,
            "least_length": spec.least_length,
        }
        entry = {name: each for name, each in entry.items() if each is not None}
        if spec.has_default:
            origin = default or spec.origin
            entry["default"] = {"value": spec.default, **self._found(origin)}
        if spec.values is not None:
            entry["values"] = {
                "list": list(spec.values.values),
                **({"proposed": True} if spec.values.proposed else {}),
                **self._found(spec.values.origin),
            }
        return {**entry, "src": self.src(spec.origin)}

    def _found(self, origin: Origin) -> dict[str, Any]:
        confidence = 1.0 if origin.confidence is None else origin.confidence
        return {"rule": origin.rule or "stated", "confidence": confidence, "src": self.src(origin)}

    def parameter(self, spec: ParameterSpec) -> dict[str, Any]:
        entry = {
            "name": spec.name,
            "type": spec.type,
            "option": spec.option,
            "rank": spec.rank,
            "shape": None if spec.shape is None else list(spec.shape),
            "at_least": spec.at_least,
            "homogeneous": spec.homogeneous,
            "differentiable": spec.differentiable,
            "default": spec.default,
            "least_length": spec.least_length,
            "src": self.src(spec.origin),
        }
        return {name: each for name, each in entry.items() if each is not None}

    def prose(self, spec: Prose) -> dict[str, Any]:
        entry = {
            "about": spec.about,
            "src": self.place(spec.source),
            "lines": spec.lines,
            "normative": [{"word": word, "src": self.place(source)} for word, source in spec.normative],
            "sha256": spec.sha256,
        }
        return {key: each for key, each in entry.items() if each != []}

    def statement(self, spec: Statement) -> dict[str, Any]:
        word = next(word for word, kind in KINDS.items() if isinstance(spec, kind))
        stated = {each.name.rstrip("_"): getattr(spec, each.name) for each in fields(spec)}
        del stated["about"], stated["origin"]
        if stated.get("of") == "value":
            del stated["of"]
        plain = {name: _plain(each) for name, each in stated.items() if each not in (None, ())}
        proposed = {"proposed": True} if is_proposed(spec) else {}
        return {"about": spec.about, "says": word, **plain, **proposed, **self._found(spec.origin)}

    def example(self, spec: Example) -> dict[str, Any]:
        entry = {
            "id": spec.id,
            "src": self.place(spec.source),
            "note": spec.note,
            "repaired": spec.repaired,
            "attributes": {name: _plain(each) for name, each in spec.attributes.items()},
        }
        return {
            **_without_empty(entry),
            "inputs": [self.value(name, each) for name, each in spec.inputs],
            "outputs": [self.value(name, each) for name, each in spec.outputs],
        }

    def value(self, name: str | None, value: Value | None) -> dict[str, Any]:
        if value is None:
            return {} if name is None else {"name": name}
        source = None if value.source is None else self.place(value.source)
        if value.items is not None:
            items = [self.value(None, each) for each in value.items]
            sequence = {"name": name, "items": items, "src": source}
            return {key: each for key, each in sequence.items() if each is not None}
        entry = {
            "name": name,
            "type": value.element_type,
            "shape": list(value.shape),
            "data": None if value.data is None else list(value.data),
            "decimals": value.decimals,
            "relation": None if value.relation is None else _relation(value.relation),
            "src": source,
        }
        return {key: each for key, each in entry.items() if each is not None}

    def finding(self, spec: Finding) -> dict[str, Any]:
        return {
            "code": spec.code,
            "severity": spec.severity,
            "src": self.place(spec.source),
            "message": spec.message,
            "evidence": spec.evidence,
            "action": spec.action,
            **({"by": "reader"} if spec.by_reader else {}),
        }


def _relation(relation: Relation) -> dict[str, Any]:
    steps = [
        _without_empty({"to": write_index(each.target), "from": each.source, "at": write_index(each.index)})
        for each in relation.steps
    ]
    zeros = {} if relation.shape is None else {"zeros": list(relation.shape)}
    return {**zeros, "steps": steps}


def _bounds(arity: Arity | None) -> list[int | None] | None:
    return None if arity is None else [arity.least, arity.most]


def _plain(value: Any) -> Any:
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def _without_empty(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The entry without its keys that say nothing."""
    return {key: each for key, each in entry.items() if each not in (None, False, "", {})}
