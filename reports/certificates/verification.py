"""Whether what a certificate says is so: made anew from suite, record and profile, or named as believed."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from opcert.vocabulary.errors import OpcertError
from reports.certificates.believed import find_believed
from reports.certificates.beside import list_others
from reports.certificates.certificate import file_digest, statement_digest
from reports.certificates.certificate_files import CertificateFile
from reports.certificates.evidence import Evidence
from reports.certificates.record_form import find_odd_lines, find_wrong_days
from reports.certificates.record_shape import check_shape
from reports.certificates.rejudging import judge_again
from reports.certificates.signing import is_signed_by
from reports.certificates.stated_runtime import is_believed
from reports.certificates.statement_checks import check_statement
from reports.certificates.verified import Verification
from reports.results.case_results import Results, put_together
from reports.results.told_facts import items, mapping, text
from reports.text.phrasing import first_line, listed, plural

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

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


def _tell_others(certificate: CertificateFile, found: Verification) -> None:
    others = list_others(certificate.path.parent)
    if others:
        found.stated.append(f"not looked at, beside the certificate: {listed(others)}")
