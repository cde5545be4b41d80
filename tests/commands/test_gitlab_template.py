"""templates/opcert.yml: its script runs as it stands in a shell, and no input becomes part of it."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from tests.commands.command_line import identity_suite
from tests.commands.services import ACTION, TEMPLATE, Step, gitlab_job, run_job
from tests.commands.test_action import HOSTILE, PROFILE, words_of
from tests.conformance.samples import FAKES

SHELLS = [each for each in ("bash", "dash") if shutil.which(each)]
_PYTHON = """#!/bin/bash
case "$*" in
  "-m venv "*)
    mkdir -p "$3/bin"
    cp {opcert} "$3/bin/opcert"
    ln -s "$0" "$3/bin/python" ;;
  "-m pip "*) printf '%s\\0' "$@" > {pip} ;;
  *) exec {python} "$@" ;;
esac
"""
_OPCERT = """#!/bin/bash
printf '%s\\0' "$@" >> {log}
printf '\\n\\0' >> {log}
mkdir -p opcert-report
echo '<testsuites tests="9" failures="2" errors="0"/>' > opcert-report/junit.xml
exit {code}
"""
REQUIRED = {"runtime": "r", "package": "p"}


def run(
    repository: Path, folder: Path, shell: str = "bash", code: int = 0, **inputs: str
) -> tuple[Step, Path]:
    """Run the job with a python3 that makes environments of a fake opcert; where that writes its words."""
    binaries, log = folder / "bin", folder / "words"
    binaries.mkdir(exist_ok=True)
    (binaries / "opcert").write_text(_OPCERT.format(log=shlex.quote(str(log)), code=code))
    text = _PYTHON.format(
        opcert=binaries / "opcert", pip=shlex.quote(str(folder / "pip")), python=shlex.quote(sys.executable)
    )
    (binaries / "python3").write_text(text)
    for path in binaries.iterdir():
        path.chmod(0o755)
    job = gitlab_job(
        repository, {**REQUIRED, **{name.replace("_", "-"): each for name, each in inputs.items()}}
    )
    done = run_job(job, folder, shell, {"PATH": f"{binaries}:/usr/bin:/bin", "TMPDIR": str(folder)})
    return done, log


@pytest.mark.parametrize(
    ("shell", "text"),
    [(each, text) for each in SHELLS for text in (HOSTILE if each == "bash" else HOSTILE[:3])],
)
def test_an_input_is_a_word_and_nothing_else(repository: Path, tmp_path: Path, text: str, shell: str) -> None:
    options = {name: f"--{name}" for name in ("suite", "opset", "profile", "baseline", "jobs", "python")}
    options["cases"] = "-k"
    inputs = dict.fromkeys(("runtime", "package", *options), text)
    done, log = run(repository, tmp_path, shell, code=0, **inputs, operators=f"Gemm {text}")
    (words,) = words_of(log)
    end = words.index("--")
    assert words[0] == "certify"
    assert words[end:] == ["--", text, "Gemm", *text.split()]
    told = dict(zip(words[1:end:2], words[2:end:2], strict=True))
    assert told == {**dict.fromkeys(options.values(), text), "--output": "opcert-report"}
    assert (tmp_path / "pip").read_text().split("\0")[-3:-1] == ["--", text]
    assert not (tmp_path / "planted").exists()
    assert done.code == 0, done.printed


@pytest.mark.parametrize(
    ("code", "fail_on", "answer"),
    [(0, "gate", 0), (0, "failing", 1), (1, "gate", 1), (1, "never", 0), (4, "never", 4)],
)
def test_the_job_fails_when_it_is_asked_to_and_where_nothing_can_be_said(
    repository: Path, tmp_path: Path, code: int, fail_on: str, answer: int
) -> None:
    assert run(repository, tmp_path, code=code, fail_on=fail_on)[0].code == answer


def test_a_model_goes_with_nothing_that_chooses_cases(repository: Path, tmp_path: Path) -> None:
    done, log = run(repository, tmp_path, model="m.onnx")
    (words,) = words_of(log)
    assert words[:3] == ["check", "--on", "r"]
    assert words[words.index("--") :] == ["--", "m.onnx"]
    assert done.code == 0
    done, _ = run(repository, tmp_path, model="m.onnx", opset="13")
    assert done.code == 2
    assert "a model brings its own calls" in done.printed


def test_no_input_stands_in_the_script_and_every_one_is_used(repository: Path) -> None:
    text = (repository / TEMPLATE).read_text()
    spec, jobs = yaml.safe_load_all(text)
    (job,) = jobs.values()
    assert "$[[" not in "\n".join(job["script"])
    assert set(re.findall(r"\$\[\[ inputs\.([\w-]+) \]\]", text)) == set(spec["spec"]["inputs"])
    for name, each in job["variables"].items():
        assert not name.startswith("IN_") or each["expand"] is False, name
    assert job["artifacts"]["reports"]["junit"].endswith("/junit.xml")


def test_the_action_and_the_template_ask_alike(repository: Path) -> None:
    """An input of one that the other has not is one of the service's own."""
    action = yaml.safe_load((repository / ACTION).read_text())["inputs"]
    template = next(yaml.safe_load_all((repository / TEMPLATE).read_text()))["spec"]["inputs"]
    assert set(action) - set(template) == {"annotations", "artifact", "interpreter", "key"}
    assert set(template) - set(action) == {"expire-in", "image", "job", "stage"}
    for name in set(action) & set(template) - {"package"}:
        assert action[name].get("default") == template[name].get("default"), name


@pytest.mark.slow
def test_a_runtime_that_is_right_and_one_that_is_wrong(repository: Path, tmp_path: Path) -> None:
    """With opcert itself, of the environment of these tests."""
    suite = identity_suite(tmp_path, 3)
    (tmp_path / "profile.yaml").write_text(PROFILE)
    binaries = tmp_path / "bin"
    binaries.mkdir()
    own = Path(sys.executable).with_name("opcert")
    text = _PYTHON.format(
        opcert="-s " + shlex.quote(str(own)), pip="/dev/null", python=shlex.quote(sys.executable)
    )
    (binaries / "python3").write_text(text)
    (binaries / "python3").chmod(0o755)
    surroundings = {"PATH": f"{binaries}:/usr/bin:/bin", "PYTHONPATH": str(FAKES), "TMPDIR": str(tmp_path)}
    for runtime, code, failures in (("Good", 0, 0), ("Raises", 1, 3)):
        inputs = {
            "runtime": f"fake_backends:{runtime}",
            "suite": str(suite),
            "profile": "profile.yaml",
            "package": "p",
        }
        done = run_job(gitlab_job(repository, inputs), tmp_path, "bash", surroundings)
        assert done.code == code, done.printed
        assert f'failures="{failures}"' in (tmp_path / "opcert-report" / "junit.xml").read_text()
