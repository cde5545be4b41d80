"""How the cases of a suite differ from those of the released one, operator version by operator version."""

from __future__ import annotations

from collections import Counter

from conformance.suite.cases import Case
from conformance.suite.goldens import write_golden
from conformance.suite.properties import HasType
from conformance.suite.suites import Suite
from generator.making.lock import Lock
from reports.certificates.standing import Departure


def find_departures(suite: Suite, released: Lock) -> tuple[Departure, ...]:
    """The operator versions of which a suite has not the released cases, in the order of the released suite.

    What a case expects is worked out from its own bytes, whatever the manifest says of it. Of the lock, no
    more is read of the operator versions that the suite does not have than their number of cases.
    """
    same, otherwise, beyond = Counter[str](), Counter[str](), Counter[str]()
    calls: dict[str, dict[str, tuple[str, str]]] = {}
    for case in suite.cases():
        operator = str(case.operator)
        if operator not in calls:
            calls[operator] = _released_calls(released, operator)
        known = calls[operator].get(case.id.digest)
        if known is None:
            beyond[operator] += 1
        elif _is_released(case, *known):
            same[operator] += 1
        else:
            otherwise[operator] += 1
    found = []
    for operator in dict.fromkeys([*released.versions, *beyond]):
        known_cases = released.versions[operator].cases if operator in released.versions else 0
        left_out = known_cases - same[operator] - otherwise[operator]
        if otherwise[operator] or left_out or beyond[operator]:
            found.append(Departure(operator, otherwise[operator], left_out, beyond[operator]))
    return tuple(found)


def _released_calls(released: Lock, operator: str) -> dict[str, tuple[str, str]]:
    """By the digest of its call, name and expectation of each released case of an operator version."""
    if operator not in released.versions:
        return {}
    cases = released.operators[operator].cases
    return {name.rpartition("/")[2].rpartition("-")[2]: (name, each) for name, each in cases.items()}


def _is_released(case: Case, name: str, expectation: str) -> bool:
    """Whether a case is the released one of its call: the call that its id names, and of its family.

    The lock holds the first digits of what it expects; its element type must be one that it has.
    """
    if case.id.digest != case.call_digest():
        return False
    if str(case.id).split("/", 2)[2] != name:
        return False
    types = {each.element_type for _, each in case.inputs if each is not None}
    types |= {each.expected.element_type for one in case.expectations for each in one.outputs}
    types |= {each.element_type for each in case.properties if isinstance(each, HasType)}
    if types and case.element_type not in types:
        return False
    return write_golden(case)[1].startswith(expectation)
