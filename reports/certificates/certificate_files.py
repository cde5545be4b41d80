"""Certificates on disk: a bare statement, or an envelope with a signature over one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.suite.canonical import canonical_json
from opcert.vocabulary.errors import Place, UserError, unreadable
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.strict_json import parse_json
from opcert.vocabulary.whole_files import write_bytes
from reports.certificates.certificate import PREDICATE_TYPE, STATEMENT_TYPE, Certificate
from reports.certificates.signing import Envelope, is_envelope, read_envelope, sign

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_LARGEST = 256 << 20
_STATEMENT = {"_type", "subject", "predicateType", "predicate"}


@dataclass(frozen=True)
class CertificateFile:
    """A certificate as it was read; `envelope` is None where it is not signed.

    `canonical` says whether the file has the very bytes that would be written for what it states.
    """

    path: Path
    statement: Mapping[str, Any]
    envelope: Envelope | None
    canonical: bool

    @property
    def predicate(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.statement["predicate"]
        return found


def write_certificate(certificate: Certificate, path: Path, key: Ed25519PrivateKey | None = None) -> Path:
    """Write a certificate by rename, signed where there is a key; UserError where that cannot be done."""
    if key is None:
        return write_bytes(path, canonical_json(certificate.statement) + b"\n")
    return write_bytes(path, sign(canonical_json(certificate.statement), key).to_bytes())


def read_certificate(path: Path) -> CertificateFile:
    """Read a certificate; raises UserError where the file holds none."""
    try:
        raw = read_regular(path, _LARGEST)
    except OSError as error:
        raise unreadable("the certificate", path, error, "Make one with `opcert certify`.") from error
    document = _object(path, raw)
    if not is_envelope(document):
        return CertificateFile(
            path, _statement(path, document), None, raw == canonical_json(document) + b"\n"
        )
    try:
        envelope = read_envelope(document)
    except ValueError as error:
        raise _none(path, str(error)) from error
    statement = _statement(path, _object(path, envelope.payload))
    canonical = raw == envelope.to_bytes() and envelope.payload == canonical_json(statement)
    return CertificateFile(path, statement, envelope, canonical)


def _object(path: Path, raw: bytes) -> dict[str, Any]:
    try:
        found = parse_json(raw)
    except ValueError as error:
        raise _none(path, str(error)) from error
    if not isinstance(found, dict):
        raise _none(path, f"JSON of a {type(found).__name__}")
    return found


def _statement(path: Path, document: dict[str, Any]) -> dict[str, Any]:
    odd = sorted(set(document) ^ _STATEMENT)
    if odd:
        raise _none(path, f"a statement with other keys, or without: {', '.join(odd)}")
    if document["_type"] != STATEMENT_TYPE or document["predicateType"] != PREDICATE_TYPE:
        raise _none(path, f"a statement of type {document['predicateType']!r}")
    if not isinstance(document["predicate"], dict) or not isinstance(document["subject"], list):
        raise _none(path, "a statement without subject or predicate")
    return document


def _none(path: Path, got: str) -> UserError:
    return UserError(
        "not a certificate", got=got, expected=f"a statement {PREDICATE_TYPE}", where=Place(str(path))
    )
