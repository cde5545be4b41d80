"""What `--profile` names: a profile with every operator version that it demands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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
