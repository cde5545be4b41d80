"""Profiles that demand what leaves nothing unsaid: which cases and forms count, what certificates say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.suite.cases import Case, call_digest
from conformance.suite.suites import write_suite
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reports.gates.profiles import load_profile
from tests.commands.command_line import Answer, call, check_message
from tests.conformance.samples import ECHO, echo_runtime, expect, make_case, sample

Capture = pytest.CaptureFixture[str]
_PROFILE = """profile: said
description: calls that say everything
operators: [org.example::Echo-1]
restriction: explicit
"""
_FACTS: dict[str, Any] = {
    str(ECHO): {"attributes": {"do": {"default": None}, "seed": {"default": 0}}},
    "org.example::Echo-2": {"attributes": {"seed": {"default": 0}}},
}


def without_seed(case: Case) -> Case:
    """The case with an attribute left to its default."""
    attributes = {name: value for name, value in case.attributes.items() if name != "seed"}
    digest = call_digest(case.operator, attributes, case.inputs)
    return replace(case, id=replace(case.id, digest=digest), attributes=attributes)


def in_dynamic_form_alone(seed: int) -> Case:
    """A case that the fake answers rightly with fixed extents, and wrongly with open ones."""
    given = sample(seed)
    wanted = tensor(given.array + np.float32(len("inputs")))
    return make_case("differs_by_form", seed=seed, given=given, expectations=(expect(wanted),))


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "said.yaml").write_text(_PROFILE)
    return tmp_path / "said.yaml"


def certify(capsys: Capture, cases: list[Case], *words: str, facts: dict[str, Any] | None = None) -> Answer:
    """Run cases on the fake runtime in two forms, and certify what it did."""
    write_suite(Path("suite"), cases, {"operators": _FACTS if facts is None else facts}, {})
    run = Path("run") / "run.jsonl"
    call(capsys, "run", echo_runtime(), "-s", "suite", "--forms", "inputs,dynamic", "-o", run)
    return call(capsys, "certify", echo_runtime(), "-s", "suite", "--run", run, *words)


def stated(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "certificate.json").read_text())["predicate"]["profile"]
    return found


def test_what_a_default_or_open_extents_leave_unsaid_does_not_count(capsys: Capture, said: Path) -> None:
    """Wrong are a case without an attribute that has a default, and one in the form with open extents."""
    cases = [make_case("echo"), without_seed(make_case("zero", seed=1)), in_dynamic_form_alone(2)]
    demanded = certify(capsys, cases, "--profile", str(said), "-o", "out")
    assert demanded.code == 0, demanded.out + demanded.err
    found = stated(Path("out"))
    assert found["demands"]["restriction"] == "explicit"
    assert (found["met"], found["demandedCases"], found["leftOut"]) == (
        True,
        2,
        {"cases": 1, "operators": []},
    )
    page = Path("out/certificate.html").read_text()
    assert "It demands 2 cases, which name every attribute that has a default" in page
    verified = call(capsys, "verify", "out/certificate.json", "--run", "run/run.jsonl", "-s", "suite")
    assert verified.code == 0, verified.out + verified.err

    said.write_text(_PROFILE.replace("restriction: explicit\n", ""))
    unrestricted = certify(capsys, cases, "--profile", str(said), "-o", "other")
    assert unrestricted.code == 1
    assert "leftOut" not in stated(Path("other"))
    reasons = " ".join(stated(Path("other"))["reasons"])
    assert "2 cases" in reasons
    assert "differ between forms" in reasons


def test_what_keeps_the_restriction_and_fails_is_held_against_the_runtime(
    capsys: Capture, said: Path
) -> None:
    cases = [make_case("echo"), make_case("zero", seed=1), without_seed(make_case("zero", seed=2))]
    assert certify(capsys, cases, "--profile", str(said), "-o", "out").code == 1
    (reason,) = stated(Path("out"))["reasons"]
    assert reason.startswith(f"{ECHO}: 1 case mismatch, ")


def test_operators_of_which_nothing_is_left_are_said(capsys: Capture, said: Path) -> None:
    """Of a whole domain they are left out, by name they are missed, as is one that nothing is known of."""
    other = OperatorName("org.example", "Echo", 2)
    cases = [make_case("echo"), without_seed(make_case("echo", seed=1, operator=other))]
    said.write_text(_PROFILE.replace("Echo-1", "*"))
    assert certify(capsys, cases, "--profile", str(said), "-o", "out").code == 0
    assert stated(Path("out"))["leftOut"] == {"cases": 1, "operators": [str(other)]}
    assert f"are left out, of {other} all." in Path("out/certificate.html").read_text()

    said.write_text(_PROFILE.replace("Echo-1]", f"Echo-1, '{other}']"))
    assert certify(capsys, cases, "--profile", str(said), "-o", "out").code == 1
    assert stated(Path("out"))["reasons"] == [f"{other}: the suite has no case that the profile demands"]

    certify(capsys, cases, "--profile", str(said), "-o", "out", facts={str(ECHO): _FACTS[str(ECHO)]})
    told = f"{other}: the suite does not say which attributes have a default"
    assert stated(Path("out"))["reasons"] == [told]


def test_the_profile_of_explicit_models_comes_along_and_no_other_word_is_taken(
    capsys: Capture, said: Path
) -> None:
    assert load_profile("onnx-explicit").restriction == "explicit"
    said.write_text(_PROFILE.replace("explicit", "strict"))
    answer = certify(capsys, [make_case("echo")], "--profile", str(said))
    check_message(answer, 2, "input", "said.yaml:4:14", "restriction", "'strict'", "'explicit'")
