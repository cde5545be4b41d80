"""Whose suite it is that a certificate is about: held against the lock of the one that opcert carries."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

from conformance.suites import Suite
from generator.lock import Lock, OperatorLock, read_lock
from opcert.names import CaseId
from reports.standing import SuiteStanding
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
    options = suite.manifest.get("options")
    if isinstance(options, dict) and _ADOPTED in options:
        return SuiteStanding("own", f"The suite was adopted from {options[_ADOPTED]}, expectations included.")
    if options == released.options:
        return SuiteStanding(
            "changed",
            f"the suite has local changes: its digest is {suite.digest[:16]}, that of the released one "
            f"{released.digest[:16]}; `opcert generate --check` says what changed",
        )
    return _compare_cases(suite, released.operators)


def _compare_cases(suite: Suite, released: Mapping[str, OperatorLock]) -> SuiteStanding:
    operators = set()
    same, beyond = 0, 0
    for text in suite.case_ids:
        operator = str(CaseId.parse(text).operator)
        operators.add(operator)
        known = released[operator].cases.get(text.split("/", 2)[2]) if operator in released else None
        if known is None:
            beyond += 1
        elif not str(suite.entry(text)["expectation"]).startswith(known):  # a lock holds its first digits
            return SuiteStanding(
                "changed",
                f"the suite has local changes: it expects something else of {text} than opcert does",
            )
        else:
            same += 1
    left_out = sum(len(released[each].cases) for each in operators if each in released) - same
    return SuiteStanding(
        "own",
        f"The suite is of the certifier's own choosing: {plural(same, 'case')} of it stand in the suite that "
        f"opcert {version('opcert')} carries too, {beyond} do not, and {left_out} of its operators are "
        "left out.",
    )
