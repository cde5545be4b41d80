"""Rules on what the documents of one operator version say together, and on the spec that is made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

from specs.model.facts import list_facts
from specs.model.spec import (
    AttributeSpec,
    Example,
    Finding,
    Formula,
    Origin,
    ParameterSpec,
    Prose,
    Source,
    Spec,
)
from specs.rules import Told, compare, examine

_DIALECTS = "-package"
_OF_FUNCTIONS = frozenset(["openvino-package"])
"""Packages that tell inputs, and what is required, of Python functions; the operators differ there."""


@compare("warning")
def document_vs_package(layers: Sequence[Spec]) -> Iterator[Told]:
    """A document and an installed package say different things about one operator version.

    One finding for each fact in which a document that names the operator itself differs from a package. What
    only one of them states is no contradiction, except for the parts themselves: an attribute, input, output
    or type variable that the other does not have.
    """
    packages = [layer for layer in layers if is_package(layer)]
    for layer in layers:
        if not is_package(layer) and layer.documents[0].identity == "stated":
            for package in packages:
                for found in find_differences(layer, package, f"{package.documents[0].release}"):
                    yield Told(found.source, found.message, found.evidence)


def is_package(layer: Spec) -> bool:
    """Whether the facts come from an installed package."""
    return layer.documents[0].dialect.endswith(_DIALECTS)


@dataclass(frozen=True)
class _Difference:
    what: str
    stated: Any
    packaged: Any
    source: Source


def find_differences(document: Spec, package: Spec, name: str) -> Iterator[Finding]:
    """Where a document differs from what a package, called `name`, says of the same operator."""
    for difference in _differences(document, package):
        message = f"{difference.what} differs from {name}"
        evidence = f"{_text(difference.stated)} in the document, {_text(difference.packaged)} in the package"
        yield Finding("document-vs-package", "warning", difference.source, message, evidence, "noted")


def _text(value: Any) -> str:
    if value is None:
        return "absent"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _differences(document: Spec, package: Spec) -> Iterator[_Difference]:
    top = _place(document)
    if document.deprecated != package.deprecated:
        yield _Difference("whether it is deprecated", document.deprecated, package.deprecated, top)
    if document.deprecated or package.deprecated:
        # The pages of deprecated operators have no body.
        return
    yield from _missing("attribute", document.attributes, package.attributes, top)
    for name, attribute in document.attributes.items():
        if name in package.attributes:
            yield from _attribute(attribute, package.attributes[name], package)
    if package.documents[0].dialect in _OF_FUNCTIONS:
        if package.input_arity is not None and len(document.inputs) > (package.input_arity.most or 1000):
            counts = (len(document.inputs), package.input_arity.most)
            yield _Difference("number of inputs", *counts, top)
        return
    for what, ours, theirs in (
        ("input", document.inputs, package.inputs),
        ("output", document.outputs, package.outputs),
    ):
        if theirs:
            yield from _parameters(what, ours, theirs, top)
    if document.type_constraints and package.type_constraints:
        yield from _missing("type variable", document.type_constraints, package.type_constraints, top)
    for name, constraint in document.type_constraints.items():
        other = package.type_constraints.get(name)
        if other is not None and set(other.types) != set(constraint.types):
            stated = sorted(set(constraint.types) - set(other.types)) or "nothing more"
            packaged = sorted(set(other.types) - set(constraint.types)) or "nothing more"
            yield _Difference(f"type variable {name}: types", stated, packaged, _of(constraint.origin))
    for what, mine, bounds in (
        ("number of inputs", document.input_arity, package.input_arity),
        ("number of outputs", document.output_arity, package.output_arity),
    ):
        if mine is not None and bounds is not None and mine != bounds:
            yield _Difference(what, (mine.least, mine.most), (bounds.least, bounds.most), top)


def _missing(what: str, ours: Any, theirs: Any, top: Source) -> Iterator[_Difference]:
    for name, own in ours.items():
        if name not in theirs:
            yield _Difference(f"{what} {name}", "present", None, _of(own.origin))
    for name in theirs:
        if name not in ours:
            yield _Difference(f"{what} {name}", None, "present", top)


def _attribute(document: AttributeSpec, package: AttributeSpec, layer: Spec) -> Iterator[_Difference]:
    what, source = f"attribute {document.name}", _of(document.origin)
    for name in ("kind", "at_least", "at_most", "more_than"):
        mine, other = getattr(document, name), getattr(package, name)
        if mine is not None and other is not None and mine != other:
            yield _Difference(f"{what}: {name}", mine, other, source)
    if document.required != package.required and layer.documents[0].dialect not in _OF_FUNCTIONS:
        yield _Difference(f"{what}: required", document.required, package.required, source)
    if document.has_default and package.has_default and not same_default(document.default, package.default):
        yield _Difference(f"{what}: default", document.default, package.default, source)
    allowed, others = document.allowed, package.allowed
    if allowed is not None and others is not None and set(allowed) != set(others):
        yield _Difference(f"{what}: values", allowed, others, source)


def _parameters(
    what: str, document: Sequence[ParameterSpec], package: Sequence[ParameterSpec], top: Source
) -> Iterator[_Difference]:
    ours, theirs = (
        {parameter.name: parameter for parameter in document},
        {parameter.name: parameter for parameter in package},
    )
    yield from _missing(what, ours, theirs, top)
    common = [parameter.name for parameter in document if parameter.name in theirs]
    if common != [parameter.name for parameter in package if parameter.name in ours]:
        yield _Difference(f"order of {what}s", common, [n for n in theirs if n in ours], top)
    for name in common:
        for field in ("option", "type", "homogeneous", "differentiable"):
            mine, other = getattr(ours[name], field), getattr(theirs[name], field)
            if mine is not None and other is not None and mine != other:
                yield _Difference(f"{what} {name}: {field}", mine, other, _of(ours[name].origin))


def same_default(stated: Any, exact: Any) -> bool:
    """Whether a default in print can be the exact one: pages print five decimal places, or seven digits."""
    if isinstance(stated, list | tuple) and isinstance(exact, list | tuple):
        return len(stated) == len(exact) and all(map(same_default, stated, exact))
    if isinstance(stated, float) and isinstance(exact, float):
        return stated == exact or abs(stated - exact) <= 1e-5 * abs(exact)
    return bool(stated == exact)


def _of(origin: Origin) -> Source:
    return origin.sources[0]


def _place(document: Spec) -> Source:
    """Where the operator stands in a document: the first place that any of its facts has."""
    places = [
        *(prose.source for prose in document.prose),
        *(attribute.origin.sources[0] for attribute in document.attributes.values()),
        *(parameter.origin.sources[0] for parameter in (*document.inputs, *document.outputs)),
    ]
    fallback = Source(document.documents[0].key, 1)
    return min(places, key=lambda place: (place.line, place.column or 0), default=fallback)


@examine("warning")
def example_vs_types(spec: Spec) -> Iterator[Told]:
    """An example gives an input of a type that the operator does not take.

    One finding for each input and type that examples have and no document allows, at the first of them.
    """
    told: set[tuple[str, str]] = set()
    for example in spec.examples:
        for position, (name, value) in enumerate(example.inputs):
            parameter = next((each for each in spec.inputs if each.name == name), None)
            if parameter is None or value is None or value.element_type is None:
                continue
            allowed = spec.types_of(parameter)
            if allowed and value.element_type not in allowed and (name, value.element_type) not in told:
                told.add((name, value.element_type))
                message = f"example {example.id} gives {name} as {value.element_type}, which it may not be"
                evidence = f"input {position + 1} is {parameter.type}: {', '.join(allowed)}"
                yield Told(value.source or example.source, message, evidence)


@compare("warning")
def examples_disagree(layers: Sequence[Spec]) -> Iterator[Told]:
    """An example is printed correctly in another document of the operator version.

    One finding for each example that had to be mended and stands unbroken in another document.
    """
    for first, second in permutations(layers, 2):
        whole = {_call(example): example for example in second.examples if not example.repaired}
        for example in first.examples:
            twin = whole.get(_call(example)) if example.repaired else None
            if twin is not None:
                file = second.documents[0].file
                message = f"example {example.id} had to be mended, and is printed correctly in {file}"
                yield Told(example.source, message, f"line {twin.source.line} of {file}", "repaired")


def _call(example: Example) -> str:
    """What makes two examples the same: attributes, and the values of inputs and outputs."""
    values = [
        (name, None if value is None else (value.shape, value.data, value.relation))
        for name, value in (*example.inputs, *example.outputs)
    ]
    return repr((sorted(example.attributes.items()), values))


@examine("error")
def fact_without_source(spec: Spec) -> Iterator[Told]:
    """A fact says neither where a document states it nor why it holds.

    One finding for each fact of the effective spec whose origin is empty.
    """
    for fact in list_facts(spec):
        if not fact.origin.sources and not (fact.origin.why or "").strip():
            message = f"{fact.path} says neither where a document states it nor why it holds"
            yield Told(Source(spec.documents[0].key, 1), message, f"{fact.path}: {fact.value}")


@compare("warning")
def formulas_disagree(layers: Sequence[Spec]) -> Iterator[Told]:
    """Two documents of one operator version state different formulas for one thing.

    One finding for each formula that another document has otherwise under the same condition.
    """
    for first, second in combinations(layers, 2):
        others = _single(second)
        for key, mine in _single(first).items():
            other = others.get(key)
            if other is None or "".join(mine.text.split()) == "".join(other.text.split()):
                continue
            condition = f" where {mine.when}" if mine.when else ""
            file = second.documents[0].file
            message = f"the formula of {mine.name}{condition} differs from that of {file}"
            evidence = f"{mine.text} here; {other.text} in line {other.origin.sources[0].line} of {file}"
            yield Told(mine.origin.sources[0], message, evidence)


def _single(layer: Spec) -> dict[tuple[str, str | None], Formula]:
    """The formulas by name and condition, without those of which a document states several."""
    found: dict[tuple[str, str | None], list[Formula]] = {}
    for formula in layer.formulas:
        found.setdefault((formula.name, formula.when), []).append(formula)
    return {key: formulas[0] for key, formulas in found.items() if len(formulas) == 1}


@compare("hint")
def texts_differ(layers: Sequence[Spec]) -> Iterator[Told]:
    """Two documents of one operator version describe one thing in different words.

    One finding for each passage of ONNX pages that two documents have otherwise. Passages in which a formula
    is another are left to `formulas-disagree`. The documents of other families mark and wrap their text in
    ways that the digests of passages do not see through.
    """
    pages = [layer for layer in layers if layer.documents[0].dialect.startswith("onnx")]
    for first, second in combinations(pages, 2):
        others = {prose.about: prose for prose in second.prose}
        known = {(formula.name, formula.when, formula.text) for formula in second.formulas}
        for mine in first.prose:
            other = others.get(mine.about)
            if other is None or other.sha256 == mine.sha256 or _has_other_formula(first, mine, known):
                continue
            file = second.documents[0].file
            message = f"the text about {mine.about} is not the one of {file}"
            evidence = f"{mine.lines} lines here; {other.lines} lines from line {other.source.line} of {file}"
            yield Told(mine.source, message, evidence)


def _has_other_formula(layer: Spec, passage: Prose, known: set[tuple[str, str | None, str]]) -> bool:
    first, last = passage.source.line, passage.source.line + passage.lines - 1
    return any(
        (formula.name, formula.when, formula.text) not in known
        and first <= formula.origin.sources[0].line <= last
        for formula in layer.formulas
    )
