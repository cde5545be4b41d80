"""Whose suite it is that a certificate is about: held against the lock of the one that opcert carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version

from conformance.suites import Suite
from generator.lock import Lock, OperatorLock, read_lock
from opcert.commands.suite_departures import find_departures
from opcert.names import CaseId
from reports.standing import Departure, Standing, SuiteStanding, tell_departures
from reports.text import plural

_ADOPTED = "adopted"


def find_standing(suite: Suite, lock: Lock | None = None) -> SuiteStanding:
    """What a suite is beside the released one; raises UserError where its lock cannot be read.

    `changed` is a suite that was made with the options of the released one and differs from it, or that
    expects something else of a case that the released one has. What is neither that nor the released one is
    somebody's own.
    """
    released = lock or read_lock()
    if suite.digest == released.digest:
        return SuiteStanding("released", f"The suite is the one that opcert {version('opcert')} carries.")
    departures = find_departures(suite, released.operators)
    kind, text = _tell(suite, released, departures)
    return SuiteStanding(kind, text, departures)


def _tell(suite: Suite, released: Lock, departures: tuple[Departure, ...]) -> tuple[Standing, str]:
    options = suite.manifest.get("options")
    if isinstance(options, dict) and _ADOPTED in options:
        return "own", f"The suite was adopted from {options[_ADOPTED]}, expectations included."
    if options == released.options:
        return "changed", (
            f"The suite has local changes: beside the one that opcert {version('opcert')} carries, "
            f"{tell_departures(departures)}. Its digest is {suite.digest[:16]}, that of the released one "
            f"{released.digest[:16]}; `opcert generate --check` says what changed."
        )
    otherwise = [each for each in departures if each.otherwise]
    if otherwise:
        return "changed", (
            f"The suite has local changes: of the cases that opcert {version('opcert')} carries too, "
            f"{tell_departures([replace(each, left_out=0, beyond=0) for each in otherwise])}."
        )
    return _compare_cases(suite, released.operators)


def _compare_cases(suite: Suite, released: Mapping[str, OperatorLock]) -> tuple[Standing, str]:
    operators = set()
    same, beyond = 0, 0
    for text in suite.case_ids:
        operator = str(CaseId.parse(text).operator)
        operators.add(operator)
        known = released[operator].cases.get(text.split("/", 2)[2]) if operator in released else None
        if known is None:
            beyond += 1
        else:
            same += 1
    left_out = sum(len(released[each].cases) for each in operators if each in released) - same
    return "own", (
        f"The suite is of the certifier's own choosing: {plural(same, 'case')} of it stand in the suite that "
        f"opcert {version('opcert')} carries too, {beyond} do not, and {left_out} of its operators are "
        "left out."
    )
