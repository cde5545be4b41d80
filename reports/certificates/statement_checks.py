"""The statement of a certificate and what lies beside it, made anew from record, suite and profile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.names import OperatorName
from reports.certificates.beside import find_wrong_files
from reports.certificates.certificate import Certificate, make_certificate
from reports.certificates.certificate_files import CertificateFile
from reports.certificates.differences import find_differences
from reports.certificates.evidence import Evidence
from reports.certificates.profile_checks import check_profile, read_stated_profile, tell_waivers
from reports.certificates.verified import Verification
from reports.gates.profile_evaluation import evaluate
from reports.gates.profiles import Profile
from reports.results.case_results import Results
from reports.results.measured import VersionTrust
from reports.results.standing import OWN, SuiteStanding
from reports.results.told_facts import items, mapping, text
from reports.text.phrasing import count, first_line, parse_moment, plural

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
        unmeasured = _stated_scores(predicate, results) if standing.kind == "released" else {}
        results = replace(results, measured={**results.measured, **unmeasured})
        anew = make_certificate(results, profile, issued, standing, "here" if here else "elsewhere")
    except (OpcertError, ValueError) as error:
        found.problems.append(f"the statement cannot be made from this record: {first_line(error)}")
        return
    differences = list(find_differences(predicate, anew.statement["predicate"], ignored=("digest",)))
    differences += _different_subjects(certificate.statement["subject"], anew.statement["subject"])
    found.problems += [f"stated otherwise than the record shows: {each}" for each in differences]
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
