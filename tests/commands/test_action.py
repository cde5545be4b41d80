"""action.yml: its scripts run as they stand, no input becomes part of one, its form is that of actions."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.commands.command_line import identity_suite
from tests.commands.services import ACTION, ActionRunner, Step
from tests.conformance.samples import FAKES

SCHEMA = json.loads(Path(__file__).with_name("github_action.json").read_text())
INSTALL = "Install opcert"
HOSTILE = (
    "$(touch planted)",
    "`touch planted`",
    "x; touch planted",
    'x" ; touch planted ; "',
    "x'; touch planted; '",
    "x\nfailing=0\nresult=holds",
    "x && touch planted #",
    "${IFS}touch${IFS}planted",
    "--version",
    "*",
)
_FAKE = """#!/bin/bash
printf '%s\\0' "$@" >> {log}
printf '\\n\\0' >> {log}
[ -z "${{IN_KEY+set}}" ] || exit 99
exit {code}
"""
PROFILE = "profile: identity\ndescription: Identity alone\noperators: [ai.onnx::Identity-13]\n"


def fake_opcert(folder: Path, code: int = 0) -> Path:
    """An environment whose opcert writes down its words; returns where it does."""
    program, log = folder / "opcert-environment" / "bin" / "opcert", folder / "words"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(_FAKE.format(log=shlex.quote(str(log)), code=code))
    program.chmod(0o755)
    if not program.with_name("python").exists():
        program.with_name("python").symlink_to(sys.executable)
    return log


def own_environment(folder: Path) -> None:
    """The environment that installing makes, of the checkout that is tested."""
    binaries = folder / "opcert-environment" / "bin"
    binaries.mkdir(parents=True)
    for name in ("opcert", "python"):
        (binaries / name).symlink_to(Path(sys.executable).with_name(name))


def runner(repository: Path, folder: Path, **inputs: str) -> ActionRunner:
    """A runner that comes to the step behind installing."""
    given = {name.replace("_", "-"): text for name, text in inputs.items()}
    made = ActionRunner(repository, folder, given, {"PYTHONPATH": str(FAKES)})
    environment = str(folder / "opcert-environment")
    made.steps["install"] = Step(0, "", {"environment": environment})
    return made


def words_of(log: Path) -> list[list[str]]:
    """The words of each call."""
    return [word.split("\0")[:-1] for word in log.read_bytes().decode().split("\n\0")[:-1]]


@pytest.fixture
def action(repository: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((repository / ACTION).read_text())
    return found


def test_it_has_the_form_of_an_action(action: dict[str, Any]) -> None:
    jsonschema.validate(action, SCHEMA)
    named = [each["id"] for each in action["runs"]["steps"] if "id" in each]
    assert len(named) == len(set(named))
    for text in re.findall(r"steps\.(\w+)\.", json.dumps(action)):
        assert text in named


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.pop("runs"),
        lambda found: found["runs"].update(using="node12"),
        lambda found: found["runs"]["steps"][0].pop("shell"),
        lambda found: found["runs"]["steps"][0].update(uses="a/b@v1"),
        lambda found: found["outputs"]["result"].pop("value"),
        lambda found: found["inputs"]["jobs"].update(default=2),
        lambda found: found.update(input={}),
    ],
)
def test_another_form_is_noticed(action: dict[str, Any], change: Any) -> None:
    change(action)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(action, SCHEMA)


def test_no_expression_stands_in_a_script_and_every_input_is_used(action: dict[str, Any]) -> None:
    steps = action["runs"]["steps"]
    assert not [step["name"] for step in steps if "${{" in step.get("run", "")]
    used = set(re.findall(r"inputs\.([\w-]+)", json.dumps(steps)))
    assert used == set(action["inputs"])
    for step in (step for step in steps if "run" in step):
        for name in step.get("env", {}):
            assert re.search(rf"\b{name}\b", step["run"]), f"{step['name']}: {name}"
        for name in re.findall(r"\$\{?(IN_\w+)", step["run"]):
            assert name in step["env"], f"{step['name']}: {name}"


def test_every_variable_of_a_script_stands_in_quotes(action: dict[str, Any]) -> None:
    """Of an input that nobody quotes a shell makes several words, and names of files."""
    for step in action["runs"]["steps"]:
        for line in step.get("run", "").splitlines():
            bare = re.sub(r'"[^"]*"', "", line)
            assert not re.search(r"\$\{?(IN_|FOLDER|OPCERT|RESULT|CODE|FAILING)", bare.replace("<<< ", "")), (
                line
            )


@pytest.mark.parametrize("text", HOSTILE)
def test_an_input_is_a_word_and_nothing_else(repository: Path, tmp_path: Path, text: str) -> None:
    log = fake_opcert(tmp_path, code=1)
    names = ("suite", "opset", "profile", "baseline", "jobs", "python", "output")
    options = {**{name: f"--{name}" for name in names}, "cases": "-k"}
    inputs = dict.fromkeys(("runtime", *options), text)
    made = runner(repository, tmp_path, **inputs, operators=f"Gemm\n{text}")
    outputs = made.run(left_out=(INSTALL,))
    (words,) = words_of(log)
    end = words.index("--")
    assert words[0] == "certify"
    assert words[end:] == ["--", text, "Gemm", *text.split()]
    told = dict(zip(words[1:end:2], words[2:end:2], strict=True))
    assert told == dict.fromkeys(options.values(), text)
    assert not (tmp_path / "planted").exists()
    assert (outputs["result"], outputs["exit-code"], outputs["failing"]) == ("fails", "1", "")
    assert made.code == 1


def test_a_model_that_fails_is_told_beside_the_job_and_in_the_summary(
    repository: Path, tmp_path: Path
) -> None:
    fake_opcert(tmp_path, code=1)
    (tmp_path / "opcert-report").mkdir()
    (tmp_path / "opcert-report" / "check.md").write_text("# m.onnx: 2 nodes\n")
    for wanted, shown in (("true", 1), ("false", 0)):
        made = runner(repository, tmp_path, runtime="r", model="m.onnx", annotations=wanted)
        made.run(left_out=(INSTALL,))
        assert made.steps["tell"].printed.count("::error title=opcert::Nodes of the model") == shown
        assert (tmp_path / "github_summary").read_text().startswith("# m.onnx: 2 nodes")
        assert made.code == 1


@pytest.mark.parametrize("text", HOSTILE[:3])
def test_a_model_is_a_word_too(repository: Path, tmp_path: Path, text: str) -> None:
    log = fake_opcert(tmp_path)
    runner(repository, tmp_path, runtime=text, model=text).run(left_out=(INSTALL,))
    (check,) = words_of(log)
    assert check[:3] == ["check", "--on", text]
    assert check[check.index("--") :] == ["--", text]
    assert not (tmp_path / "planted").exists()


def test_a_key_is_a_file_while_it_is_used_and_in_no_variable(repository: Path, tmp_path: Path) -> None:
    log = fake_opcert(tmp_path)  # which looks for the variable
    made = runner(repository, tmp_path, runtime="r", key="-----BEGIN $(touch planted)\n;")
    made.run(left_out=(INSTALL,))
    (words,) = words_of(log)
    assert not Path(words[words.index("--key") + 1]).exists()
    assert not (tmp_path / "planted").exists()
    assert made.code == 0


def test_a_model_goes_with_nothing_that_chooses_cases(repository: Path, tmp_path: Path) -> None:
    log = fake_opcert(tmp_path)
    made = runner(repository, tmp_path, runtime="r", model="m.onnx", opset="17")
    made.run(left_out=(INSTALL,))
    assert made.code == 2
    assert "::error title=opcert::a model brings its own calls" in made.steps["ask"].printed
    assert not log.exists()


@pytest.mark.parametrize(
    ("code", "fail_on", "answer", "result"),
    [
        (0, "gate", 0, "holds"),
        (0, "failing", 1, "holds"),
        (1, "gate", 1, "fails"),
        (1, "never", 0, "fails"),
        (2, "never", 2, "error"),
        (5, "never", 5, "error"),
    ],
)
def test_the_step_fails_when_it_is_asked_to_and_where_nothing_can_be_said(
    repository: Path, tmp_path: Path, code: int, fail_on: str, answer: int, result: str
) -> None:
    fake_opcert(tmp_path, code)
    (tmp_path / "opcert-report").mkdir()
    (tmp_path / "opcert-report" / "junit.xml").write_text('<testsuites tests="9" failures="2" errors="1"/>')
    made = runner(repository, tmp_path, runtime="r", fail_on=fail_on)
    outputs = made.run(left_out=(INSTALL,))
    assert (outputs["cases"], outputs["failing"]) == ("9", "3")
    assert (made.code, outputs["result"], outputs["exit-code"]) == (answer, result, str(code))
    assert ("::error title=opcert::Nothing can be said" in made.steps["tell"].printed) == (result == "error")


@pytest.mark.slow
def test_a_runtime_that_is_right(repository: Path, tmp_path: Path) -> None:
    own_environment(tmp_path)
    suite = identity_suite(tmp_path, 3)
    (tmp_path / "profile.yaml").write_text(PROFILE)
    made = runner(
        repository, tmp_path, runtime="fake_backends:Good", suite=str(suite), profile="profile.yaml"
    )
    outputs = made.run(left_out=(INSTALL,))
    assert made.code == 0, made.steps["ask"].printed
    assert (outputs["result"], outputs["cases"], outputs["failing"]) == ("holds", "3", "0")
    for name in ("report", "junit", "record", "certificate"):
        assert (tmp_path / outputs[name]).is_file()
    assert "100.0 % of 3 decided cases conform; none fails" in (tmp_path / "github_summary").read_text()
    assert "::error" not in made.steps["tell"].printed
    assert re.search(
        r"^::notice title=.*::1 operator: 1 without a failure", made.steps["tell"].printed, re.MULTILINE
    )
    assert made.used["actions/upload-artifact@v4"] == {
        "name": "opcert", "path": "opcert-report", "if-no-files-found": "ignore"
    }  # fmt: skip


@pytest.mark.slow
def test_a_runtime_that_is_wrong_fails_on_what_is_new(repository: Path, tmp_path: Path) -> None:
    own_environment(tmp_path)
    suite, baseline = identity_suite(tmp_path, 3), tmp_path / "known.yaml"
    baseline.write_text("known: []\n")
    asked = {"runtime": "fake_backends:Raises", "suite": str(suite), "baseline": "known.yaml"}
    made = runner(repository, tmp_path, **asked)
    outputs = made.run(left_out=(INSTALL,))
    assert (made.code, outputs["result"], outputs["failing"]) == (1, "fails", "3")
    errors = re.findall(r"^::error title=(.*)$", made.steps["tell"].printed, re.MULTILINE)
    assert len(errors) == 1
    assert "opcert repro" in errors[0]
    rows = [json.loads(line) for line in (tmp_path / outputs["record"]).read_text().splitlines()]
    cases = [row["case"] for row in rows if row["type"] == "result"]
    entry = {"verdict": "rejected_valid", "reason": "of old", "expires": date(2100, 1, 1), "cases": cases}
    baseline.write_text(yaml.safe_dump({"known": [entry]}))
    made = runner(repository, tmp_path, **asked)
    outputs = made.run(left_out=(INSTALL,))
    assert (made.code, outputs["result"], outputs["failing"]) == (0, "holds", "3")
    assert "::error" not in made.steps["tell"].printed
    assert "known or waived" in made.steps["tell"].printed


@pytest.mark.nightly
@pytest.mark.slow
def test_installing_makes_an_environment_with_opcert(repository: Path, tmp_path: Path) -> None:
    """As it stands, of a wheel that has what opcert's own has: its entry, its packages, its lock."""
    source = tmp_path / "source"
    (source / "specs").mkdir(parents=True)
    (source / "specs" / "__init__.py").write_text("")
    shutil.copy(repository / "specs" / "suite.lock", source / "specs")
    (source / "said.py").write_text("def main():\n    print('opcert of this place')\n")
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "opcert"\nversion = "9"\n[project.scripts]\nopcert = "said:main"\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["specs", "said.py"]\n'
    )
    words = ["uv", "build", "--quiet", "--wheel", "--out-dir", str(tmp_path / "dist"), str(source)]
    subprocess.run(words, check=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    made = ActionRunner(repository, tmp_path, {"runtime": "r", "package": str(wheel), "fail-on": "never"})
    made.surroundings = {"PIP_NO_INDEX": "1"}
    steps = [each["name"] for each in made.action["runs"]["steps"] if each["name"] != INSTALL]
    made.run(left_out=tuple(step for step in steps if "Keep suites" not in step))
    assert made.code == 0, made.steps["install"].printed
    found = made.steps["install"].outputs
    ran = subprocess.run([f"{found['environment']}/bin/opcert"], check=True, capture_output=True, text=True)
    assert ran.stdout == "opcert of this place\n"
    assert re.fullmatch(r"opcert-[0-9a-f]{16}", found["kept"])
    assert found["kept"] in made.used["actions/cache@v4"]["key"]
    wrong = ActionRunner(repository, tmp_path, {"runtime": "r", "fail-on": "sometimes"})
    wrong.run()
    assert wrong.code == 2
    assert "fail-on is none of gate, failing and never" in wrong.steps["install"].printed
