"""Whether a suite has what a profile names, so that a slip of the pen is not taken for an unmet demand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.suite.suites import Suite
from opcert.vocabulary.errors import Place, UserError, raise_together
from opcert.vocabulary.names import CaseId
from opcert.vocabulary.near_names import near_names
from reports.gates.profiles import Profile
from reports.text.phrasing import plural

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
    found = [*_missing_operators(profile, [*operators, *domains], suite)]
    if not found and profile.element_types != "all":  # the types of an operator that is not there are none
        key = "types" if profile.has_key("types") else "element_types"
        for number, each in enumerate(profile.element_types):
            if each not in types:
                found.append(_missing("element type", each, types, suite, profile.place(key, number)))
    raise_together(found)


def _missing_operators(profile: Profile, there: Iterable[str], suite: Suite) -> Iterator[UserError]:
    """An error for each operator that the profile's own words name; one for all that other keys mean."""
    known = list(there)
    lacking = [each for each in profile.operators if each not in known]
    if profile.is_written:
        for each in lacking:
            where = profile.place("operators", profile.operators.index(each))
            yield _missing("operator", each, known, suite, where)
    elif lacking:
        yield UserError(
            f"the suite {suite.path} lacks {plural(len(lacking), 'operator')} that the profile means",
            got=", ".join(lacking[:_FEW]) + (", ..." if len(lacking) > _FEW else ""),
            where=profile.place("model" if profile.model else "opsets" if profile.opsets else "domains"),
            remedy="Name a suite that has them with -s, or none.",
        )


def _missing(what: str, name: str, there: Iterable[str], suite: Suite, where: Place | None) -> UserError:
    known = list(there)
    near = near_names(name, known)
    few = ", ".join(known[:_FEW]) + (", ..." if len(known) > _FEW else "")
    return UserError(
        f"the suite {suite.path} has no case of the {what} that the profile names",
        got=name,
        expected=f"perhaps {' or '.join(near)}" if near else f"of {few}",
        where=where,
        remedy="Mend the name, or name a suite that has it with -s.",
    )
