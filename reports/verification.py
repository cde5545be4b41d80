"""Whether what a certificate says is so: every digest, verdict, count and waiver worked out again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError

from conformance.records import Record
from conformance.suites import Suite
from opcert.errors import OpcertError
from reports.certificate import file_digest, make_certificate, statement_digest
from reports.certificate_files import CertificateFile
from reports.differences import find_differences
from reports.evaluation import evaluate
from reports.facts import items, mapping, text
from reports.profiles import Profile, list_profiles, load_profile
from reports.rejudging import find_wrong_faults, find_wrong_rows
from reports.results import Results, put_together
from reports.signing import is_signed_by
from reports.standing import OWN, Departure, Standing, SuiteStanding, tell_departures
from reports.text import parse_moment, plural

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_PROSE = ("notTested", "faults", "profile.reasons", "suite.says")
"""Sentences of the opcert that made a certificate; another version may say the same otherwise."""


@dataclass
class Verification:
    """What was checked, what does not hold, what could not be checked, and what else is to be known."""

    checked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether everything was checked and is so."""
        return not self.problems and not self.unchecked


@dataclass(frozen=True)
class Evidence:
    """What a certificate is held against; what is None is not at hand, and `absent` or `broken` says why.

    `standing` is what this opcert says of the suite, `today` the day on which waivers must not have expired.
    """

    record: Record | None
    suite: Suite | None
    key: Ed25519PublicKey | None
    standing: SuiteStanding | None
    today: date
    absent: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


def verify_certificate(certificate: CertificateFile, evidence: Evidence) -> Verification:
    """Check everything that can be; nothing in a certificate makes this raise."""
    found = Verification(problems=list(evidence.broken), unchecked=list(evidence.absent))
    _check_form(certificate, found)
    _check_signature(certificate, evidence.key, found)
    _check_digests(certificate, evidence, found)
    record, suite = evidence.record, evidence.suite
    if record is not None and suite is not None:
        try:
            results = put_together(suite, record)
        except OpcertError as error:
            found.problems.append(f"record and suite do not belong together: {error}")
        else:
            _check_rows(results, found)
            _check_statement(certificate, results, evidence, found)
    return found


def _check_form(certificate: CertificateFile, found: Verification) -> None:
    if not certificate.canonical:
        found.problems.append("the file does not have the bytes that are written for what it states")
    stated = mapping(certificate.predicate.get("digest")).get("sha256")
    if stated != statement_digest(dict(certificate.statement)):
        found.problems.append("the statement does not have the digest that it states of itself")
    else:
        found.checked.append("the certificate is whole: its bytes and its digest agree")


def _check_signature(certificate: CertificateFile, key: Ed25519PublicKey | None, found: Verification) -> None:
    envelope = certificate.envelope
    if envelope is None and key is None:
        found.notes.append(
            "unsigned: integrity only. Whoever can rewrite certificate, record and suite together can state "
            "anything"
        )
    elif envelope is None:
        found.problems.append("the certificate is not signed, and a public key was given")
    elif key is None:
        found.notes.append(
            f"signed with the key {envelope.key_id[:16]}, and no public key was given: integrity only"
        )
    elif is_signed_by(envelope, key):
        found.checked.append("the signature is of the public key that was given")
    else:
        found.problems.append("the signature is not of the public key that was given, over these bytes")


def _check_digests(certificate: CertificateFile, evidence: Evidence, found: Verification) -> None:
    stated = [
        text(mapping(mapping(each).get("digest")).get("sha256")) for each in certificate.statement["subject"]
    ]
    if len(stated) != 3:
        found.problems.append(f"there are {len(stated)} subjects, and not runtime, suite and record")
        return
    if evidence.suite is not None:
        _hold("suite", stated[1], evidence.suite.digest, found)
    if evidence.record is not None:
        _hold("record", stated[2], file_digest(evidence.record.path), found)


def _hold(what: str, stated: str, digest: str, found: Verification) -> None:
    if stated == digest:
        found.checked.append(f"the {what} is the certified one: its digest agrees")
    else:
        found.problems.append(f"another {what} was certified: its digest is {stated}, and here {digest}")


def _check_rows(results: Results, found: Verification) -> None:
    problems, skipped = find_wrong_rows(results)
    found.problems += problems + find_wrong_faults(results.record)
    judged = len(results.record.results) - skipped
    if not problems:
        found.checked.append(f"{plural(judged, 'row')} judged again, each as stated")
    if skipped:
        found.notes.append(
            f"{plural(skipped, 'row')} could not be judged again: the outputs are too large to be kept"
        )


def _check_statement(
    certificate: CertificateFile, results: Results, evidence: Evidence, found: Verification
) -> None:
    """Make the statement anew from record and suite, and name every difference."""
    predicate = certificate.predicate
    try:
        issued = date.fromisoformat(text(predicate.get("issued")))
        profile = _profile(mapping(predicate.get("profile")))
        standing = _standing(mapping(predicate.get("suite")))
        anew = make_certificate(results, profile, issued, standing)
    except (OpcertError, ValueError) as error:
        found.problems.append(f"the statement cannot be made from this record: {_first_line(error)}")
        return
    same_version = mapping(predicate.get("verifier")).get("version") == version("opcert")
    if not same_version:
        made_by = text(mapping(predicate.get("verifier")).get("version"))
        found.notes.append(
            f"made by opcert {made_by}, verified by {version('opcert')}: sentences not compared"
        )
    ignored = () if same_version else ("verifier", *_PROSE)
    differences = list(find_differences(predicate, anew.statement["predicate"], ignored=("digest", *ignored)))
    differences += _different_subjects(certificate.statement["subject"], anew.statement["subject"])
    found.problems += [f"stated otherwise than the record shows: {each}" for each in differences]
    if not differences:
        found.checked.append("counts, operators, readings and profile are what record and suite show")
    _check_standing(standing, evidence, same_version, found)
    _check_days(predicate, issued, evidence.today, found)
    if profile is not None:
        _check_profile(
            profile, replace(evidence, standing=standing), results, text(predicate.get("result")), found
        )


def _different_subjects(stated: list[Any], anew: list[Any]) -> Iterator[str]:
    """The record's file may have another name by now; the digests say the rest."""
    yield from find_differences(stated[:2], anew[:2], "subject")
    for each in stated[2:]:
        if set(mapping(each)) != {"name", "digest"} or set(mapping(mapping(each).get("digest"))) != {
            "sha256"
        }:
            yield "subject: more than names and digests"


def _check_standing(
    stated: SuiteStanding, evidence: Evidence, same_version: bool, found: Verification
) -> None:
    known = evidence.standing
    if known is None or (known.kind, known.departures) == (stated.kind, stated.departures):
        found.notes.append(f"suite: {stated.text}")
        return
    said = (
        f"the certificate calls the suite {stated.kind}, with departures from the released one: "
        f"{tell_departures(stated.departures)}; this opcert calls it {known.kind}: {known.text}"
    )
    (found.problems if same_version else found.notes).append(said)


def _check_days(predicate: Mapping[str, Any], issued: date, today: date, found: Verification) -> None:
    finished = parse_moment(text(mapping(predicate.get("run")).get("finished")))
    if issued > today:
        found.problems.append(f"issued on {issued}, which is not yet")
    if finished is not None and issued < finished.date():
        found.problems.append(f"issued on {issued}, before the run ended on {finished.date()}")


def _check_profile(
    profile: Profile, evidence: Evidence, results: Results, result: str, found: Verification
) -> None:
    if profile.profile in list_profiles() and load_profile(profile.profile) != profile:
        found.notes.append(f"the profile {profile.profile} is not the one that this opcert brings")
    if result == "FAILED":
        found.problems.append(f"the profile {profile.profile} is not met, as the certificate says itself")
        return
    now = evaluate(profile, results, evidence.today, evidence.standing or OWN)
    if now.met:
        found.checked.append(f"the profile {profile.profile} is met, with no waiver expired")
    else:
        found.problems += [f"no longer so: {each}" for each in now.reasons]


def _standing(stated: Mapping[str, Any]) -> SuiteStanding:
    """What a certificate says of its suite; raises ValueError where that cannot be read."""
    kind: Standing | None = next(
        (each for each in get_args(Standing) if each == stated.get("standing")), None
    )
    if kind is None:
        raise ValueError(f"no standing of a suite is called {text(stated.get('standing'))!r}")
    departures = []
    for each in map(mapping, items(stated.get("departures"))):
        otherwise, left_out, beyond = (each.get(name) for name in ("otherwise", "leftOut", "beyond"))
        if not (isinstance(otherwise, int) and isinstance(left_out, int) and isinstance(beyond, int)):
            raise ValueError("the numbers of cases that are not the released ones cannot be read")
        departures.append(Departure(text(each.get("operator")), otherwise, left_out, beyond))
    return SuiteStanding(kind, text(stated.get("says")), tuple(departures))


def _profile(stated: Mapping[str, Any]) -> Profile | None:
    """The profile that a certificate demands; raises ValueError where it states none that can be read."""
    if not stated:
        return None
    waivers = [
        {name: each for name, each in mapping(waiver).items() if name not in ("expired", "covers")}
        for waiver in stated.get("waivers") or ()
    ]
    try:
        return Profile.model_validate({**mapping(stated.get("demands")), "waivers": waivers})
    except ValidationError as error:
        raise ValueError(f"the profile cannot be read: {error.error_count()} mistakes in it") from error


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
