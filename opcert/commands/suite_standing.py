"""Whose suite it is that a certificate is about: held against the lock of the one that opcert carries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from conformance.suite.cases import Case
from conformance.suite.goldens import write_golden
from conformance.suite.kept_parts import part_of_digest
from conformance.suite.properties import HasType
from conformance.suite.suite_parts import SuitePart
from conformance.suite.suites import Suite
from generator.asking.named_operators import referenced_operators
from generator.making.operators.named_suites import operators_named
from generator.making.operators.workshop import Options
from generator.making.suites.cache import PROCESSES
from generator.making.suites.derived_suite import derived_part
from generator.making.suites.lock import Lock, read_lock
from generator.making.suites.suite_making import make_parts
from opcert.commands.terminal import note
from opcert.vocabulary.names import DEFAULT_SUITE, CaseId, OperatorName
from reports.results.standing import Departure, Standing, SuiteStanding, tell_departures
from reports.text.phrasing import count, plural


def find_departures(suite: Suite, released: Lock) -> tuple[Departure, ...]:
    """The operator versions of which a suite has not the released cases, in the order of the released suite.

    The released cases of a version are those of the part whose digest the lock has: one of the user's cache,
    or one that is made now. Where what is here makes another part, nobody knows them: then every case of the
    suite counts as one that expects something else. What a case expects is worked out from its own bytes,
    whatever the manifest says of it. A suite for another arithmetic is held against the released cases as
    they are derived here for that.
    """
    digests = suite.part_digests()
    ids: dict[OperatorName, list[str]] = {operator: [] for operator in digests}
    for case_id in suite.case_ids:
        ids[CaseId.parse(case_id).operator].append(case_id)
    lines = {OperatorName.parse(name): line for name, line in released.versions.items()}
    differing = [digest for digest in digests if digest in lines and digests[digest] != lines[digest].digest]
    parts = _released_parts({operator: lines[operator].digest for operator in differing})
    if not suite.arithmetic.is_own:
        parts = {operator: derived_part(part, suite.arithmetic) for operator, part in parts.items()}
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
    return tuple(
        departure for departure in found if departure.otherwise or departure.left_out or departure.beyond
    )


def _released_parts(digests: Mapping[OperatorName, str]) -> dict[OperatorName, SuitePart]:
    """The parts of operator versions that have these digests, as far as they are kept or can be made."""
    kept = {operator: part_of_digest(operator, digest) for operator, digest in digests.items()}
    found = {operator: part for operator, part in kept.items() if part is not None}
    lacking = [
        referenced_operator
        for referenced_operator in referenced_operators()
        if referenced_operator in kept and referenced_operator not in found
    ]
    if lacking:
        note(f"making the released cases of {plural(len(lacking), 'operator')}")
        for made in make_parts(lacking, Options(), processes=PROCESSES, keep=True):
            if made.part.digest == digests[made.part.operator]:
                found[made.part.operator] = made.part
    return found


def _departure_from(part: SuitePart, cases: Iterable[Case]) -> Departure:
    """How cases of an operator version differ from those of its released part."""
    ids = (CaseId.parse(entry["id"]) for entry in part.entries)
    released = {case_id.digest: entry for case_id, entry in zip(ids, part.entries, strict=True)}
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
    types = {tensor.element_type for _, tensor in case.inputs if tensor is not None}
    types |= {output.expected.element_type for one in case.expectations for output in one.outputs}
    types |= {has_type.element_type for has_type in case.properties if isinstance(has_type, HasType)}
    if types and case.element_type not in types:
        return False
    return write_golden(case)[1] == expectation


_ADOPTED = "adopted"


def find_standing(suite: Suite, lock: Lock | None = None) -> SuiteStanding:
    """What a suite is beside the released ones; raises UserError where their lock cannot be read.

    `part` is a suite of cases of a released one; `changed` one that was made with the options of one and
    differs from it, or that expects something else of a case that it has too. What is none of these is
    somebody's own. Unless the digest is that of a released suite, nothing that a suite says of itself is
    believed.
    """
    released = lock or read_lock()
    name = released.name_of(suite.digest)
    if name is not None:
        text = f"The suite is {_carried(name)}."
        return SuiteStanding("released", text, (), len(suite.case_ids), len(suite.case_ids))
    nearest, beside = _nearest(suite, released)
    found = SuiteStanding("own", "", find_departures(suite, beside), len(suite.case_ids), beside.cases)
    kind, text = _tell(suite, nearest, beside, found)
    if suite.arithmetic.is_own:
        return replace(found, kind=kind, text=text)
    if nearest is not None and not found.departures:
        kind, text = "released", f"The suite is {_carried(nearest)}."
    words = suite.arithmetic.words
    return replace(found, kind=kind, text=f"{text} It is of ONNX with {words}.", arithmetic=words)


def _carried(name: str) -> str:
    named = "" if name == DEFAULT_SUITE else f" as {name}"
    return f"the one that opcert {version('opcert')} carries{named}"


def _nearest(suite: Suite, released: Lock) -> tuple[str | None, Lock]:
    """The released suite that another is held against, and its name where that has its operators and options.

    Where none has, it is the default one, with what the lock knows of the operators beyond it.
    """
    options = _options_of(suite)
    own = {str(CaseId.parse(case_id).operator) for case_id in suite.case_ids}
    if isinstance(options, dict) and isinstance(options.get("operators"), list):
        same = {**released.options, "operators": options["operators"]} == options
        wanted = sorted(map(str, options["operators"]))
        for name in (DEFAULT_SUITE, *released.suites) if same else ():
            if _operators(name, released) == wanted:
                return name, released.of_versions(wanted)
    return None, released.of_versions([*released.default.versions, *sorted(own)])


def _options_of(suite: Suite) -> Any:
    """What a suite says that it was made with, but for the arithmetic that it was derived for afterwards."""
    options = suite.manifest.get("options")
    if not isinstance(options, dict):
        return options
    return {key: value for key, value in options.items() if key not in ("arithmetic", "derived_from")}


def _operators(name: str, released: Lock) -> list[str]:
    if name == DEFAULT_SUITE:
        return sorted(released.default.versions)
    return sorted(map(str, operators_named(name) or ()))


def _tell(suite: Suite, name: str | None, released: Lock, found: SuiteStanding) -> tuple[Standing, str]:
    options = suite.manifest.get("options")
    carried = f"the suite that opcert {version('opcert')} carries"
    if isinstance(options, dict) and _ADOPTED in options:
        shared = f" {plural(found.shared, 'case')} of it stand in {carried} too." if found.shared else ""
        text = f"The suite says that it was adopted from {options[_ADOPTED]}, expectations included.{shared}"
        return "own", text
    if name is not None:
        digest = released.digest if name == DEFAULT_SUITE else released.suites[name]
        return "changed", (
            f"The suite has local changes: beside {_carried(name)}, {tell_departures(found.departures)}. Its "
            f"digest is {suite.digest[:16]}, that of the released one {digest[:16]}; "
            "`opcert generate --check` says what changed."
        )
    otherwise = [departure for departure in found.departures if departure.otherwise]
    if otherwise:
        return "changed", (
            f"The suite has local changes: of the cases that opcert {version('opcert')} carries too, "
            f"{tell_departures([replace(departure, left_out=0, beyond=0) for departure in otherwise])}."
        )
    left_out = count(_left_out(suite, found.departures))
    if found.shared == found.cases > 0:
        return "part", (
            f"The suite is a part of the one that opcert {version('opcert')} carries: {count(found.cases)} "
            f"of its {plural(found.released, 'case')}; {left_out} of the same operators are left out."
        )
    return "own", (
        f"The suite is of the certifier's own choosing: {plural(found.shared, 'case')} of it stand in "
        f"{carried} too, {count(found.cases - found.shared)} do not, and {left_out} of its operators are "
        "left out."
    )


def _left_out(suite: Suite, departures: tuple[Departure, ...]) -> int:
    """How many cases of the operators that a suite has it leaves out."""
    operators = {str(CaseId.parse(case_id).operator) for case_id in suite.case_ids}
    return sum(departure.left_out for departure in departures if departure.operator in operators)
