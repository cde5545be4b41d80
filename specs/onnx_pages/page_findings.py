"""Findings about one operator version of an ONNX page that its text alone shows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from opcert.element_types import ELEMENT_TYPES
from specs.documents import Passage
from specs.model import AttributeSpec, Finding, ParameterSpec, Source, Spec
from specs.prose.defaults import FoundDefault
from specs.prose.names import find_wrong_names

_OPTIONAL = re.compile(
    r"\b(?:if|when) (?:it is )?(?:not|un)[ -]?(?:provided|specified|set|given)|\boptional\b|\bif omitted\b",
    re.IGNORECASE,
)
_BREAK = re.compile(r"<br ?/?>")
_ESCAPED = re.compile(r'\\"')


def version_findings(
    spec: Spec,
    passages: Mapping[str, Passage],
    defaults: Mapping[str, FoundDefault],
    prints_types: bool,
) -> Iterator[Finding]:
    """What is wrong with the text of one version; missing types and defaults where the dialect has them."""
    if not prints_types:
        yield from _missing_findings(spec, passages, defaults)
    yield from _attribute_findings(spec, passages, defaults)
    yield from _type_findings(spec, passages)
    yield from _markup_findings(passages)
    yield from _index_findings(spec)
    yield from find_wrong_names(spec, passages)


def _missing_findings(
    spec: Spec, passages: Mapping[str, Passage], defaults: Mapping[str, FoundDefault]
) -> Iterator[Finding]:
    untyped = [each for each in spec.attributes.values() if each.kind is None]
    if untyped:
        yield Finding(
            "attribute-type-missing",
            "warning",
            untyped[0].origin.sources[0],
            "the page does not say of which type its attributes are",
            ", ".join(each.name for each in untyped),
            "noted",
        )
    silent = [
        each
        for each in spec.attributes.values()
        if not each.required
        and not each.has_default
        and not (each.name in defaults and defaults[each.name].undecodable)
        and not _OPTIONAL.search(_text(passages, f"attributes.{each.name}"))
    ]
    if silent:
        yield Finding(
            "default-missing",
            "warning",
            silent[0].origin.sources[0],
            "the page gives no default for attributes that may be left out",
            ", ".join(each.name for each in silent),
            "noted",
        )


def _attribute_findings(
    spec: Spec, passages: Mapping[str, Passage], defaults: Mapping[str, FoundDefault]
) -> Iterator[Finding]:
    for name, default in defaults.items():
        if default.undecodable is not None:
            place = _place(default.undecodable, passages.get(f"attributes.{name}"), spec.attributes[name])
            found = (
                f"the text marks {default.value} as the default" if default.origin else "nothing else does"
            )
            yield Finding(
                "default-undecodable",
                "warning",
                place,
                f"the default of {name} is printed as {default.undecodable}",
                found,
                "repaired" if default.origin else "noted",
            )
    for attribute in spec.attributes.values():
        values = attribute.values
        if values is not None and values.proposed:
            yield Finding(
                "low-confidence-values",
                "hint",
                values.origin.sources[0],
                f"the values of {attribute.name} are not listed as such",
                f"{', '.join(map(str, values.values))} by the rule {values.rule}, "
                f"confidence {values.confidence:.2f}",
                "noted",
            )


def _place(text: str, passage: Passage | None, attribute: AttributeSpec) -> Source:
    offset = passage.text.find(text) if passage is not None else -1
    if passage is None or offset < 0:
        return attribute.origin.sources[0]
    return passage.source(offset)


def _text(passages: Mapping[str, Passage], about: str) -> str:
    return passages[about].text if about in passages else ""


def _type_findings(spec: Spec, passages: Mapping[str, Passage]) -> Iterator[Finding]:
    missing: dict[str, ParameterSpec] = {}
    for each in (*spec.inputs, *spec.outputs):
        variable = re.fullmatch(r"[A-Z]\w*", each.type)
        if variable and each.type not in spec.type_constraints:
            missing.setdefault(each.type, each)
    for name, parameter in missing.items():
        yield Finding(
            "type-constraint-missing",
            "error",
            parameter.origin.sources[0],
            f"the page never says which types {name} stands for",
            f"used by {', '.join(each.name for each in (*spec.inputs, *spec.outputs) if each.type == name)}",
            "noted",
        )
    for constraint in spec.type_constraints.values():
        passage = passages.get(f"type_constraints.{constraint.name}")
        match = re.search(r"\bto (\w+) or (\w+)\.?$", passage.text) if passage else None
        if passage is None or match is None:
            continue
        named = {match[1], match[2]}
        if named <= set(ELEMENT_TYPES) and named != set(constraint.types):
            yield Finding(
                "text-vs-types",
                "warning",
                passage.source(match.start(1)),
                f"the text of {constraint.name} names other types than its list",
                f"the text: {match[1]}, {match[2]}; the list: {', '.join(constraint.types)}",
                "noted",
            )


def _markup_findings(passages: Mapping[str, Passage]) -> Iterator[Finding]:
    for pattern, message in (
        (_BREAK, "HTML line breaks stand in reStructuredText, which prints them as text"),
        (_ESCAPED, "quotation marks are escaped with backslashes, which the page prints or drops"),
    ):
        places = [
            passage.source(match.start())
            for passage in passages.values()
            for match in pattern.finditer(passage.text)
        ]
        if places:
            lines = sorted({each.line for each in places})
            yield Finding(
                "markup-damage",
                "warning",
                min(places, key=lambda each: (each.line, each.column or 0)),
                message,
                f"{len(places)} times, lines {', '.join(map(str, lines))}",
                "repaired",
            )


def _index_findings(spec: Spec) -> Iterator[Finding]:
    """One array indexed by two different letters in the formulas of one passage."""
    used: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    places: dict[tuple[str, str], Source] = {}
    for formula in spec.formulas:
        for name, index in re.findall(r"\b(\w+)\[([a-z])\]", f"{formula.name} = {formula.text}"):
            line = formula.origin.sources[0].line
            used[name][index].append(line)
            places.setdefault((name, index), formula.origin.sources[0])
    for name, indexes in used.items():
        if len(indexes) > 1:
            first, *others = indexes
            for other in others:
                yield Finding(
                    "index-mismatch",
                    "warning",
                    places[(name, other)],
                    f"the formulas index {name} by {first} in one place and by {other} in another",
                    f"{name}[{first}] at lines {_listed(indexes[first])}, "
                    f"{name}[{other}] at lines {_listed(indexes[other])}",
                    "noted",
                )


def _listed(lines: list[int]) -> str:
    return ", ".join(str(each) for each in sorted(set(lines)))
