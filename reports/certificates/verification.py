"""Whether what a certificate says is so: made anew from suite, record and profile, or named as believed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from conformance.recording.records import Record
from conformance.suite.suites import Suite
from opcert.vocabulary.errors import ExitCode, OpcertError
from opcert.vocabulary.names import OperatorName
from reports.certificates.certificate import (
    Certificate,
    file_digest,
    find_believed,
    make_certificate,
    statement_digest,
)
from reports.certificates.certificate_files import CertificateFile, is_signed_by
from reports.certificates.certificate_page import find_wrong_files, list_others
from reports.certificates.profile_checks import (
    check_profile,
    find_differences,
    read_stated_profile,
    tell_waivers,
)
from reports.certificates.record_shape import check_shape, find_odd_lines, find_wrong_days, is_believed
from reports.certificates.rejudging import judge_again
from reports.gates.profile_evaluation import evaluate
from reports.gates.profiles import Profile
from reports.results.case_results import Followed, Results, put_together
from reports.results.standing import OWN, SuiteStanding, VersionTrust
from reports.results.told_facts import items, mapping, text
from reports.text.phrasing import count, first_line, listed, parse_moment, plural

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


_COUNTS = ("made", "killed", "equivalent", "survived", "by_node_tests")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


def check_statement(
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
        unmeasured = _stated_scores(predicate, results) if standing.is_released else {}
        results = replace(results, measured={**results.measured, **unmeasured})
        anew = make_certificate(results, profile, issued, standing, "here" if here else "elsewhere")
    except (OpcertError, ValueError) as error:
        found.problems.append(f"the statement cannot be made from this record: {first_line(error)}")
        return
    # Certificates of before do not say what the expected outputs are verified by.
    unsaid = () if "verified" in predicate else ("verified",)
    differences = list(find_differences(predicate, anew.statement["predicate"], ignored=("digest", *unsaid)))
    differences += _different_subjects(certificate.statement["subject"], anew.statement["subject"])
    found.problems += [f"stated otherwise than the record shows: {difference}" for difference in differences]
    if not differences:
        found.checked.append("counts, operators, readings and profile are what record and suite show")
    if unmeasured:
        found.stated.append(
            f"how many planted faults the cases of {plural(len(unmeasured), 'operator version')} find: their "
            "mutation score was not measured here"
        )
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


def _stated_scores(predicate: Mapping[str, Any], results: Results) -> dict[OperatorName, VersionTrust]:
    """What a certificate states of planted faults where this opcert knows nothing of them, and it adds up."""
    lines = map(mapping, items(predicate.get("operators")))
    stated = {text(line.get("operator")): mapping(line.get("adequacy")) for line in lines}
    found = {}
    for operator, known in results.measured.items():
        score = stated.get(str(operator), {})
        if "mutants" not in known.adequacy and _adds_up(score):
            mutants = {name: figure for name, figure in score.items() if name != "cases"}
            found[operator] = replace(known, adequacy={"mutants": mutants, "cases": score["cases"]})
    return found


def _adds_up(score: Mapping[str, Any]) -> bool:
    """Whether figures are those of planted faults: whole numbers of which the score is the share."""
    counts = [score.get(name) for name in _COUNTS]
    numbers = [count for count in counts if type(count) is int and count >= 0]
    if len(numbers) < len(counts) or score.keys() != {*_COUNTS, "score", "cases"}:
        return False
    made, killed, equivalent, survived, by_node_tests = numbers
    left = made - equivalent
    digest = score["cases"]
    if not isinstance(digest, str) or _DIGEST.fullmatch(digest) is None or by_node_tests > left:
        return False
    return killed + survived == left and score["score"] == (killed / left if left else 1.0)


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
        told = f"issued on {issued}, which is not yet by this machine's clock"
        remedy = "set it right, or certify again where the clock was wrong of whoever certified"
        found.problems.append(f"{told}: {remedy}")
    if finished is not None and issued < finished.date():
        told = f"issued on {issued}, before the run ended on {finished.date()}"
        found.problems.append(f"{told}: certify again, by a clock that is right")


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
    waived = tell_waivers(now, now.failing)
    if waived is not None:
        found.notes.insert(0, waived)
        found.but.append(f"{count(len(now.waived))} of {plural(now.failing, 'failing case')} waived")
    if result == "FAILED":
        found.problems.append(f"the profile {profile.profile} is not met, as the certificate says itself")
    elif now.met:
        found.checked.append(f"the profile {profile.profile} is met, with no waiver expired")
    else:
        found.problems += [f"no longer so: {reason}" for reason in now.reasons]


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


@dataclass
class Verification:
    """What came of verifying.

    `checked` is so, `problems` are not, `unchecked` could not be looked at for want of something. `stated` is
    said by the certificate or the record, and nobody can check it: it is believed or not. `notes` are to be
    known as well. `other_version` is the opcert whose rules it would take, where that is another one. `but`
    is what must be said in one breath with `holds`.
    """

    checked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    stated: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    other_version: str | None = None
    but: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether everything that can be checked was checked and is so."""
        return not self.problems and not self.unchecked and self.other_version is None

    @property
    def exit_code(self) -> ExitCode:
        """What does not hold comes before what another version has to say."""
        if self.problems or self.holds:
            return ExitCode.HOLDS if self.holds else ExitCode.DOES_NOT_HOLD
        return ExitCode.DOES_NOT_HOLD if self.other_version is None else ExitCode.OTHER_VERSION

    @property
    def answer(self) -> str:
        """All of it in a few words."""
        if self.problems:
            return "does not hold"
        if self.other_version is not None:
            return f"cannot be verified by this version: take opcert {self.other_version}"
        if self.unchecked:
            return "not verified"
        return "; ".join(["holds", *self.but])

    def to_json(self) -> dict[str, Any]:
        names = ("answer", "holds", "checked", "problems", "unchecked", "stated", "notes", "other_version")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Evidence:
    """What a certificate is held against; what is None is not at hand, and `absent` or `broken` says why.

    `standing` is what this opcert says of the suite, `profile` the one that must have been demanded, `today`
    the day on which waivers must not have expired; `followed` which readings runtimes were seen to follow,
    `measured` what this opcert knows of the suite's cases.
    """

    record: Record | None
    suite: Suite | None
    key: Ed25519PublicKey | None
    standing: SuiteStanding | None
    today: date
    absent: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    profile: Profile | None = None
    followed: Followed = field(default_factory=dict)
    measured: Mapping[OperatorName, VersionTrust] = field(default_factory=dict)


_MOST_NAMED = 20


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
            # Waivers alone may speak of features; judging holds what the manifest says against each case.
            waived = items(mapping(certificate.predicate.get("profile")).get("waivers"))
            results = replace(
                put_together(suite, record, bare=not waived),
                followed=evidence.followed,
                measured=evidence.measured,
            )
            _check_record(results, found)
        except OpcertError as error:
            found.problems.append(f"record and suite do not belong together: {first_line(error)}")
        else:
            check_statement(certificate, results, evidence, evidence.standing, found)
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
        f"the runtime is {name} {release}, requested as {text(runtime.get('source'))}, with the packages, "
        "the machine, the times and the options of the run that the record names"
    )
    found.stated.append("what the worker offered, and so what it was not tested on, is what the worker said")
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


def _tell_others(certificate: CertificateFile, found: Verification) -> None:
    others = list_others(certificate.path.parent)
    if others:
        found.stated.append(f"not looked at, beside the certificate: {listed(others)}")
