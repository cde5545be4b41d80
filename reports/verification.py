"""Whether what a certificate says is so: made anew from suite, record and profile, or named as believed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from conformance.records import Record
from conformance.suites import Suite
from opcert.errors import OpcertError
from reports.believed import find_believed
from reports.beside import find_wrong_files, list_others
from reports.certificate import Certificate, file_digest, make_certificate, statement_digest
from reports.certificate_files import CertificateFile
from reports.differences import find_differences
from reports.evaluation import evaluate
from reports.facts import mapping, text
from reports.profile_checks import check_profile, read_stated_profile, tell_waivers
from reports.profiles import Profile
from reports.record_form import find_odd_lines, find_wrong_days
from reports.record_shape import check_shape
from reports.rejudging import judge_again
from reports.results import Results, put_together
from reports.signing import is_signed_by
from reports.standing import OWN, SuiteStanding
from reports.stated_runtime import is_believed
from reports.text import count, listed, parse_moment, plural
from reports.verified import Verification

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_MOST_NAMED = 20
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Evidence:
    """What a certificate is held against; what is None is not at hand, and `absent` or `broken` says why.

    `standing` is what this opcert says of the suite, `profile` the one that must have been demanded, `today`
    the day on which waivers must not have expired.
    """

    record: Record | None
    suite: Suite | None
    key: Ed25519PublicKey | None
    standing: SuiteStanding | None
    today: date
    absent: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    profile: Profile | None = None


def verify_certificate(certificate: CertificateFile, evidence: Evidence) -> Verification:
    """Check everything that can be; nothing in a certificate makes this raise."""
    found = Verification(problems=list(evidence.broken), unchecked=list(evidence.absent))
    _check_form(certificate, found)
    _check_signature(certificate, evidence.key, found)
    _check_digests(certificate, evidence, found)
    made_by = text(mapping(certificate.predicate.get("verifier")).get("version"))
    if made_by != version("opcert"):
        found.other_version = made_by
        found.notes.append(
            f"made by opcert {made_by}, and this is {version('opcert')}: rows and statement were not looked "
            "at, for they hold by the rules of the opcert that made them"
        )
        return found
    record, suite = evidence.record, evidence.suite
    if record is None or suite is None or evidence.standing is None:
        if not evidence.absent and not evidence.broken:
            found.unchecked.append("rows and statement, for want of record and suite")
    else:
        try:
            check_shape(record)
            results = put_together(suite, record)
            _check_record(results, found)
        except OpcertError as error:
            found.problems.append(f"record and suite do not belong together: {_first_line(error)}")
        else:
            _check_statement(certificate, results, evidence, evidence.standing, found)
    _tell_others(certificate, found)
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
        found.stated.append(
            f"claims to be signed by the key {envelope.key_id[:16]}, which nobody checked: give "
            "--public-key. Integrity only"
        )
        found.but.append("the signature was not checked")
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


def _check_record(results: Results, found: Verification) -> None:
    """Judge its rows again, and say what of it is believed."""
    record = results.record
    again = judge_again(results)
    found.problems += [*find_odd_lines(record), *find_wrong_days(record), *again.problems]
    if not again.problems:
        found.checked.append(f"{plural(again.judged, 'row')} judged again, each as stated")
    for each in again.unchecked[:_MOST_NAMED]:
        found.stated.append(f"not judged again, for want of the outputs: {each}")
    runtime = mapping(record.header.get("runtime"))
    name, release = text(runtime.get("name")), text(runtime.get("version"))
    found.stated.append(
        f"the runtime is {name} {release}, asked for as {text(runtime.get('source'))}, with the packages, "
        "the machine, the times and the options of the run that the record names"
    )
    found.stated.append("what the worker offered, and so what it was not asked, is what the worker said")
    if is_believed(record):
        found.stated.append("there is no table of this runtime's errors: its worker says what is unsupported")
    loaded = (record.footer or {}).get("loaded")
    found.stated.append(
        "which files the runtime ran code from was not recorded"
        if loaded is None
        else f"the runtime ran code from the {plural(len(loaded), 'file')} that the record names"
    )
    for believed in find_believed(results):
        found.stated.append(f"{believed.text}{' (against the runtime)' if believed.against else ''}")


def _check_statement(
    certificate: CertificateFile,
    results: Results,
    evidence: Evidence,
    standing: SuiteStanding,
    found: Verification,
) -> None:
    """Make the statement anew from record, suite and profile, and name every difference."""
    predicate = certificate.predicate
    try:
        issued = date.fromisoformat(text(predicate.get("issued")))
        profile = read_stated_profile(mapping(predicate.get("profile")))
        here = mapping(predicate.get("run")).get("recorded") == "here"
        anew = make_certificate(results, profile, issued, standing, "here" if here else "elsewhere")
    except (OpcertError, ValueError) as error:
        found.problems.append(f"the statement cannot be made from this record: {_first_line(error)}")
        return
    differences = list(find_differences(predicate, anew.statement["predicate"], ignored=("digest",)))
    differences += _different_subjects(certificate.statement["subject"], anew.statement["subject"])
    found.problems += [f"stated otherwise than the record shows: {each}" for each in differences]
    if not differences:
        found.checked.append("counts, operators, readings and profile are what record and suite show")
    found.notes.append(f"suite: {standing.text}")
    found.but += [standing.label] if standing.label else []
    found.stated.append(
        "the run was recorded by the process that certified it"
        if here
        else "the outputs were recorded elsewhere: who certified judged them again, and saw none of it happen"
    )
    _check_days(predicate, issued, evidence.today, found)
    _check_profile(profile, evidence, results, text(predicate.get("result")), found)
    _check_beside(certificate, replace(results, standing=standing), anew, found)


def _different_subjects(stated: list[Any], anew: list[Any]) -> Iterator[str]:
    """The record's file may have another name by now; the digests say the rest."""
    yield from find_differences(stated[:2], anew[:2], "subject")
    for each in stated[2:]:
        if set(mapping(each)) != {"name", "digest"} or set(mapping(mapping(each).get("digest"))) != {
            "sha256"
        }:
            yield "subject: more than names and digests"
        elif _FILE.fullmatch(text(each["name"])) is None:
            yield "subject[2].name: no name of a record's file"


def _check_days(predicate: Mapping[str, Any], issued: date, today: date, found: Verification) -> None:
    finished = parse_moment(text(mapping(predicate.get("run")).get("finished")))
    if issued > today:
        found.problems.append(f"issued on {issued}, which is not yet")
    if finished is not None and issued < finished.date():
        found.problems.append(f"issued on {issued}, before the run ended on {finished.date()}")


def _check_profile(
    profile: Profile | None, evidence: Evidence, results: Results, result: str, found: Verification
) -> None:
    if profile is None:
        if evidence.profile is not None:
            found.problems.append(f"no profile was demanded, and {evidence.profile.profile} was given")
        return
    held = check_profile(profile, evidence.profile)
    found.problems += held.differs
    found.checked += [] if held.agrees is None else [held.agrees]
    found.stated += [] if held.stated is None else [held.stated]
    now = evaluate(profile, results, evidence.today, evidence.standing or OWN)
    failing = sum(
        each.fails and profile.demands(each.operator, each.id.family, each.element_type)
        for each in results.cases
    )
    waived = tell_waivers(now, failing)
    if waived is not None:
        found.notes.insert(0, waived)
        found.but.append(f"{count(len(now.waived))} of {plural(failing, 'failing case')} waived")
    if result == "FAILED":
        found.problems.append(f"the profile {profile.profile} is not met, as the certificate says itself")
    elif now.met:
        found.checked.append(f"the profile {profile.profile} is met, with no waiver expired")
    else:
        found.problems += [f"no longer so: {each}" for each in now.reasons]


def _check_beside(
    certificate: CertificateFile, results: Results, anew: Certificate, found: Verification
) -> None:
    """The page and the badges that lie beside it are what it gives."""
    envelope = certificate.envelope
    key = None if envelope is None else envelope.key_id
    for name, agrees in find_wrong_files(certificate.path.parent, results, anew, key):
        if agrees:
            found.checked.append(f"{name} beside it is what the certificate gives")
        else:
            found.problems.append(f"{name} beside it is not what the certificate gives")


def _tell_others(certificate: CertificateFile, found: Verification) -> None:
    others = list_others(certificate.path.parent)
    if others:
        found.stated.append(f"not looked at, beside the certificate: {listed(others)}")


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
