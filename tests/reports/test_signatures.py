"""Signatures: with a key any changed byte is noticed, and so is every other key and every added one."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.recording.records import read_record
from conformance.suite.canonical import canonical_json
from opcert.vocabulary.errors import UserError
from reports.certificates.certificate_files import load_private_key, sign
from tests.reports.certified import Certified, make_key, problems

MANY = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_a_signature_holds_with_its_key_and_says_so_without(signed: Certified) -> None:
    found = signed.verify(key=signed.public_key)
    assert found.holds, found.problems
    assert any("signature is of the public key" in each for each in found.checked)
    without = signed.verify()
    assert without.holds
    assert any(each.startswith("claims to be signed by the key") for each in without.stated)
    assert without.answer.startswith("holds; the signature was not checked")


def test_the_signature_is_one_that_others_verify(signed: Certified) -> None:
    """OpenSSL, over the bytes that DSSE says are signed, put together here once more."""
    document = json.loads(signed.certificate.read_text())
    payload = base64.b64decode(document["payload"])
    kind = b"application/vnd.in-toto+json"
    message = b" ".join([b"DSSEv1", str(len(kind)).encode(), kind, str(len(payload)).encode(), payload])
    (signed.folder / "message").write_bytes(message)
    (signed.folder / "signature").write_bytes(base64.b64decode(document["signatures"][0]["sig"]))
    words = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "key.pub", "-rawin"]
    done = subprocess.run(
        [*words, "-in", "message", "-sigfile", "signature"], cwd=signed.folder, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.strip()) == (0, "Signature Verified Successfully"), done.stderr


def noticed(certified: Certified, key: Path | None) -> bool:
    try:
        return not certified.verify(key=key).holds
    except UserError:
        return True


@contextmanager
def changed_bit(path: Path, place: int, bit: int) -> Iterator[None]:
    """One bit of a file is another for a while."""
    raw = path.read_bytes()
    changed = bytearray(raw)
    changed[place % len(raw)] ^= 1 << bit
    try:
        path.write_bytes(bytes(changed))
        yield
    finally:
        path.write_bytes(raw)


@MANY
@given(place=st.integers(0, 10**9), bit=st.integers(0, 7), which=st.sampled_from(["certificate", "record"]))
def test_with_a_key_any_changed_byte_is_noticed(
    signed_once: Certified, place: int, bit: int, which: str
) -> None:
    path: Path = getattr(signed_once, which)
    with changed_bit(path, place, bit):
        assert noticed(signed_once, signed_once.public_key)


@pytest.mark.parametrize("verdict", [b"pass", b"mismatch", b"unsupported"])
def test_a_changed_byte_in_the_word_of_a_verdict_is_named(signed: Certified, verdict: bytes) -> None:
    """Of whichever row it is: also the second one of a case, which is held against the first."""
    raw = signed.record.read_bytes()
    word = b'"verdict":"' + verdict + b'"'
    assert raw.count(word) > 1
    for change in (word.replace(b'"verdict":"', b'"verdict":"_'), word[:-2] + b'_"'):
        begin, _, last = raw.rpartition(word)
        signed.record.write_bytes(begin + change + last)
        number = begin.count(b"\n") + 1
        with pytest.raises(UserError, match=f"run.jsonl:{number}: .*unknown verdict '"):
            read_record(signed.record)
        assert noticed(signed, signed.public_key)


@MANY
@given(place=st.integers(0, 10**9), bit=st.integers(0, 7), number=st.integers(0, 1))
def test_with_a_key_any_changed_byte_of_the_suite_is_noticed(
    signed_once: Certified, place: int, bit: int, number: int
) -> None:
    path = sorted(each for each in signed_once.suite.rglob("*") if each.is_file())[number]
    with changed_bit(path, place, bit):
        assert noticed(signed_once, signed_once.public_key)


@MANY
@given(data=st.data())
def test_a_certificate_that_is_written_otherwise_is_noticed(
    signed_once: Certified, data: st.DataObject
) -> None:
    """Bytes inserted or left out, which JSON might overlook."""
    raw = signed_once.certificate.read_bytes()
    place = data.draw(st.integers(0, len(raw) - 1))
    more = data.draw(st.sampled_from([b" ", b"\n", b"\t", b"=", b"A", b""]))
    changed = raw[:place] + more + raw[place + (not more) :]
    try:
        signed_once.certificate.write_bytes(changed)
        assert noticed(signed_once, signed_once.public_key)
    finally:
        signed_once.certificate.write_bytes(raw)


def test_another_key_is_noticed(signed: Certified) -> None:
    make_key(signed.folder / "other.pem", signed.folder / "other.pub")
    assert "not of the public key" in problems(signed.verify(key=signed.folder / "other.pub"))
    signed.certify(key=signed.folder / "other.pem")
    assert "not of the public key" in problems(signed.verify(key=signed.public_key))


def test_a_key_is_of_no_use_without_a_signature(calm: Certified) -> None:
    assert "not signed, and a public key was given" in problems(calm.verify(key=calm.public_key))


def test_a_key_in_the_envelope_is_noticed(signed: Certified) -> None:
    document = json.loads(signed.certificate.read_text())
    signed.certificate.write_bytes(canonical_json({**document, "publicKey": "mine"}) + b"\n")
    with pytest.raises(UserError, match="publicKey"):
        signed.verify(key=signed.public_key)
    document["signatures"][0]["cert"] = "mine"
    signed.certificate.write_bytes(canonical_json(document) + b"\n")
    with pytest.raises(UserError, match="a signature has keyid and sig"):
        signed.verify(key=signed.public_key)


def test_a_key_in_the_statement_vouches_for_nothing(calm: Certified) -> None:
    """Whoever signs with a key of their own and puts it into the certificate gains nothing."""
    make_key(calm.folder / "other.pem", calm.folder / "other.pub")
    other = (calm.folder / "other.pub").read_text()
    calm.restate(lambda statement: statement["predicate"].update(publicKey=other))
    assert "publicKey: stated" in problems(calm.verify())
    statement = json.loads(calm.certificate.read_text())
    key = load_private_key(calm.folder / "other.pem")
    calm.certificate.write_bytes(sign(canonical_json(statement), key).to_bytes())
    assert "not of the public key" in problems(calm.verify(key=calm.public_key))
    assert not calm.verify().holds


@pytest.mark.parametrize("kind", ["public", "garbage", "elliptic", "encrypted", "missing"])
def test_what_is_no_key_to_sign_with_is_said_without_showing_it(signed: Certified, kind: str) -> None:
    odd = signed.folder / "odd.pem"
    own = load_private_key(signed.key)
    secret = BestAvailableEncryption(b"password")
    match kind:
        case "public":
            odd.write_bytes(signed.public_key.read_bytes())
        case "garbage":
            odd.write_text("-----BEGIN PRIVATE KEY-----\nsecret")
        case "elliptic":
            other = ec.generate_private_key(ec.SECP256R1())
            odd.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        case "encrypted":
            odd.write_bytes(own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, secret))
    with pytest.raises(UserError) as caught:
        load_private_key(odd)
    assert "openssl genpkey -algorithm ed25519" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_another_payload_type_is_no_certificate(signed: Certified) -> None:
    document = json.loads(signed.certificate.read_text())
    document["payloadType"] = "application/json"
    signed.certificate.write_bytes(canonical_json(document) + b"\n")
    with pytest.raises(UserError, match="not a certificate"):
        signed.verify()
