"""What `--profile` names: a profile with every operator version that it demands."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from opcert.commands.terminal import say
from opcert.vocabulary.errors import UserError
from reports.checked_models.chain_answers import without_chains
from reports.gates.profile_evaluation import evaluate
from reports.gates.profiles import Profile
from reports.overview.headline import runtime_label
from reports.results.case_results import Results

if TYPE_CHECKING:
    from reports.gates.profiles import Profile


def demanded_profile(text: str | None, folders: tuple[Path, ...] = ()) -> Profile | None:
    """The profile of a name or a file; None where none is named.

    Raises UserError or SeveralErrors with the place of each mistake in it.
    """
    if text is None:
        return None
    from reports.gates.profiles import list_profiles, load_profile

    profile = load_profile(text)
    if not (profile.opsets or profile.domains or profile.model or profile.model_sha256 or profile.untested):
        return profile
    # Imported here, because most profiles name their operators.
    from generator.asking.named_operators import known_operators, referenced_operators
    from generator.making.operators.opsets import OLDEST, newest_opset, operators_of_opset
    from reports.gates.profile_settling import KnownOperators, settle

    known = KnownOperators(
        frozenset((*referenced_operators(), *(known_operators(folders) if folders else ()))),
        operators_of_opset,
        range(OLDEST, newest_opset() + 1),
    )
    folder = Path() if text in list_profiles() else Path(text).parent
    return settle(profile, known, folder)


_SHOWN = 20


def meets(profile: Profile, results: Results) -> bool:
    """Whether the run of a model's calls meets a profile; each reason against it is said.

    Operators that the model does not have are not asked for, nor are nodes in a row. Raises UserError where
    it has none of those that the profile names.
    """
    results = without_chains(results) or results
    there = {str(operator) for operator in results.by_operator}
    domains = {f"{operator.domain}::*" for operator in results.by_operator}
    asked = [operator for operator in profile.operators if operator in there or operator in domains]
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
    for reason in found.reasons[:_SHOWN]:
        say(f"  {reason}")
    if len(found.reasons) > _SHOWN:
        say(f"  and {len(found.reasons) - _SHOWN} more")
    return found.met
