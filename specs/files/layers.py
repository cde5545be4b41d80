"""Putting together what several documents say about one operator version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from specs.documents.prose.passage_statements import merge_statements
from specs.model.spec import (
    AttributeSpec,
    Example,
    Finding,
    Origin,
    ParameterSpec,
    Source,
    Spec,
    TypeConstraint,
)
from specs.rules import compare_layers
from specs.rules.several_documents import is_package

Part = TypeVar("Part", AttributeSpec, ParameterSpec)


def merge_layers(layers: Sequence[Spec]) -> Spec:
    """One spec of all layers: the first that states a fact gives it, and each contradiction is a finding.

    Documents that name their operator come before those whose user named it (`identity: asserted`), and all
    of them before installed packages.
    """
    ordered = sorted(layers, key=lambda layer: (is_package(layer), layer.documents[0].identity == "asserted"))
    merged = ordered[0]
    for layer in ordered[1:]:
        merged = _merge(merged, layer)
    documents = tuple(
        sorted((document for layer in layers for document in layer.documents), key=lambda layer: layer.key)
    )
    findings = (*merged.findings, *compare_layers(ordered))
    return replace(merged, documents=documents, findings=findings, origins=_origins(merged))


def _merge(first: Spec, second: Spec) -> Spec:
    if is_package(second) and first.documents[0].identity == "stated":
        second = _of_the_same_parts(first, second)
    merger = _Merger({document.key: document.file for document in (*first.documents, *second.documents)})
    attributes = dict(first.attributes)
    for name, attribute in second.attributes.items():
        attributes[name] = merger.part(f"attribute {name}", attributes.get(name), attribute)
    constraints = dict(first.type_constraints)
    for name, constraint in second.type_constraints.items():
        constraints[name] = merger.types(constraints.get(name), constraint)
    inputs = merger.parameters("input", first.inputs, second.inputs)
    outputs = merger.parameters("output", first.outputs, second.outputs)
    examples = merger.examples(first.examples, second.examples)
    formulas = {
        (formula.name, formula.when, formula.text): formula for formula in (*second.formulas, *first.formulas)
    }
    return replace(
        first,
        documents=(*first.documents, *second.documents),
        attributes=attributes,
        inputs=inputs,
        outputs=outputs,
        type_constraints=constraints,
        examples=examples,
        formulas=tuple(sorted(formulas.values(), key=lambda formula: formula.origin.sources[0].line)),
        statements=merge_statements(first.statements, second.statements),
        prose=(*first.prose, *second.prose),
        # What a package says otherwise is for the rule document-vs-package to find.
        findings=(*first.findings, *second.findings, *(() if is_package(second) else merger.findings)),
        input_arity=first.input_arity or second.input_arity,
        output_arity=first.output_arity or second.output_arity,
        deprecated=first.deprecated or second.deprecated,
        category=first.category or second.category,
        origins={**second.origins, **first.origins},
    )


def _of_the_same_parts(document: Spec, package: Spec) -> Spec:
    """The package without the parts that a document, which lists such parts, does not have.

    Its inputs are those of another release, or have other names; the rule document-vs-package tells of them.
    """

    def common(ours: Sequence[ParameterSpec], theirs: Sequence[ParameterSpec]) -> tuple[ParameterSpec, ...]:
        names = {own.name for own in ours}
        return tuple(other for other in theirs if not names or other.name in names)

    lists = bool(document.attributes or document.inputs or document.outputs)
    types = document.type_constraints
    return replace(
        package,
        attributes={
            name: attribute
            for name, attribute in package.attributes.items()
            if not lists or name in document.attributes
        },
        inputs=common(document.inputs, package.inputs),
        outputs=common(document.outputs, package.outputs),
        type_constraints={
            name: type_constraint
            for name, type_constraint in package.type_constraints.items()
            if not types or name in types
        },
    )


class _Merger:
    """Merges part by part and keeps the contradictions that it meets."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self.findings: list[Finding] = []

    def part(self, what: str, first: Part | None, second: Part) -> Part:
        return second if first is None else self._both(what, first, second)

    def _both(self, what: str, first: Part, second: Part) -> Part:
        changes: dict[str, Any] = {}
        for name in _FIELDS[type(first)]:
            mine, other = getattr(first, name), getattr(second, name)
            if other is None:
                continue
            if mine is None:
                changes[name] = other
            elif _comparable(mine) != _comparable(other):
                self._disagree(
                    f"{what}: {name}", _comparable(mine), _comparable(other), first.origin, second.origin
                )
        if isinstance(first, AttributeSpec) and isinstance(second, AttributeSpec) and second.has_default:
            if not first.has_default:
                changes.update(default=second.default, has_default=True)
            elif first.default != second.default:
                self._disagree(f"{what}: default", first.default, second.default, first.origin, second.origin)
        sources = (*first.origin.sources, *second.origin.sources)
        return replace(first, origin=replace(first.origin, sources=sources), **changes)

    def parameters(
        self, what: str, first: tuple[ParameterSpec, ...], second: tuple[ParameterSpec, ...]
    ) -> tuple[ParameterSpec, ...]:
        merged = {parameter.name: parameter for parameter in first}
        for parameter in second:
            merged[parameter.name] = self.part(
                f"{what} {parameter.name}", merged.get(parameter.name), parameter
            )
        return tuple(merged.values())

    def types(self, first: TypeConstraint | None, second: TypeConstraint) -> TypeConstraint:
        if first is None:
            return second
        if set(first.types) != set(second.types):
            self._disagree(
                f"types of {first.name}", list(first.types), list(second.types), first.origin, second.origin
            )
        origin = replace(first.origin, sources=(*first.origin.sources, *second.origin.sources))
        return replace(first, origin=origin)

    def examples(self, first: tuple[Example, ...], second: tuple[Example, ...]) -> tuple[Example, ...]:
        """All examples; of two that state the same call and result, the one without repairs remains."""
        merged = {_call(example): example for example in first}
        names = {example.id: example for example in first}
        for example in second:
            twin = merged.get(_call(example))
            if twin is not None:
                if twin.repaired and not example.repaired:
                    merged[_call(example)] = example
                continue
            named = names.get(example.id)
            if named is not None:
                self._disagree_places(
                    f"example {example.id}", "other values under this name", named.source, example.source
                )
            name = example.id if named is None else f"{example.id}_{example.source.document}"
            merged[_call(example)] = replace(example, id=name)
        return tuple(merged.values())

    def _disagree(self, what: str, mine: Any, other: Any, first: Origin, second: Origin) -> None:
        evidence = f"{mine} in one document, {other} in the other"
        self._disagree_places(what, evidence, first.sources[0], second.sources[0])

    def _disagree_places(self, what: str, evidence: str, first: Source, second: Source) -> None:
        message = f"{what} differs from {self._files.get(first.document, first.document)}, line {first.line}"
        self.findings.append(Finding("documents-disagree", "warning", second, message, evidence, "noted"))


_FIELDS: dict[type, tuple[str, ...]] = {
    AttributeSpec: ("kind", "required", "values", "at_least", "more_than", "at_most", "least_length"),
    ParameterSpec: (
        "option",
        "type",
        "rank",
        "shape",
        "at_least",
        "homogeneous",
        "differentiable",
        "least_length",
        "default",
    ),
}


def _comparable(value: Any) -> Any:
    values = getattr(value, "values", None)
    return set(values) if values is not None and not callable(values) else value


def _call(example: Example) -> tuple[Any, ...]:
    """What makes two examples the same: attributes, and values of inputs and outputs."""
    attributes = tuple(sorted((name, repr(attribute)) for name, attribute in example.attributes.items()))
    values = tuple(
        (name, None if value is None else (value.shape, value.data, value.relation))
        for name, value in (*example.inputs, *example.outputs)
    )
    return (attributes, values)


def _origins(spec: Spec) -> dict[str, Origin]:
    """The origin of each single field that a document states, by its path."""
    origins: dict[str, Origin] = {}
    for name, attribute in spec.attributes.items():
        path = f"attributes.{name}"
        origins[path] = attribute.origin
        for field, present in (
            ("type", attribute.kind is not None),
            ("required", True),
            ("default", attribute.has_default),
            ("at_least", attribute.at_least is not None),
            ("more_than", attribute.more_than is not None),
            ("at_most", attribute.at_most is not None),
            ("least_length", attribute.least_length is not None),
        ):
            if present:
                origins[f"{path}.{field}"] = spec.origins.get(f"{path}.{field}", attribute.origin)
        if attribute.values is not None:
            origins[f"{path}.values"] = attribute.values.origin
    for group, parameters in (("inputs", spec.inputs), ("outputs", spec.outputs)):
        for parameter in parameters:
            path = f"{group}.{parameter.name}"
            origins[path] = parameter.origin
            for field in ("type", "option", "rank", "shape", "at_least", "default"):
                if getattr(parameter, field) is not None:
                    origins[f"{path}.{field}"] = parameter.origin
    for constraint in spec.type_constraints.values():
        origins[f"type_constraints.{constraint.name}"] = constraint.origin
    return origins
