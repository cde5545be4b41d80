"""What a suite's manifest says of each operator beside its cases: for reports, which see no specs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.suite.distributions import Distributed
from generator.asking.ambiguity import ambiguity
from generator.asking.demands import LEVEL
from generator.calls.rows.feasibility import Solver
from generator.calls.rows.level_tuples import covered_tuples, feasible_tuples
from generator.making.operators.workshop import Workshop, rule_text
from specs.model.spec import Finding, Origin, Reading, Source


def operator_facts(workshop: Workshop) -> dict[str, Any]:
    """Documents, readings, findings, constraints, attributes, factors, coverage and ambiguity, as plain JSON.

    `ambiguity` counts the elements of the expected outputs, and those that have several accepted results;
    `draws` tells of tests of distributions, where there are any.
    """
    spec = workshop.spec
    unclear = ambiguity(workshop.cases.values())
    return {
        "documents": {
            document.key: _told(
                spec.document(document.key), "file", "sha256", "dialect", "identity", "release"
            )
            for document in spec.documents
        },
        "readings": [_reading(reading) for reading in spec.readings],
        "findings": [_finding(finding) for finding in (*spec.findings, *workshop.findings)],
        "constraints": {
            constraint.id: {
                "rule": rule_text(constraint),
                "otherwise": constraint.otherwise,
                **_origin(constraint.origin),
            }
            for constraint in spec.constraints
        },
        "may_refuse": {
            refusable.id: {"when": refusable.when, **_origin(refusable.origin)}
            for refusable in spec.may_refuse
        },
        "attributes": {
            name: {
                **_told(attribute, "kind", "required"),
                "default": _plain(attribute.default) if attribute.has_default else None,
                "values": _plain(attribute.allowed) if attribute.allowed is not None else None,
                "sources": _sources(attribute.origin.sources),
            }
            for name, attribute in spec.attributes.items()
        },
        "factors": {factor.name: _plain(factor.levels) for factor in spec.factors},
        "coverage": coverage(workshop, workshop.options.strength),
        "ambiguity": {"elements": unclear.elements, "several": unclear.several},
        **_draws(workshop),
    }


def _draws(workshop: Workshop) -> dict[str, Any]:
    """How many tests of distributions the cases have and how often each accuses what is right; or nothing."""
    rates = [
        distributed.false_alarm
        for case in workshop.cases.values()
        for distributed in case.properties
        if isinstance(distributed, Distributed)
    ]
    return {"draws": {"tests": len(rates), "false_alarm": max(rates), "level": LEVEL}} if rates else {}


def coverage(workshop: Workshop, strength: int) -> dict[str, Any]:
    """How many feasible combinations of `strength` factor levels the covering cases hold, and which not."""
    model = workshop.model
    if not model.levels:
        return {"strength": strength, "feasible": 0, "covered": 0, "rows": 0, "uncovered": []}
    strength = min(strength, len(model.levels))
    # Those with a rare level have a row of their own, beside those of the model.
    rows = [row for levels in workshop.rows if (row := model.row_of(levels)) is not None]
    feasible = feasible_tuples(Solver(model), strength)
    covered = covered_tuples(model, rows, strength)
    uncovered = [
        {model.names[factor]: _plain(model.levels[model.names[factor]][value]) for factor, value in pairs}
        for factors in feasible
        for pairs in (
            list(zip(factors, values, strict=True)) for values in sorted(feasible[factors] - covered[factors])
        )
    ]
    return {
        "strength": strength,
        "feasible": sum(map(len, feasible.values())),
        "covered": sum(map(len, feasible.values())) - len(uncovered),
        "rows": len(rows),
        "uncovered": uncovered,
        "interactions": [
            {"factors": [model.names[factor] for factor in group.factors], "strength": group.strength}
            for group in model.groups
        ],
        "exclusions": [
            {"when": exclusion.when, **_origin(exclusion.origin)} for exclusion in workshop.spec.exclusions
        ],
    }


def _reading(reading: Reading) -> dict[str, Any]:
    evidence = [
        {**_told(reading_evidence, "option", "kind", "note"), "sources": _sources(reading_evidence.sources)}
        for reading_evidence in reading.evidence
    ]
    told = _told(reading, "id", "kind", "question", "chosen")
    return {**told, "options": dict(reading.options), "evidence": evidence, **_origin(reading.origin)}


def _finding(finding: Finding) -> dict[str, Any]:
    told = _told(finding, "code", "severity", "message", "evidence", "action")
    return {**told, **_told(finding.source, "document", "line", "column")}


def _told(what: object, *names: str) -> dict[str, Any]:
    return {name: getattr(what, name) for name in names}


def _origin(origin: Origin) -> dict[str, Any]:
    return {"sources": _sources(origin.sources), "why": origin.why}


def _sources(sources: Sequence[Source]) -> list[list[str | int]]:
    return [
        [source.document, source.line]
        if source.column is None
        else [source.document, source.line, source.column]
        for source in sources
    ]


def _plain(value: Any) -> Any:
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
