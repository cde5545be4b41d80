"""Which suite `opcert certify` takes: by the newest opset, a profile, operators, a part of the case ids."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.doctor.patient import find_newest_opset
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import open_suite
from generator.making.operators.opsets import newest_opset
from opcert.commands import suite_argument
from opcert.commands.suite_argument import SuiteRequest, open_certified
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from reports.gates import profile_settling
from reports.gates.profiles import Profile
from tests.commands.command_line import call, check_message, identity_suite
from tests.conformance.samples import FAKES, echo_runtime

OLD = "fake_backends:Old"
"""It takes opsets up to 12."""


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FAKES))


@pytest.mark.parametrize(
    ("runtime", "oldest", "found"),
    [
        (OLD, 7, 12),
        (OLD, 13, None),
        (echo_runtime(), 7, None),  # it takes no ONNX model
        (echo_runtime("opsets"), 7, 20),  # its handshake says so
        (echo_runtime("opsets"), 21, None),
    ],
)
def test_the_newest_opset_is_named_or_tried(runtime: str, oldest: int, found: int | None) -> None:
    assert find_newest_opset(find_runtime(runtime), oldest, 28) == found


def demanding(*operators: str) -> Profile:
    return Profile.model_validate({"profile": "p", "description": "", "operators": operators})


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What is asked for, by name or as a list of operators; nothing is generated."""
    found: list[str] = []
    suite = identity_suite(tmp_path)

    def resolve(
        name: str, *_: object, cluster: object = None, look: object = None, pattern: str | None = None
    ) -> object:
        found.append(name)
        return open_suite(suite)

    def make(operators: Sequence[OperatorName], cluster: object = None, look: object = None) -> object:
        found.append(" ".join(operator.short for operator in operators))
        return open_suite(suite)

    monkeypatch.setattr(suite_argument, "resolve_suite", resolve)
    monkeypatch.setattr(suite_argument, "made_of", make)
    monkeypatch.setattr(profile_settling, "check_names", lambda *_: None)
    return found


@pytest.mark.parametrize(
    ("asked", "suite"),
    [
        (SuiteRequest(), "opset-12"),
        (SuiteRequest(opset=22), "opset-22"),
        (SuiteRequest(opset=newest_opset()), "default"),
        (SuiteRequest(suite_name="mine"), "mine"),
        (SuiteRequest(operators=("Gemm", "Not")), "Gemm-11 Not-1"),
        (SuiteRequest(operators=("Gemm", "Resize-18"), opset=13), "Gemm-13 Resize-18"),
        (SuiteRequest(profile=demanding("ai.onnx::Gemm-11")), "opset-12"),
        (SuiteRequest(profile=demanding("ai.onnx::Resize-18", "com.microsoft::Pad-1")), "first-operators"),
        (SuiteRequest(profile=demanding("ai.onnx::Gemm-13")), "Gemm-13"),
        (SuiteRequest(profile=demanding("com.microsoft::*")), "contrib"),
    ],
)
def test_the_suite_is_of_the_opset_that_the_runtime_takes_unless_more_is_said(
    taken: list[str], asked: SuiteRequest, suite: str
) -> None:
    opened, name = open_certified(find_runtime(OLD), asked)
    opened.close()
    assert taken == [suite]
    assert name == (asked.suite_name or "default")


@pytest.mark.parametrize(
    ("mode", "operators", "suite"),
    [("dialect", (), "tensorflow"), ("dialect", ("Sin",), "Sin-1"), ("elsewhere", (), "default")],
)
def test_a_runtime_of_one_dialect_alone_gets_its_suite(
    taken: list[str], mode: str, operators: tuple[str, ...], suite: str
) -> None:
    opened, _ = open_certified(find_runtime(echo_runtime(mode)), SuiteRequest(operators=operators))
    opened.close()
    assert taken == [suite]


def test_a_suite_has_its_operators_and_versions(taken: list[str]) -> None:
    for asked in (SuiteRequest("mine", opset=13), SuiteRequest("mine", ("Gemm",))):
        with pytest.raises(UserError, match="a suite has its operators"):
            open_certified(find_runtime(OLD), asked)


def test_a_part_of_the_cases_is_certified_as_a_part(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    suite, out = identity_suite(tmp_path), tmp_path / "out"
    with open_suite(suite) as opened:
        wanted = opened.case_ids[1]
    digest = wanted.rpartition("/")[2]
    answer = call(
        capsys, "certify", "fake_backends:Good", "-s", suite, "-k", digest, "--forms", "all", "-o", out
    )
    assert answer.code == 0, answer.err
    rows = [json.loads(line) for line in (out / "run.jsonl").read_text().splitlines()]
    assert {row["case"] for row in rows if "case" in row} == {wanted}
    assert len({row["form"] for row in rows if "form" in row}) > 1
    stated = json.loads((out / "certificate.json").read_text())
    assert wanted in json.dumps(stated)
    answer = call(capsys, "certify", "fake_backends:Good", "-s", suite, "-k", "nothing", "-o", out)
    check_message(answer, 5, "run", "no case of the suite is selected", "'nothing'", "-k")


def test_of_a_named_suite_the_operators_that_are_named_are_made_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(suite_argument, "_named", lambda name, *_: pytest.fail(f"{name} is made whole"))
    run, out = tmp_path / "run.jsonl", tmp_path / "out"
    assert call(capsys, "run", "fake_backends:Good", "-k", "Not/boundary", "-o", run).code in (0, 1)
    assert call(capsys, "certify", "fake_backends:Good", "-k", "Not-1", "-o", out).code == 0
    for path, family in ((run, "boundary"), (out / "run.jsonl", "")):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        cases = [row["case"] for row in rows if "case" in row]
        assert cases
        assert all(case.startswith(f"ai.onnx/Not-1/{family}") for case in cases)
    with pytest.raises(pytest.fail.Exception, match="default is made whole"):
        call(capsys, "run", "fake_backends:Good", "-k", "boundary", "-o", run)
    demands = tmp_path / "profile.yaml"
    demands.write_text("profile: both\ndescription: d\noperators: [ai.onnx::Not-1, ai.onnx::Neg-13]\n")
    with pytest.raises(pytest.fail.Exception, match="default is made whole"):
        # The profile is held against the suite, which has to have all that it names.
        call(capsys, "certify", "fake_backends:Good", "-k", "Not-1", "--profile", demands, "-o", out)


def test_where_a_part_that_was_run_is_not_kept_it_is_made_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(suite_argument, "_named", lambda name, *_: pytest.fail(f"{name} is made whole"))
    run, words = tmp_path / "run.jsonl", ("-s", "opset-13")
    assert call(capsys, "run", "fake_backends:Good", "-k", "Not/boundary", *words, "-o", run).code in (0, 1)
    shutil.rmtree(tmp_path / "cache" / "opcert" / "suites")
    case = next(json.loads(line)["case"] for line in run.read_text().splitlines() if '"case":' in line)
    assert call(capsys, "report", run, "--format", "markdown", "-o", tmp_path / "report").code in (0, 1)
    assert call(capsys, "repro", case, *words, "-o", tmp_path / "case").code == 0


def test_a_name_that_is_nearly_an_operators_is_told_before_the_suite_is_made(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite_argument, "_named", lambda *_: identity_suite(tmp_path))
    for text, near in (("resize", "perhaps Resize"), ("Resise-19/cover", "perhaps Resize-19")):
        answer = call(capsys, "run", "fake_backends:Good", "-k", text, "-o", tmp_path / "run.jsonl")
        assert answer.code == 5
        assert near in answer.err
    answer = call(capsys, "run", "fake_backends:Good", "-k", "bfloat16", "-o", tmp_path / "run.jsonl")
    assert "perhaps" not in answer.err


@pytest.mark.parametrize(
    ("asked", "digest", "words"),
    [
        (SuiteRequest(opset=6), "", ["an opset without cases", "7 to 28"]),
        (SuiteRequest(opset=29), "", ["an opset without cases", "7 to 28"]),
        (
            SuiteRequest(operators=("Gelu",), opset=17),
            "",
            ["no such operator", "Gelu in opset 17", "Gelu-20"],
        ),
        (SuiteRequest(operators=("ai.onnx::Gelu",), opset=17), "", ["no such operator", "Gelu-20"]),
        (SuiteRequest(operators=("Gelo",), opset=17), "", ["unknown operator", "ai.onnx::Gelu-20"]),
        (
            SuiteRequest(profile=demanding("ai.onnx::Gemm-11"), opset=13),
            "",
            ["opset 13 without ai.onnx::Gemm-11"],
        ),
        (SuiteRequest(opset=13, folders=(Path("specs"),)), "", ["--specs, or operators and --opset"]),
        (
            SuiteRequest(operators=("Gemm",), folders=(Path("specs"),)),
            "",
            ["--specs, or operators and --opset"],
        ),
        (
            SuiteRequest(opset=13),
            "00" * 32,
            ["a record has its operators", "--run, or operators and --opset"],
        ),
    ],
)
def test_an_opset_that_has_not_what_is_named_is_told(
    taken: list[str], asked: SuiteRequest, digest: str, words: list[str]
) -> None:
    with pytest.raises(UserError) as caught:
        open_certified(find_runtime(OLD), asked, digest)
    assert not [word for word in words if word not in str(caught.value)], str(caught.value)
    assert not taken


def test_a_profile_of_a_model_is_run_alone_and_a_whole_domain_beside_versions_too(
    taken: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite_argument, "_taken_by", lambda *_: (12, frozenset()))
    profile = demanding("ai.onnx::Gemm-11").model_copy(update={"model": "m.onnx"})
    open_certified(find_runtime(OLD), SuiteRequest(profile=profile))[0].close()
    mixed = demanding("ai.onnx::Gemm-13", "com.microsoft::*")
    open_certified(find_runtime(OLD), SuiteRequest(profile=mixed))[0].close()
    assert taken == ["Gemm-11", "Gemm-13 Pad-1"]


CAN_MOUNT = ["unshare", "--user", "--map-root-user", "--mount", "true"]
READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'


def can_mount() -> bool:
    return shutil.which("unshare") is not None and not subprocess.run(CAN_MOUNT, check=False).returncode


@pytest.mark.slow
@pytest.mark.skipif(not can_mount(), reason="this system grants no user namespaces")
@pytest.mark.parametrize("certifies", [True, False])
def test_a_cache_that_may_only_be_read(tmp_path: Path, certifies: bool) -> None:
    """A run makes the suite for itself and goes on; who asks for a suite that stays is told."""
    cache = tmp_path / "cache"
    (cache / "opcert").mkdir(parents=True)
    words = ["certify", echo_runtime(), "Identity", "--diagnose", "0", "-o", "out"]
    done = subprocess.run(
        [
            *CAN_MOUNT[:-1],
            *("sh", "-c", READ_ONLY, "sh", str(cache), sys.executable, "-m", "opcert"),
            *(words if certifies else ["generate", "Identity"]),
        ],
        cwd=tmp_path,
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ("cannot be written" in done.stderr) is not certifies, done.stderr
    assert (tmp_path / "out" / "run.jsonl").is_file() is certifies
    assert not list((cache / "opcert").iterdir())
