"""`opcert verify`: a line for each thing, and an answer that no missing file makes better."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from tests.commands.command_line import call
from tests.reports.certified import DAY, Certified, pass_everything

Capture = pytest.CaptureFixture[str]


def test_the_command_says_each_thing_and_answers_by_it(capsys: Capture, signed: Certified) -> None:
    words = ("verify", signed.certificate, "--suite", signed.suite)
    signed.certify(on=date.today(), key=signed.key)
    good = call(capsys, *words, "--public-key", signed.public_key)
    assert good.code == 0, good.out
    last = "certificate: holds; own suite: 11 cases; 7 of 7 failing cases waived"
    assert good.out.splitlines()[-1] == last
    signed.rewrite(pass_everything)
    bad = call(capsys, *words, "--run", signed.record, "--public-key", signed.public_key)
    assert bad.code == 1
    assert "does not hold: another record was certified" in bad.out
    assert bad.out.splitlines()[-1] == "certificate: does not hold"


def test_what_is_not_at_hand_is_not_verified(capsys: Capture, calm: Certified) -> None:
    calm.certify(on=date.today())
    calm.record.unlink()
    found = call(capsys, "verify", calm.certificate)
    assert found.code == 1
    assert "not checked: the record is not at" in found.out
    assert "not checked: the suite" in found.out
    assert found.out.splitlines()[-1] == "certificate: not verified"


@pytest.mark.parametrize("text", ["", "{}", "[]", "nothing", '{"payload": 1}', "\0", '{"_type": "x"}'])
def test_what_is_no_certificate(capsys: Capture, tmp_path: Path, text: str) -> None:
    (tmp_path / "certificate.json").write_text(text)
    found = call(capsys, "verify", tmp_path / "certificate.json")
    assert found.code == 2
    assert "not a certificate" in found.err


def test_keys_that_are_none(capsys: Capture, calm: Certified) -> None:
    odd = calm.folder / "odd.pem"
    for text in ("", "secret", calm.key.read_text()):
        odd.write_text(text)
        found = call(capsys, "verify", calm.certificate, "--public-key", odd)
        assert found.code == 2
        assert "not a public Ed25519 key" in found.err
        assert "secret" not in found.err
    assert call(capsys, "verify", calm.certificate, "--public-key", odd.with_name("none")).code == 2
    assert date.today() < DAY
