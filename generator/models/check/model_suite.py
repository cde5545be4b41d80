"""A suite of the cases of a model's calls, which runs as any suite does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.suite.cases import Case
from conformance.suite.suite_parts import SuitePart, make_part
from conformance.suite.suites import write_suite_of_parts
from generator.asking.named_operators import referenced_operators
from generator.calls.declared.declared_levels import DeclaredLevels
from generator.calls.space.space import open_space
from generator.making.operators.discovery import load_rules
from generator.making.operators.workshop import Options, Workshop
from generator.making.suites.manifest_facts import operator_facts
from generator.making.suites.suite_making import known_causes
from generator.models.check.call_cases import CallCases
from opcert.vocabulary.errors import NothingRan
from opcert.vocabulary.names import OperatorName
from reference.registry import find_operator
from specs.files.library import load_spec


def write_model_suite(
    path: Path, made: Sequence[CallCases], options: Mapping[str, Any], chains: Sequence[Case] = ()
) -> str:
    """Write the cases of calls as a suite, to a folder or to a `.zip`; returns its digest.

    Ids of cases have the word of their call, `call_<key>`; node tests keep their own. The facts of the
    manifest say under `calls` what `CallCases` says of each call that has cases. `options` go into the
    manifest as they are. `chains` are cases of nodes in a row, each of another id. Raises NothingRan where
    there is no case at all, UserError where the place cannot be written.
    """
    cases = {str(case.id): case for each in made for case in (*each.cases, *each.node_tests)}
    cases |= {str(case.id): case for case in chains}
    if not cases:
        raise NothingRan(
            "none of the model's calls has a case",
            got="; ".join(each.not_covered.text for each in made if each.not_covered)[:500] or "no calls",
        )
    by_operator: dict[OperatorName, list[Case]] = defaultdict(list)
    for case in cases.values():
        by_operator[case.operator].append(case)
    parts = [_part(operator, own) for operator, own in sorted(by_operator.items())]
    facts = {
        "operators": {str(each.operator): each.facts for each in parts if each.facts},
        "calls": {each.key: _call_facts(each) for each in made if each.cases or each.node_tests},
    }
    known = known_causes([each.operator for each in parts], ())
    chosen = {"operators": sorted(str(each.operator) for each in parts), **options}
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
        "nodes": [each.place for each in made.call.nodes],
        "fixed": dict(made.fixed),
        "given_up": list(made.given_up),
        "varied": {name: list(levels) for name, levels in made.varied.items()},
        "pairs": made.pairs,
        "covered_pairs": made.covered_pairs,
        "forms": list(made.forms),
        "node_tests": [str(each.id) for each in made.node_tests],
    }
