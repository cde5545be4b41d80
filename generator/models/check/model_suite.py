"""A suite of the cases of a model's calls, and ONNX's own node tests of calls that have none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto

from conformance.adopting.adopted_cases import WRITTEN_AS
from conformance.checked_models.model_calls import ModelCall
from conformance.suite.cases import Case
from conformance.suite.protos import read_attribute
from conformance.suite.suite_parts import SuitePart, make_part
from conformance.suite.suites import Suite, write_suite_of_parts
from generator.asking.named_operators import referenced_operators
from generator.calls.declared.declared_levels import DeclaredLevels
from generator.calls.space.space import open_space
from generator.making.operators.discovery import load_rules
from generator.making.operators.workshop import Options, Workshop
from generator.making.suites.manifest_facts import operator_facts
from generator.making.suites.suite_making import known_causes
from generator.models.check.call_cases import CallCases
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.errors import NothingRan, UserError
from opcert.vocabulary.names import OperatorName
from reference.registry import find_operator
from specs.files.library import load_spec

_NODE = "node"


def node_tests_of_call(call: ModelCall, suite: Suite) -> tuple[Case, ...]:
    """The cases of a suite of node tests that make a call of the same operator version and attributes.

    An attribute that is left out is the same as one that has its default. Element types, ranks and values
    may be others: that is what makes them weaker evidence than cases of the very call.
    """
    node = call.first
    if node.operator is None or node.unread:
        return ()
    wanted = _said(node.operator, node.attributes)
    cases = (suite.case(name) for name in suite.case_ids if name.startswith(f"{node.operator.path}/"))
    return tuple(
        case
        for case in cases
        if (found := _attributes_of(case)) is not None and _said(node.operator, found) == wanted
    )


def _attributes_of(case: Case) -> Mapping[str, Attribute] | None:
    """The attributes of the one node of a test; None where it is written as several."""
    if case.levels.get(WRITTEN_AS, _NODE) != _NODE:
        return None
    if case.model is None:
        return case.attributes
    nodes = [
        node
        for node in ModelProto.FromString(case.model).graph.node
        if node.op_type == case.operator.name and (node.domain or "ai.onnx") == case.operator.domain
    ]
    if len(nodes) != 1:
        return None
    try:
        return {attribute.name: read_attribute(attribute) for attribute in nodes[0].attribute}
    except UserError:
        return None


def _said(operator: OperatorName, attributes: Mapping[str, Attribute]) -> Mapping[str, object]:
    """What attributes say, without those that have their default."""
    said = {name: _plain(attribute.value) for name, attribute in attributes.items()}
    defaults = _defaults(operator)
    return {name: each for name, each in said.items() if name not in defaults or defaults[name] != each}


@cache
def _defaults(operator: OperatorName) -> Mapping[str, object]:
    try:
        spec = load_spec(operator)
    except UserError:
        return {}
    return {
        name: _plain(attribute.default)
        for name, attribute in spec.attributes.items()
        if attribute.has_default
    }


def _plain(value: object) -> object:
    """A value that is equal to others that say the same: attributes have floats of 32 bits."""
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    return float(np.float32(value)) if isinstance(value, float) else value


def write_model_suite(
    path: Path, made: Sequence[CallCases], options: Mapping[str, Any], chains: Sequence[Case] = ()
) -> str:
    """Write the cases of calls as a suite, to a folder or to a `.zip`; returns its digest.

    Ids of cases have the word of their call, `call_<key>`; node tests keep their own. The facts of the
    manifest say under `calls` what `CallCases` says of each call that has cases. `options` go into the
    manifest as they are. `chains` are cases of nodes in a row, each of another id. Raises NothingRan where
    there is no case at all, UserError where the place cannot be written.
    """
    cases = {
        str(case.id): case for call_cases in made for case in (*call_cases.cases, *call_cases.node_tests)
    }
    cases |= {str(case.id): case for case in chains}
    if not cases:
        raise NothingRan(
            "none of the model's calls has a case",
            got="; ".join(call_cases.not_covered.text for call_cases in made if call_cases.not_covered)[:500]
            or "no calls",
        )
    by_operator: dict[OperatorName, list[Case]] = defaultdict(list)
    for case in cases.values():
        by_operator[case.operator].append(case)
    parts = [_part(operator, own) for operator, own in sorted(by_operator.items())]
    facts = {
        "operators": {str(part.operator): part.facts for part in parts if part.facts},
        "calls": {
            call_cases.key: _call_facts(call_cases)
            for call_cases in made
            if call_cases.cases or call_cases.node_tests
        },
    }
    known = known_causes([part.operator for part in parts], ())
    chosen = {"operators": sorted(str(part.operator) for part in parts), **options}
    return write_suite_of_parts(path, parts, facts, chosen, known)


def _part(operator: OperatorName, cases: Sequence[Case]) -> SuitePart:
    if operator not in referenced_operators():
        return make_part(operator, cases, {})
    # Calls of a model are no covering array: there are no factors whose combinations could be counted.
    spec = replace(load_rules(operator), factors=(), exclusions=(), interactions=())
    reference = find_operator(operator, spec.reference_module)
    levels = DeclaredLevels(open_space(load_spec(operator)))
    workshop = Workshop(spec, reference, levels, Options())
    workshop.cases = {case.id.digest: case for case in cases}
    return make_part(operator, cases, operator_facts(workshop))


def _call_facts(made: CallCases) -> dict[str, Any]:
    return {
        "operator": str(made.call.operator),
        "nodes": [node.place for node in made.call.nodes],
        "fixed": dict(made.fixed),
        "given_up": list(made.given_up),
        "varied": {name: list(levels) for name, levels in made.varied.items()},
        "pairs": made.pairs,
        "covered_pairs": made.covered_pairs,
        "forms": list(made.forms),
        "node_tests": [str(node_test.id) for node_test in made.node_tests],
    }
