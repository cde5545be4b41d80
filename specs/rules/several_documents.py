"""Rules on what the documents of one operator version say together, and on the spec that is made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from specs.model.facts import list_facts
from specs.model.spec import Example, Formula, Prose, Source, Spec
from specs.rules import Told, compare, examine


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
        (each.name, each.when, each.text) not in known and first <= each.origin.sources[0].line <= last
        for each in layer.formulas
    )
