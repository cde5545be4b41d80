"""The profile of a certificate, held against the one that it is named after or that a reader has."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from opcert.vocabulary.harmless import one_line
from reports.gates.profile_evaluation import ProfileResult
from reports.gates.profiles import Profile, list_profiles, load_profile
from reports.results.told_facts import items, mapping
from reports.text.phrasing import count, listed, plural

_MISSING = object()
_MOST = 20


def find_differences(stated: Any, found: Any, path: str = "", ignored: Collection[str] = ()) -> Iterator[str]:
    """`counts.pass: stated 10, found 9` for each place where the two differ, at most 20.

    `ignored` are places, by their path, that may differ.
    """
    for number, each in enumerate(_each_difference(stated, found, path, frozenset(ignored))):
        if number == _MOST:
            yield "and more"
            return
        yield each


def _each_difference(stated: Any, found: Any, path: str, ignored: frozenset[str]) -> Iterator[str]:
    if path in ignored:
        return
    if isinstance(stated, Mapping) and isinstance(found, Mapping):
        for name in sorted({*map(str, stated), *map(str, found)}):
            below = f"{path}.{name}" if path else name
            yield from _each_difference(stated.get(name, _MISSING), found.get(name, _MISSING), below, ignored)
    elif isinstance(stated, list) and isinstance(found, list) and len(stated) == len(found):
        for number, (one, other) in enumerate(zip(stated, found, strict=True)):
            yield from _each_difference(one, other, f"{path}[{number}]", ignored)
    elif type(stated) is not type(found) or stated != found:
        yield f"{one_line(path)}: stated {_value_text(stated)}, found {_value_text(found)}"


def _value_text(value: Any) -> str:
    if value is _MISSING:
        return "nothing"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return one_line(str(value))


@dataclass(frozen=True)
class ProfileCheck:
    """What came of it, each at most one sentence: it agrees, it does not, or nobody can say."""

    agrees: str | None = None
    differs: tuple[str, ...] = ()
    stated: str | None = None


def read_stated_profile(stated: Mapping[str, Any]) -> Profile | None:
    """The profile that a certificate demands; raises ValueError where it states none that can be read."""
    if not stated:
        return None
    waivers = [
        {name: each for name, each in mapping(waiver).items() if name not in ("expired", "covers")}
        for waiver in items(stated.get("waivers"))
    ]
    try:
        profile = Profile.model_validate({**mapping(stated.get("demands")), "waivers": waivers})
    except ValidationError as error:
        raise ValueError(f"the profile cannot be read: {error.error_count()} mistakes in it") from error
    if not profile.is_settled:
        raise ValueError("the profile cannot be read: it does not say all the operators that it demands")
    return profile


def is_ready_made(profile: Profile) -> bool:
    """Whether a profile is one that opcert brings, under its name."""
    return profile.profile in list_profiles() and not _differences(profile, load_profile(profile.profile))


def check_profile(profile: Profile, given: Profile | None) -> ProfileCheck:
    """Hold a certificate's profile against the one that was given, or the ready-made one of its name."""
    if given is not None:
        differences = _differences(profile, given)
        if not differences:
            return ProfileCheck(agrees=f"the profile {profile.profile} is the one that was given")
        return ProfileCheck(
            differs=tuple(f"another profile than the one given: {difference}" for difference in differences)
        )
    namesake = next((each for each in list_profiles() if _alike(each) == _alike(profile.profile)), None)
    if namesake is None:
        return ProfileCheck(
            stated=f"the profile {profile.profile} is the certifier's own, demands and waivers as the "
            "certificate has them; --profile holds it against a file"
        )
    differences = _differences(profile, load_profile(namesake))
    if not differences:
        return ProfileCheck(agrees=f"the profile {namesake} is the ready-made one")
    return ProfileCheck(
        differs=tuple(
            f"named {namesake}, but not the ready-made one: {difference}" for difference in differences
        )
    )


def tell_waivers(result: ProfileResult, failing: int) -> str | None:
    """How much the profile waives, in a sentence; None where it waives nothing. `failing`: demanded cases."""
    covered = result.waived
    if not covered:
        return None
    widest = [
        waiver.waiver.cases for waiver in result.waivers if failing > 1 and len(waiver.covered) == failing
    ]
    share = len(covered) * 100 / max(result.demanded, 1)
    told = (
        f"WAIVED: {plural(len(covered), 'failing case')} of {count(result.demanded)} that the profile "
        f"{result.profile.profile} demands ({share:.1f} %)"
    )
    if len(covered) == failing:
        told += ", every one that fails"
    return f"{told}; the waiver for {listed(widest)} alone covers them all" if widest else told


def _differences(profile: Profile, other: Profile) -> list[str]:
    return list(find_differences(profile.model_dump(mode="json"), other.model_dump(mode="json")))


def _alike(name: str) -> str:
    """Names that people take for one another: however written, without what cannot be seen."""
    flat = unicodedata.normalize("NFKC", name).casefold()
    return "".join(number for number in flat if number.isalnum())
