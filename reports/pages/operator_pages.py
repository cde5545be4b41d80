"""What a report says of each operator version beside its cases: attributes, rules, documents, passages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opcert.vocabulary.names import OperatorName
from reports.results.case_results import Results
from reports.results.told_facts import mapping, text
from reports.single_cases.passages_shown import document_title, passages_of, public_page


def list_operator_facts(results: Results) -> dict[str, Any]:
    """By the name of each operator version its group, public page, documents, attributes and rules."""
    return {str(each): _facts(results, each) for each in results.by_operator}


def _facts(results: Results, operator: OperatorName) -> dict[str, Any]:
    facts = results.operator_facts(operator)
    attributes, rules = mapping(facts.get("attributes")), mapping(facts.get("constraints"))
    return {
        "group": results.group_of(operator),
        "page": public_page(operator),
        "documents": [_title(operator, mapping(each)) for each in mapping(facts.get("documents")).values()],
        "attributes": [
            [name, _about(mapping(each)), _passages(results, operator, each)]
            for name, each in attributes.items()
        ],
        "rules": [
            [name, _rule(mapping(each)), _passages(results, operator, each)] for name, each in rules.items()
        ],
    }


def _title(operator: OperatorName, document: Mapping[str, Any]) -> str:
    return document_title(operator, *(text(document.get(each)) for each in ("file", "dialect", "release")))


def _about(attribute: Mapping[str, Any]) -> str:
    """`int, 0 where it is left out`."""
    default = attribute.get("default")
    said = "required" if attribute.get("required") else ""
    if default is not None:
        value = " ".join(map(text, default)) if isinstance(default, list) else text(default)
        said = f"{value} where it is left out"
    return ", ".join(filter(None, (text(attribute.get("kind")), said)))


def _rule(rule: Mapping[str, Any]) -> str:
    words = {"error": "a call that breaks it must be refused", "undefined": "nothing is said of others"}
    otherwise = words.get(text(rule.get("otherwise")), text(rule.get("otherwise")))
    return "; ".join(filter(None, (text(rule.get("rule")), otherwise)))


def _passages(results: Results, operator: OperatorName, entry: object) -> list[list[str]]:
    """The first passage that it rests on."""
    sources = mapping(entry).get("sources")
    found = passages_of(results, operator, sources if isinstance(sources, list) else ())
    return [each.to_json() for each in found[:1]]
