"""How the cases of a suite differ from those of the released one, operator version by operator version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.suite.cases import Case
from conformance.suite.goldens import write_golden
from conformance.suite.kept_parts import part_of_digest
from conformance.suite.properties import HasType
from conformance.suite.suite_parts import SuitePart
from conformance.suite.suites import Suite
from generator.asking.named_operators import referenced_operators
from generator.making.operators.workshop import Options
from generator.making.suites.cache import PROCESSES
from generator.making.suites.lock import Lock
from generator.making.suites.suite_making import make_parts
from opcert.commands.terminal import note
from opcert.vocabulary.names import CaseId, OperatorName
from reports.results.standing import Departure
from reports.text.phrasing import plural


def find_departures(suite: Suite, released: Lock) -> tuple[Departure, ...]:
    """The operator versions of which a suite has not the released cases, in the order of the released suite.

    The released cases of a version are those of the part whose digest the lock has: one of the user's cache,
    or one that is made now. Where what is here makes another part, nobody knows them: then every case of the
    suite counts as one that expects something else. What a case expects is worked out from its own bytes,
    whatever the manifest says of it.
    """
    digests = suite.part_digests()
    ids: dict[OperatorName, list[str]] = {operator: [] for operator in digests}
    for each in suite.case_ids:
        ids[CaseId.parse(each).operator].append(each)
    lines = {OperatorName.parse(name): line for name, line in released.versions.items()}
    differing = [each for each in digests if each in lines and digests[each] != lines[each].digest]
    parts = _released_parts({each: lines[each].digest for each in differing})
    found = []
    for operator in dict.fromkeys([*lines, *digests]):
        known, own = lines[operator].cases if operator in lines else 0, len(ids.get(operator, ()))
        if operator in parts:
            found.append(_departure_from(parts[operator], map(suite.case, ids[operator])))
        elif operator in differing:
            otherwise = min(own, known)
            found.append(Departure(str(operator), otherwise, known - otherwise, own - otherwise))
        elif operator not in digests or operator not in lines:
            found.append(Departure(str(operator), 0, known, own))
    return tuple(each for each in found if each.otherwise or each.left_out or each.beyond)


def _released_parts(digests: Mapping[OperatorName, str]) -> dict[OperatorName, SuitePart]:
    """The parts of operator versions that have these digests, as far as they are kept or can be made."""
    kept = {operator: part_of_digest(operator, digest) for operator, digest in digests.items()}
    found = {operator: part for operator, part in kept.items() if part is not None}
    lacking = [each for each in referenced_operators() if each in kept and each not in found]
    if lacking:
        note(f"making the released cases of {plural(len(lacking), 'operator')}")
        for made in make_parts(lacking, Options(), processes=PROCESSES, keep=True):
            if made.part.digest == digests[made.part.operator]:
                found[made.part.operator] = made.part
    return found


def _departure_from(part: SuitePart, cases: Iterable[Case]) -> Departure:
    """How cases of an operator version differ from those of its released part."""
    ids = (CaseId.parse(entry["id"]) for entry in part.entries)
    released = {each.digest: entry for each, entry in zip(ids, part.entries, strict=True)}
    same = otherwise = beyond = 0
    for case in cases:
        entry = released.get(case.id.digest)
        if entry is None:
            beyond += 1
        elif _is_released(case, entry["id"], entry["expectation"]):
            same += 1
        else:
            otherwise += 1
    return Departure(str(part.operator), otherwise, len(released) - same - otherwise, beyond)


def _is_released(case: Case, name: str, expectation: str) -> bool:
    """Whether a case is the released one of its call: the call that its id names, and of its family.

    Its element type must be one that it has.
    """
    if case.id.digest != case.call_digest() or str(case.id) != name:
        return False
    types = {each.element_type for _, each in case.inputs if each is not None}
    types |= {each.expected.element_type for one in case.expectations for each in one.outputs}
    types |= {each.element_type for each in case.properties if isinstance(each, HasType)}
    if types and case.element_type not in types:
        return False
    return write_golden(case)[1] == expectation
