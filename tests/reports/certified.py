"""A run of a fake runtime, its suite and certificate in one folder, and the ways in which people tamper."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from conformance.recording.records import read_record
from conformance.recording.rows import Result, case_verdicts, count_verdicts
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.suites import Suite, open_suite
from opcert.commands.suite_standing import find_standing
from reports.certificates.certificate import make_certificate, statement_digest
from reports.certificates.certificate_files import write_certificate
from reports.certificates.verification import Evidence, Verification, verify_certificate
from reports.gates.profiles import Profile
from reports.results.case_results import put_together
from tests.conformance.samples import ECHO, echo_runtime, make_case, make_suite, sample

DAY = date(2100, 1, 1)
"""The day of every certificate here, and of its verification: after any run of these tests."""
WAIVED = [
    {
        "cases": "org.example/Echo-1",
        "reason": "known",
        "link": "https://example.org/1",
        "expires": "2100-06-01",
    }
]
PROFILE: dict[str, Any] = {
    "profile": "echo",
    "description": "every deed, waived",
    "operators": [str(ECHO)],
    "unsupported": "case",
    "waivers": WAIVED,
}
Row = dict[str, Any]


@dataclass(frozen=True)
class Certified:
    """Where a suite, a record and a certificate lie."""

    folder: Path

    @property
    def record(self) -> Path:
        return self.folder / "run.jsonl"

    @property
    def certificate(self) -> Path:
        return self.folder / "certificate.json"

    @property
    def suite(self) -> Path:
        return self.folder / "suite"

    @property
    def key(self) -> Path:
        return self.folder / "key.pem"

    @property
    def public_key(self) -> Path:
        return self.folder / "key.pub"

    def copy(self, folder: Path) -> Certified:
        shutil.copytree(self.folder, folder)
        return Certified(folder)

    def certify(
        self, *, profile: dict[str, Any] | None = None, on: date = DAY, key: Path | None = None
    ) -> None:
        """Make the certificate anew, of what the record says now."""
        from reports.certificates.certificate_files import load_private_key

        with open_suite(self.suite) as suite:
            results = put_together(suite, read_record(self.record))
            demanded = Profile.model_validate(PROFILE if profile is None else profile)
            certificate = make_certificate(results, demanded, on, find_standing(suite))
        write_certificate(certificate, self.certificate, None if key is None else load_private_key(key))

    def restate(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Change the unsigned statement, with a new digest of its own."""
        statement = json.loads(self.certificate.read_text())
        change(statement)
        statement["predicate"]["digest"] = {"sha256": statement_digest(statement)}
        self.certificate.write_bytes(canonical_json(statement) + b"\n")

    def claim_record(self) -> None:
        """Have the certificate name the record as it is now."""
        digest = sha256(self.record.read_bytes())
        self.restate(lambda statement: statement["subject"][2]["digest"].update(sha256=digest))

    def rewrite(
        self,
        rows: Callable[[list[Row]], list[Row]] = lambda found: found,
        footer: Callable[[Row], None] = lambda found: None,
        header: Callable[[Row], None] = lambda found: None,
    ) -> None:
        """Change the record, with counts and digest that fit."""
        first, *middle, last = (json.loads(line) for line in self.record.read_text().splitlines())
        header(first)
        middle = rows(middle)
        lines = [canonical_json(each) + b"\n" for each in middle]
        verdicts = case_verdicts(Result.from_json(each) for each in middle)
        last.update(
            rows=len(middle), digest=sha256(b"".join(lines)), counts=count_verdicts(verdicts.values())
        )
        footer(last)
        self.record.write_bytes(
            b"".join([canonical_json(first) + b"\n", *lines, canonical_json(last) + b"\n"])
        )

    def verify(self, *, key: Path | None = None, on: date = DAY, suite: Suite | None = None) -> Verification:
        """Verify without a command line; raises UserError where a file cannot be read at all."""
        from reports.certificates.certificate_files import load_public_key, read_certificate

        public = None if key is None else load_public_key(key)
        read = read_certificate(self.certificate)
        record = read_record(self.record)
        if suite is not None:
            return verify_certificate(read, Evidence(record, suite, public, find_standing(suite), on))
        with open_suite(self.suite) as opened:
            return verify_certificate(read, Evidence(record, opened, public, find_standing(opened), on))


def problems(found: Verification) -> str:
    return "\n".join(found.problems)


def pass_everything(rows: list[Row]) -> list[Row]:
    for row in rows:
        if row["verdict"] == "mismatch":
            row.update(verdict="pass", worst=None)
    return rows


def make_key(private: Path, public: Path) -> None:
    key = Ed25519PrivateKey.generate()
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


def make_certified(folder: Path, *, steady: bool = False) -> Certified:
    """A run of every case twice, certified under a profile that waives every failing one.

    One that is steady has every kind of verdict; in another one, one case is answered differently each time:
    a fault, which no waiver covers.
    """
    cases = [make_case("echo")]
    if steady:
        cases += [make_case(do) for do in ("ulp", "zero", "raise", "unsupported", "SIGSEGV", "twice", "text")]
        cases += [make_case("zero", given=sample(1, (40, 40)), seed=9)]
        cases += [make_case("raise", seed=30, family="invalid", demand="refuse", valid_case=cases[0])]
        cases += [make_case("echo", seed=31, family="survival", demand="survive")]
    else:
        cases += [make_case("differs_by_call", seed=5)]
    make_suite(folder, cases)
    made = Certified(folder)
    with open_suite(made.suite) as suite:
        options = RunOptions(repeat=2, identify=True)
        run_suite(suite, find_runtime(echo_runtime()), made.record, options)
    make_key(made.key, made.public_key)
    made.certify()
    return made
