"""action.yml and templates/opcert.yml from their first step to their last, installing this checkout.

Every shell step runs as it stands, in a folder of its own. Left out are the steps that are other actions
(`uses`: the cache and the artifact). Of installing nothing is left out; what opcert needs is there already.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.commands.checked_models import write_model
from tests.commands.command_line import identity_suite
from tests.commands.services import ActionRunner, gitlab_job, run_job
from tests.commands.test_action import HOSTILE, PROFILE
from tests.conformance.samples import FAKES

pytestmark = pytest.mark.nightly

SHELL_STEPS = {"install", "ask", "tell", "Answer"}
ORDERS = re.compile(r"^(?:::|##\[)(?!(?:error|warning|notice|group|endgroup)\b)", re.MULTILINE)
"""An order to the service's runner that is none of opcert's annotations."""


_PYTHON = """#!/bin/bash
if [ "$1 $2" = "-m venv" ] && [ -d {ready} ]; then rm -rf "$3"; exec ln -s {ready} "$3"; fi
{python} "$@" || exit
if [ "$1 $2" = "-m venv" ]; then echo {mirror} > "$(echo "$3"/lib/python3*/site-packages)/mirror.pth"; fi
"""


def surroundings(folder: Path, ready: Path | None = None) -> dict[str, str]:
    """A python3 in whose environments pip finds what opcert needs, in the versions of these tests.

    opcert itself is there as an editable installation alone, in whose place pip puts what it is given. Where
    an environment is `ready`, it is the one that is made.
    """
    binaries = folder / "bin"
    binaries.mkdir(exist_ok=True)
    python, mirror = shlex.quote(sys.executable), shlex.quote(str(Path(yaml.__file__).parents[1]))
    place = shlex.quote(str(ready or folder / "none"))
    (binaries / "python3").write_text(_PYTHON.format(python=python, mirror=mirror, ready=place))
    (binaries / "python3").chmod(0o755)
    return {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(FAKES)}


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a release, built of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    words = ["uv", "build", "--quiet", "--wheel", "--out-dir", str(folder), str(repository)]
    subprocess.run(words, check=True)
    return next(folder.glob("*.whl"))


@dataclass(frozen=True)
class Whole:
    """What a job came to: its exit code, all that it printed, the folder of its files."""

    code: int
    printed: str
    folder: Path
    outputs: Mapping[str, str]


def act(repository: Path, folder: Path, inputs: Mapping[str, str], ready: Path | None = None) -> Whole:
    """All steps of the action, none of them left out; pip builds what `GITHUB_ACTION_PATH` has."""
    made = ActionRunner(repository, folder, inputs, surroundings(folder, ready))
    outputs = made.run()
    printed = "".join(step.printed for step in made.steps.values())
    if "ask" in made.steps:
        assert set(made.steps) == SHELL_STEPS, printed
        assert set(made.used) == {"actions/cache@v4", "actions/upload-artifact@v4"}
    return Whole(made.code, printed, folder / (outputs["folder"] or "opcert-report"), outputs)


def job(repository: Path, folder: Path, inputs: Mapping[str, str], ready: Path | None = None) -> Whole:
    """The template's whole script in one shell."""
    own = {**surroundings(folder, ready), "TMPDIR": str(folder)}
    done = run_job(gitlab_job(repository, inputs), folder, "bash", own)
    return Whole(done.code, done.printed, folder / inputs.get("output", "opcert-report"), {})


def asked_of_suite(folder: Path) -> dict[str, str]:
    suite = identity_suite(folder, 3)
    (folder / "profile.yaml").write_text(PROFILE)
    return {"suite": str(suite), "profile": "profile.yaml"}


def test_the_action_installs_asks_tells_and_answers(repository: Path, tmp_path: Path) -> None:
    asked = asked_of_suite(tmp_path)
    found = act(repository, tmp_path, {**asked, "runtime": "fake_backends:Good"})
    told = [found.outputs[name] for name in ("result", "exit-code", "cases", "failing")]
    assert (found.code, told) == (0, ["holds", "0", "3", "0"]), found.printed
    for name in ("report", "junit", "record", "certificate"):
        assert (tmp_path / found.outputs[name]).is_file()
    assert "100.0 % of 3 decided cases conform; none fails" in (tmp_path / "github_summary").read_text()
    assert re.search(r"^::notice title=.*::1 operator: 1 without a failure", found.printed, re.MULTILINE)
    _is_this_checkout(tmp_path / "opcert-environment")
    wrong = act(repository, tmp_path, {**asked, "runtime": "fake_backends:Raises"})
    told = [wrong.outputs[name] for name in ("result", "exit-code", "cases", "failing")]
    assert (wrong.code, told) == (1, ["fails", "1", "3", "3"]), wrong.printed
    assert len(re.findall("^::error title=", wrong.printed, re.MULTILINE)) == 1
    gone = act(repository, tmp_path, {**asked, "runtime": "fake_backends:NoBackend", "fail-on": "never"})
    assert (gone.code, gone.outputs["result"]) == (4, "error"), gone.printed
    assert "::error title=opcert::Nothing can be said of the runtime" in gone.printed


def test_the_template_installs_asks_and_answers(repository: Path, wheel: Path, tmp_path: Path) -> None:
    asked = {**asked_of_suite(tmp_path), "package": wheel.as_uri()}
    for runtime, code, failures in (("Good", 0, 0), ("Raises", 1, 3), ("NoBackend", 4, None)):
        found = job(repository, tmp_path, {**asked, "runtime": f"fake_backends:{runtime}"})
        assert found.code == code, found.printed
        if failures is not None:
            assert f'failures="{failures}"' in (found.folder / "junit.xml").read_text()
    environments = [path.parents[1] for path in tmp_path.glob("tmp.*/bin/opcert")]
    assert len(environments) == 3
    _is_this_checkout(environments[0])


def _is_this_checkout(environment: Path) -> None:
    """What was asked lies in the environment that was made, and not in the one of these tests."""
    where = "import opcert, specs; print(opcert.__file__, specs.__file__)"
    words = [str(environment / "bin" / "python"), "-c", where]
    ran = subprocess.run(words, check=True, capture_output=True, text=True, cwd=environment)
    assert [word.startswith(str(environment)) for word in ran.stdout.split()] == [True, True]


@pytest.mark.parametrize("service", ["action", "template"])
def test_a_model_is_asked_about(repository: Path, wheel: Path, tmp_path: Path, service: str) -> None:
    write_model(tmp_path / "m.onnx")
    for runtime, code in (("Right", 0), ("WrongAlpha", 1)):
        asked = {"model": "m.onnx", "runtime": f"checked_backends:{runtime}", "package": wheel.as_uri()}
        found = (act if service == "action" else job)(repository, tmp_path, asked)
        assert found.code == code, found.printed
        assert {"index.html", "check.json", "check.md", "junit.xml"} <= {
            path.name for path in found.folder.iterdir()
        }
        (held,) = (row["holds"] for row in json.loads((found.folder / "check.json").read_text())["runtimes"])
        assert held == (code == 0)
        if service == "action":
            summary = (tmp_path / "github_summary").read_text()
            assert summary.count("# m.onnx: 4 nodes") == 1 + code
            assert ("::error title=opcert::Nodes of the model" in found.printed) == (code == 1)


def test_a_hostile_input_is_refused_and_never_run(repository: Path, wheel: Path, tmp_path: Path) -> None:
    """Each input by itself, with opcert as it is: a fake takes what the command line does not."""
    good = {
        **asked_of_suite(tmp_path),
        "runtime": "fake_backends:Good",
        "package": wheel.as_uri(),
        "fail-on": "never",
    }
    made = ActionRunner(repository, tmp_path, good, surroundings(tmp_path))
    assert made.run()["result"] == "holds"
    ready = (tmp_path / "opcert-environment").rename(tmp_path / "ready")
    names = (
        "runtime",
        "suite",
        "profile",
        "operators",
        "opset",
        "cases",
        "python",
        "output",
        "baseline",
        "jobs",
    )
    for turn, name in enumerate(names):
        text = f"{HOSTILE[turn % len(HOSTILE)]}\n::set-output name=x::y\n##[add-path]/x"
        for place, run in (("action", act), ("template", job)):
            folder = tmp_path / f"{place}-{name}"
            folder.mkdir()
            (folder / "profile.yaml").write_text(PROFILE)
            found = run(repository, folder, {**good, name: text}, ready)
            assert found.printed, name
            assert "opcert: bug" not in found.printed, (name, found.printed)
            assert not ORDERS.search(found.printed), (name, found.printed)
            if name not in ("output", "baseline"):  # where these lie is anybody's choice
                assert found.code, (place, name, found.printed)
            assert not list(folder.rglob("planted")), (place, name)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_package_or_interpreter_installs_nothing(
    repository: Path, tmp_path: Path, text: str
) -> None:
    for name in ("interpreter", "package"):
        made = ActionRunner(repository, tmp_path, {"runtime": "r", name: text}, surroundings(tmp_path))
        made.run()
        assert made.code or (name, text) == ("interpreter", "--version"), made.steps["install"].printed
        assert not list(tmp_path.rglob("planted"))
