"""Whether a suite has what a profile names, so that a slip of the pen is not taken for an unmet demand."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.suite.suites import Suite
from opcert.vocabulary.errors import Place, SeveralErrors, UserError
from opcert.vocabulary.names import CaseId
from opcert.vocabulary.near_names import near_names
from reports.gates.profiles import Profile

_FEW = 6


def check_names(profile: Profile, suite: Suite) -> None:
    """Raises UserError or SeveralErrors: an operator, or a type of these, that the suite has no case of."""
    types: dict[str, None] = {}
    operators: dict[str, None] = {}
    domains: dict[str, None] = {}
    for each in suite.case_ids:
        case = CaseId.parse(each)
        operators[str(case.operator)] = None
        domains[f"{case.operator.domain}::*"] = None
        if profile.demands_operator(case.operator):
            types[str(suite.entry(each)["element_type"])] = None
    found = [*_missing("operator", profile.operators, [*operators, *domains], suite)]
    if not found:  # the types of an operator that is not there are none
        found += _missing("element type", profile.element_types, types, suite)
    if len(found) == 1:
        raise found[0]
    if found:
        raise SeveralErrors(found)


def _missing(
    what: str, named: str | Iterable[str], there: Iterable[str], suite: Suite
) -> Iterable[UserError]:
    if named == "all":
        return
    known = list(there)
    for each in named:
        if each not in known:
            near = near_names(each, known)
            few = ", ".join(known[:_FEW]) + (", ..." if len(known) > _FEW else "")
            yield UserError(
                f"the suite has no case of the {what} that the profile names",
                got=each,
                expected=f"perhaps {' or '.join(near)}" if near else f"of {few}",
                where=Place(str(suite.path)),
                remedy="Mend the name, or name a suite that has it with -s.",
            )
