"""A profile and a model: what the profile demands of the operators that the model has."""

from __future__ import annotations

from datetime import UTC, datetime

from opcert.commands.terminal import say
from opcert.vocabulary.errors import UserError
from reports.checked_models.chain_answers import without_chains
from reports.gates.profile_evaluation import evaluate
from reports.gates.profiles import Profile
from reports.overview.headline import runtime_label
from reports.results.case_results import Results

_SHOWN = 20


def meets(profile: Profile, results: Results) -> bool:
    """Whether the run of a model's calls meets a profile; each reason against it is said.

    Operators that the model does not have are not asked for, nor are nodes in a row. Raises UserError where
    it has none of those that the profile names.
    """
    results = without_chains(results) or results
    there = {str(each) for each in results.by_operator}
    domains = {f"{each.domain}::*" for each in results.by_operator}
    asked = [each for each in profile.operators if each in there or each in domains]
    if not asked:
        raise UserError(
            "the model has no operator of the profile",
            got=f"profile {profile.profile}",
            expected=f"one that names some of {', '.join(sorted(there)[:6])}",
        )
    narrowed = profile.model_copy(update={"operators": tuple(asked)})
    found = evaluate(narrowed, results, datetime.now(UTC).date())
    words = "is met" if found.met else "is not met"
    say(f"{runtime_label(results.record)}: profile {profile.profile} {words} for the operators of the model")
    for each in found.reasons[:_SHOWN]:
        say(f"  {each}")
    if len(found.reasons) > _SHOWN:
        say(f"  and {len(found.reasons) - _SHOWN} more")
    return found.met
