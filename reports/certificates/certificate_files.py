"""Certificates on disk: a bare statement, or a DSSE envelope with an Ed25519 signature over one."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.suite.canonical import canonical_json, sha256
from opcert.vocabulary.errors import Place, UserError, unreadable
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.strict_json import parse_json
from opcert.vocabulary.whole_files import write_bytes
from reports.certificates.certificate import PREDICATE_TYPE, STATEMENT_TYPE, Certificate

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


PAYLOAD_TYPE = "application/vnd.in-toto+json"
_SIGNATURE_BYTES = 64
_KEY_ID = re.compile(r"[0-9a-f]{64}")
_ENVELOPE = {"payload", "payloadType", "signatures"}
_MAKE_ONE = "Make one with `openssl genpkey -algorithm ed25519 -out key.pem`."


@dataclass(frozen=True)
class Envelope:
    """A statement's bytes, and the signature over them; `key_id` is what the envelope says of the key."""

    payload: bytes
    signature: bytes
    key_id: str

    def to_bytes(self) -> bytes:
        """Canonical JSON, with a line feed at its end."""
        return canonical_json(self._to_json()) + b"\n"

    def _to_json(self) -> dict[str, Any]:
        return {
            "payload": base64.b64encode(self.payload).decode("ascii"),
            "payloadType": PAYLOAD_TYPE,
            "signatures": [{"keyid": self.key_id, "sig": base64.b64encode(self.signature).decode("ascii")}],
        }


def load_private_key(path: Path) -> Ed25519PrivateKey:
    """The private key of a PEM file (PKCS #8, no password); raises UserError where it holds none."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        found = load_pem_private_key(_read(path), password=None)
    except (ValueError, TypeError) as error:
        raise _no_key("private", path, str(error)) from error
    if not isinstance(found, Ed25519PrivateKey):
        raise _no_key("private", path, f"a key of another kind, {type(found).__name__}")
    return found


def load_public_key(path: Path) -> Ed25519PublicKey:
    """The public key of a PEM file; raises UserError where it holds none."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        found = load_pem_public_key(_read(path))
    except (ValueError, TypeError) as error:
        raise _no_key("public", path, str(error)) from error
    if not isinstance(found, Ed25519PublicKey):
        raise _no_key("public", path, f"a key of another kind, {type(found).__name__}")
    return found


def sign(payload: bytes, key: Ed25519PrivateKey) -> Envelope:
    """Sign a statement's bytes."""
    return Envelope(payload, key.sign(_signed_bytes(payload)), key_id(key.public_key()))


def is_signed_by(envelope: Envelope, key: Ed25519PublicKey) -> bool:
    """Whether the signature is of this key, over this payload."""
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(envelope.signature, _signed_bytes(envelope.payload))
    except InvalidSignature:
        return False
    return envelope.key_id == key_id(key)


def key_id(key: Ed25519PublicKey) -> str:
    """SHA-256 of the public key's 32 bytes. It names a key and vouches for nothing."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw))


def read_envelope(document: Mapping[str, Any]) -> Envelope:
    """The envelope of a JSON object; raises ValueError, saying what is wrong, where it is none of ours.

    There is exactly one signature and nothing but what was signed, so that nobody can add a key.
    """
    if set(document) != _ENVELOPE:
        odd = sorted(set(document) ^ _ENVELOPE)
        raise ValueError(
            f"an envelope has {', '.join(sorted(_ENVELOPE))}; other or missing: {', '.join(odd)}"
        )
    if document["payloadType"] != PAYLOAD_TYPE:
        raise ValueError(f"the payload is of type {document['payloadType']!r}")
    signatures = document["signatures"]
    if not isinstance(signatures, list) or len(signatures) != 1 or not isinstance(signatures[0], dict):
        raise ValueError("an envelope has exactly one signature")
    if set(signatures[0]) != {"keyid", "sig"}:
        raise ValueError(f"a signature has keyid and sig, and here {', '.join(sorted(signatures[0]))}")
    try:
        payload = base64.b64decode(document["payload"], validate=True)
        signature = base64.b64decode(signatures[0]["sig"], validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise ValueError(f"the envelope is not base64: {error}") from error
    if len(signature) != _SIGNATURE_BYTES:
        raise ValueError(f"a signature of Ed25519 has {_SIGNATURE_BYTES} bytes, and here {len(signature)}")
    key_id = signatures[0]["keyid"]
    if not isinstance(key_id, str) or _KEY_ID.fullmatch(key_id) is None:
        raise ValueError("the keyid is no SHA-256 of a key")
    return Envelope(payload, signature, key_id)


def is_envelope(document: Mapping[str, Any]) -> bool:
    """Whether a JSON object means to be an envelope rather than a bare statement."""
    return "payload" in document or "signatures" in document


def _signed_bytes(payload: bytes) -> bytes:
    """DSSE's pre-authentication encoding: type and payload, each with its length before it."""
    kind = PAYLOAD_TYPE.encode("ascii")
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


_MOST_BYTES = 1 << 20


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, _MOST_BYTES)
    except OSError as error:
        raise unreadable("the key", path, error, _MAKE_ONE) from error


def _no_key(which: str, path: Path, problem: str) -> UserError:
    # What the file holds is not printed: it may be a key after all.
    first = json.dumps(problem.splitlines()[0][:120] if problem else "")
    return UserError(f"not a {which} Ed25519 key in PEM", got=first, where=Place(str(path)), remedy=_MAKE_ONE)


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
        "not a certificate",
        got=got,
        expected=f"a statement {PREDICATE_TYPE}",
        where=Place(str(path)),
        remedy="Name the certificate.json that `opcert certify` writes.",
    )
