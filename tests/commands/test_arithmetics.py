"""Runs judged as of hardware that computes float in less: demanded, certified, and shown in reports."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from conformance.suite.suites import Suite, open_suite, write_suite
from opcert.vocabulary.arithmetics import Arithmetic
from tests.commands.command_line import call, check_message
from tests.generator.test_other_arithmetics import case_of, floats, numbers
from tests.generator.test_requantised import by_gemmlowp, finished, product_case, some_scales

Capture = pytest.CaptureFixture[str]
_PROFILE = """profile: half
description: sums of floats as this device computes them
operators: [ai.onnx::Add-14]
"""


@pytest.fixture
def returned(tmp_path: Path) -> tuple[Path, Path]:
    """A suite of two cases of Add and one of Resize, and what a device in float16 gives for those of Add."""
    cases = [case_of("Add", {"A": numbers(seed, 2, 3), "B": numbers(seed + 1, 2, 3)}) for seed in (1, 2)]
    scaled = {"X": numbers(1, 1, 1, 3, 3), "roi": np.zeros(0, np.float32), "scales": floats([1, 1, 2, 2])}
    suite, out = tmp_path / "suite", tmp_path / "out"
    write_suite(suite, [*cases, case_of("Resize", scaled)], {"operators": {}}, {"size": "made"})
    for case in cases:
        place = out / str(case.id)
        place.mkdir(parents=True)
        a, b = (Arithmetic("float16").rounded(given) for _, given in case.inputs)
        assert a is not None
        assert b is not None
        np.save(place / "output_0.npy", (a.array + b.array).astype(np.float16).astype(np.float32))
    return suite, out


def _suite_of(record: Path) -> Suite:
    from conformance.recording.records import read_record
    from conformance.suite.kept_suites import kept_suite

    kept = kept_suite(str(read_record(record).header["suite"]))
    assert kept is not None
    return open_suite(kept)


def test_a_device_in_float16_is_wrong_in_float32_and_right_in_its_own_arithmetic(
    capsys: Capture, tmp_path: Path, returned: tuple[Path, Path]
) -> None:
    suite, out = returned
    plain, half = tmp_path / "plain" / "run.jsonl", tmp_path / "half" / "run.jsonl"
    assert call(capsys, "judge", suite, out, "-k", "Add", "-o", plain).code == 1
    answer = call(capsys, "judge", suite, out, "-k", "Add", "--arithmetic", "float16", "-o", half)
    assert answer.code == 0, answer.err
    page = tmp_path / "plain" / "index.html"
    assert call(capsys, "report", plain, "-s", suite).code == 0
    assert "<td>float computed as tf32 (sums in float32)</td>" in page.read_text("utf-8")
    assert call(capsys, "report", half).code == 0
    assert "ONNX with float computed as float16" in (tmp_path / "half" / "index.html").read_text("utf-8")


@pytest.mark.slow
def test_a_profile_demands_an_arithmetic_and_the_certificate_says_it(
    capsys: Capture, tmp_path: Path, returned: tuple[Path, Path]
) -> None:
    suite, out = returned
    record, profile = tmp_path / "half" / "run.jsonl", tmp_path / "half.yaml"
    call(capsys, "judge", suite, out, "--arithmetic", "float16", "-o", record)
    words = ("certify", "files:device", "--run", record, "--profile", profile, "-o", tmp_path / "half")
    for demanded, code in (("arithmetic: float16\n", 0), ("", 1), ("arithmetic: tf32\n", 1)):
        profile.write_text(_PROFILE + demanded, "utf-8")
        answer = call(capsys, *words)
        assert answer.code == code, answer.err + answer.out
        told = json.loads((tmp_path / "half" / "certificate.json").read_text("utf-8"))["predicate"]
        assert told["suite"]["arithmetic"] == "float computed as float16 (sums in float32)"
        assert "ONNX with float computed as float16" in told["suite"]["says"]
        reasons = " ".join(told["profile"]["reasons"])
        assert ("and the cases are of float computed as float16" in reasons) is bool(code)


@pytest.mark.slow
def test_a_device_in_fixed_point_is_right_by_a_profile_that_demands_it(
    capsys: Capture, tmp_path: Path
) -> None:
    scales = some_scales(0)
    case, sums = product_case(3, scales)
    suite, place = tmp_path / "suite", tmp_path / "out" / str(case.id)
    write_suite(suite, [case], {"operators": {}}, {"size": "made"})
    place.mkdir(parents=True)
    np.save(place / "output_0.npy", finished(by_gemmlowp(sums, *scales)))
    profile, demanded = tmp_path / "npu.yaml", "float32,requantise=fixed-point"
    profile.write_text(
        "profile: npu\ndescription: integers\noperators: [ai.onnx::QLinearMatMul-21]\n"
        f"arithmetic: {demanded}\n",
        "utf-8",
    )
    record = tmp_path / "fixed" / "run.jsonl"
    assert call(capsys, "judge", suite, tmp_path / "out", "-o", tmp_path / "plain" / "run.jsonl").code == 1
    answer = call(capsys, "judge", suite, tmp_path / "out", "--arithmetic", demanded, "-o", record)
    assert answer.code == 0, answer.err
    words = ("certify", "files:device", "--run", record, "--profile", profile, "-o", tmp_path / "fixed")
    assert call(capsys, *words).code == 0
    told = json.loads((tmp_path / "fixed" / "certificate.json").read_text("utf-8"))["predicate"]
    assert told["suite"]["arithmetic"] == "float computed as float32, integers requantised in fixed point"


def test_cases_without_a_bound_are_left_out_and_counted(
    capsys: Capture, tmp_path: Path, returned: tuple[Path, Path]
) -> None:
    suite, out = returned
    record = tmp_path / "half" / "run.jsonl"
    answer = call(capsys, "judge", suite, out, "--arithmetic", "bfloat16,subnormals=flushed", "-o", record)
    assert "1 case is left out" in answer.err
    again = call(capsys, "judge", suite, out, "--arithmetic", "bfloat16,subnormals=flushed", "-o", record)
    assert "1 case is left out" in again.err
    with _suite_of(record) as derived:
        assert len(derived.case_ids) == 2
        assert derived.arithmetic == Arithmetic("bfloat16", subnormals="flushed")
        again = call(capsys, "judge", derived.path, out, "--arithmetic", "float16", "-o", record)
    check_message(again, 2, "input", "derived for an arithmetic already")


def test_an_arithmetic_that_is_none_is_told(
    capsys: Capture, tmp_path: Path, returned: tuple[Path, Path]
) -> None:
    suite, out = returned
    check_message(call(capsys, "judge", suite, out, "--arithmetic", "half"), 2, "input", "no such arithmetic")
    profile = tmp_path / "p.yaml"
    profile.write_text(_PROFILE + "arithmetic: float61\n", "utf-8")
    answer = call(capsys, "certify", "files:device", "-s", suite, "--profile", profile)
    check_message(answer, 2, "input", "float16")
