"""Verify a certificate: work out its digests, verdicts and counts again."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands.terminal import say
from opcert.vocabulary.names import DEFAULT_SUITE

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from conformance.recording.records import Record
    from conformance.suite.suites import Suite
    from reports.certificates.certificate_files import CertificateFile
    from reports.certificates.verification import Verification
    from reports.gates.profiles import Profile


@click.command("verify")
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option(
    "--run", "record", type=click.Path(path_type=Path), help="The record. Default: the one beside it."
)
@click.option("--suite", "-s", "suite_name", help="The suite. Default: the certified one, where it is kept.")
@click.option(
    "--public-key", "key", type=click.Path(path_type=Path), help="A PEM file with the signer's public key."
)
@click.option(
    "--profile", "profile_name", help="What must have been demanded: a profile's name, or its YAML file."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Lines for people, or one JSON object.",
)
def command(
    certificate: Path,
    record: Path | None,
    suite_name: str | None,
    key: Path | None,
    profile_name: str | None,
    form: str,
) -> int:
    """Verify CERTIFICATE: work out again what it says, from the record, the suite and the profile.

    The exit code is 0 where everything holds, 1 where something does not or could not be checked, and 6 where
    another version of opcert made it, whose rules this one does not have; each check is named. What nobody
    can check is listed as stated, not checked. Without --public-key a signature vouches for nothing,
    whatever keys a certificate carries.
    """
    # Imported here, so that --help does not wait for them.
    from opcert.commands.profile_argument import demanded_profile
    from opcert.vocabulary.harmless import for_json
    from reports.certificates.certificate_files import load_public_key, read_certificate

    profile = demanded_profile(profile_name)
    read = read_certificate(certificate)
    public = load_public_key(key) if key is not None else None
    found = _verify(read, record, suite_name, public, profile)
    if form == "json":
        say(for_json(found.to_json(), indent=1))
    else:
        _print(found)
    return int(found.exit_code)


def _verify(
    read: CertificateFile,
    record: Path | None,
    suite_name: str | None,
    public: Ed25519PublicKey | None,
    profile: Profile | None,
) -> Verification:
    """Hold a certificate against the record and the suite, as far as they are found."""
    from datetime import UTC, datetime

    from opcert.commands.entry_claims import followed_options
    from opcert.commands.operator_facts import find_measured
    from opcert.commands.suite_standing import find_standing
    from reports.certificates.verification import Evidence, verify_certificate

    absent: list[str] = []
    broken: list[str] = []
    run = _find_record(read, record, absent, broken)
    suite = _find_suite(read, suite_name, absent, broken)
    with suite if suite is not None else nullcontext():
        evidence = Evidence(
            run,
            suite,
            public,
            find_standing(suite) if suite is not None else None,
            datetime.now(UTC).date(),
            tuple(absent),
            tuple(broken),
            profile,
            followed_options(),
            find_measured(suite) if suite is not None else {},
        )
        return verify_certificate(read, evidence)


def _find_record(
    certificate: CertificateFile, named: Path | None, absent: list[str], broken: list[str]
) -> Record | None:
    """The record that was named, or `run.jsonl` beside the certificate."""
    from conformance.recording.records import read_record
    from opcert.vocabulary.errors import UserError

    path = named or certificate.path.with_name("run.jsonl")
    if named is None and not path.exists():
        absent.append(f"the record is not at {path}: name it with --run")
        return None
    try:
        return read_record(path)
    except UserError as error:
        broken.append(f"the record cannot be used: {error}")
        return None


def _find_suite(
    certificate: CertificateFile, named: str | None, absent: list[str], broken: list[str]
) -> Suite | None:
    """The suite that was named, or the certified one: kept, or made where it is the released one."""
    from conformance.suite.kept_suites import kept_suite
    from generator.making.suites.lock import read_lock
    from opcert.commands.suite_argument import resolve_suite
    from opcert.vocabulary.errors import UserError
    from reports.results.told_facts import mapping, text

    subjects = certificate.statement["subject"]
    subject = mapping(subjects[1]) if len(subjects) > 1 else {}
    digest = text(mapping(subject.get("digest")).get("sha256"))
    try:
        if named is not None:
            return resolve_suite(named, digest)
        if kept_suite(digest) is not None or read_lock().name_of(digest) is not None:
            return resolve_suite(DEFAULT_SUITE, digest)
    except UserError as error:
        broken.append(f"the suite cannot be used: {error}")
        return None
    absent.append(f"the suite {digest[:16]} is not kept here: name it with --suite")
    return None


def _print(found: Verification) -> None:
    from opcert.vocabulary.harmless import one_line

    lines = [
        *(f"holds: {each}" for each in found.checked),
        *(f"does not hold: {problem}" for problem in found.problems),
        *(f"not checked: {each}" for each in found.unchecked),
        *(f"note: {note}" for note in found.notes),
    ]
    for line in lines:
        say(one_line(line, 600))
    if found.stated:
        say("stated, not checked:")
    for each in found.stated:
        say(f"  {one_line(each, 600)}")
    say(f"certificate: {found.answer}")
