"""Whose suite it is that a certificate is about: held against the lock of the one that opcert carries."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version

from conformance.suite.suites import Suite
from generator.making.operators.named_suites import operators_named
from generator.making.suites.lock import Lock, read_lock
from opcert.commands.suite_departures import find_departures
from opcert.vocabulary.names import DEFAULT_SUITE, CaseId
from reports.results.standing import Departure, Standing, SuiteStanding, tell_departures
from reports.text.phrasing import count, plural

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
    return replace(found, kind=kind, text=text)


def _carried(name: str) -> str:
    named = "" if name == DEFAULT_SUITE else f" as {name}"
    return f"the one that opcert {version('opcert')} carries{named}"


def _nearest(suite: Suite, released: Lock) -> tuple[str | None, Lock]:
    """The released suite that another is held against, and its name where that has its operators and options.

    Where none has, it is the default one, with what the lock knows of the operators beyond it.
    """
    options = suite.manifest.get("options")
    own = {str(CaseId.parse(each).operator) for each in suite.case_ids}
    if isinstance(options, dict) and isinstance(options.get("operators"), list):
        same = {**released.options, "operators": options["operators"]} == options
        wanted = sorted(map(str, options["operators"]))
        for name in (DEFAULT_SUITE, *released.suites) if same else ():
            if _operators(name, released) == wanted:
                return name, released.of_versions(wanted)
    return None, released.of_versions([*released.default.versions, *sorted(own)])


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
    otherwise = [each for each in found.departures if each.otherwise]
    if otherwise:
        return "changed", (
            f"The suite has local changes: of the cases that opcert {version('opcert')} carries too, "
            f"{tell_departures([replace(each, left_out=0, beyond=0) for each in otherwise])}."
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
    operators = {str(CaseId.parse(each).operator) for each in suite.case_ids}
    return sum(each.left_out for each in departures if each.operator in operators)
