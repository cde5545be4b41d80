"""The operator versions of one of ONNX's opsets, of those that cases can be made of."""

from __future__ import annotations

from collections.abc import Iterable

from generator.asking.named_operators import first_operators, referenced_operators
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import BESIDE_ONNX, OperatorName
from specs.files.spec_folders import OWN_FOLDER, versions_in

DOMAIN = "ai.onnx"
DIALECTS = {"contrib": "com.microsoft", "openvino": "org.openvino", "tensorflow": "org.tensorflow"}
"""Domains whose operators have a suite of their own, by its name; the default has what opcert began with."""
OLDEST = 7
"""Before it operators broadcast in another way, which no declaration says."""


def newest_opset() -> int:
    """The newest opset of which a page of an operator tells."""
    return max(max(versions_in(room), default=0) for room in (OWN_FOLDER / DOMAIN).iterdir() if room.is_dir())


def operators_of_opset(opset: int) -> list[OperatorName]:
    """The operators that have a reference, in order: ONNX's in the versions in force, others in their newest.

    Those of the suites of dialects are in none of these, but for what opcert began with.
    Raises UserError for an opset of which nothing is known.
    """
    newest = newest_opset()
    if not OLDEST <= opset <= newest:
        raise UserError("an opset without cases", got=str(opset), expected=f"{OLDEST} to {newest}")
    known = frozenset(outside_dialects(referenced_operators()))
    found = newest_versions(each for each in known if each.domain != DOMAIN)
    for name in {each.name for each in known if each.domain == DOMAIN}:
        before = [version for version in versions_in(OWN_FOLDER / DOMAIN / name) if version <= opset]
        operator = OperatorName(DOMAIN, name, max(before, default=0))
        if operator in known:
            found.append(operator)
    return sorted(found)


def default_operators() -> list[OperatorName]:
    """The operators of the default suite, in order: each that has a reference, in its newest version."""
    return operators_of_opset(newest_opset())


def operators_of_dialect(name: str) -> list[OperatorName]:
    """The operators of a dialect that have a reference, in order, each in its newest version."""
    return newest_versions(each for each in referenced_operators() if _domain_of(each) == DIALECTS[name])


def outside_dialects(operators: Iterable[OperatorName]) -> list[OperatorName]:
    """Those of some operators that the suite of no dialect has, or that opcert began with."""
    first = frozenset(first_operators())
    return [each for each in operators if _domain_of(each) not in DIALECTS.values() or each in first]


def _domain_of(operator: OperatorName) -> str:
    """The domain whose dialect an operator is of: one that ONNX Runtime registers as ONNX's is its own."""
    return DIALECTS["contrib"] if operator == BESIDE_ONNX else operator.domain


def newest_versions(operators: Iterable[OperatorName]) -> list[OperatorName]:
    """Of each operator the newest of some versions, in order."""
    by_version = sorted(operators, key=lambda operator: operator.since_version)
    newest = {(operator.domain, operator.name): operator for operator in by_version}
    return sorted(newest.values())
