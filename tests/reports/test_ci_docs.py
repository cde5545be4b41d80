"""docs/ci.md: its commands are taken out of the page and run, in its order, on a fake runtime."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import venv
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from reports.gates.baseline import LASTS, Baseline, read_baseline, write_baseline
from reports.gates.profiles import read_profile
from tests.commands.command_line import call, identity_suite
from tests.conformance.samples import FAKES

pytestmark = pytest.mark.slow

_BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
PROFILE = "profile: identity\ndescription: Identity alone\noperators: [ai.onnx::Identity-13]\n"


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "ci.md").read_text().partition("\n## On a cluster")[0]


def blocks(page: str, language: str) -> list[str]:
    return [text for name, text in _BLOCK.findall(page) if name == language]


def commands(page: str) -> list[str]:
    """Every command of the page, in its order; installing is left to whoever runs the tests."""
    found = []
    for language, text in _BLOCK.findall(page):
        if language == "bash":
            found.append(text)
            continue
        document = yaml.safe_load(text)
        for job in document.get("jobs", {}).values():
            found += [step["run"] for step in job["steps"] if "run" in step]
        for job in document.values():
            if isinstance(job, dict):
                found += [*job.get("script", ()), *job.get("after_script", ())]
    return [each for each in found if not each.startswith("python -m pip install")]


def run(capsys: pytest.CaptureFixture[str], line: str) -> int:
    """Run a line as a shell would: opcert in this process, which takes a fraction of the time."""
    if not line.startswith("opcert "):
        return subprocess.run(["bash", "-euc", line], check=False).returncode
    words = shlex.split(os.path.expandvars(line), comments=True)
    target = Path(words[words.index(">>") + 1]) if ">>" in words else None
    end = min((words.index(each) for each in (">>", "||") if each in words), default=len(words))
    answer = call(capsys, *words[1:end])
    if target is not None:
        with target.open("a") as file:
            file.write(answer.out)
    forgiven = answer.code == 1 and words[end:] == ["||", "[", "$?", "-eq", "1", "]"]
    return 0 if forgiven else answer.code


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of somebody's runtime, with a suite of three cases."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.setenv("SUITE", str(identity_suite(tmp_path, 3)))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    return tmp_path


def test_the_commands_run_as_they_stand(
    page: str, place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNTIME", "fake_backends:Good")
    (place / "profile.yaml").write_text(PROFILE)
    lines = [line for command in commands(page) for line in command.splitlines()]
    assert len([line for line in lines if line.startswith("opcert ")]) >= 14
    for line in lines:
        assert run(capsys, line) == 0, line
        # What earlier jobs and releases left.
        if (place / "out" / "run.jsonl").exists():
            for name in ("base", "previous"):
                shutil.copytree(place / "out", place / name, dirs_exist_ok=True)
    assert (place / "runs" / "index.html").is_file()
    assert "100.0 % of 3 decided cases conform; none fails" in (place / "summary.md").read_text()
    assert (place / "merged" / "certificate.json").is_file()


def install_lines(page: str) -> list[str]:
    """The lines of the page that install opcert, one for each service that it speaks of."""
    return re.findall(r"python -m pip install .*", page)


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a release, built of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    words = ["uv", "build", "--quiet", "--wheel", "--out-dir", str(folder), str(repository)]
    subprocess.run(words, check=True)
    return next(folder.glob("*.whl"))


def test_the_page_installs_what_there_is(page: str, wheel: Path, tmp_path: Path) -> None:
    """The lines as they stand, with the wheel's place; what opcert needs is there, as a mirror has it."""
    lines = install_lines(page)
    assert len(lines) == 2
    venv.create(tmp_path / "env", with_pip=True)
    binaries = tmp_path / "env" / "bin"
    theirs = next((tmp_path / "env").glob("lib/python*/site-packages"))
    (theirs / "mirror.pth").write_text(f"{Path(yaml.__file__).parents[1]}\n")
    clean = {each: text for each, text in os.environ.items() if each not in ("PYTHONPATH", "VIRTUAL_ENV")}
    path = f"{binaries}{os.pathsep}{os.environ['PATH']}"
    surroundings = {**clean, "PATH": path, "OPCERT": wheel.as_uri(), "PIP_NO_DEPS": "1"}
    for line in dict.fromkeys(lines):
        subprocess.run(["bash", "-euc", line], check=True, cwd=tmp_path, env=surroundings)
    where = "import opcert, specs; print(opcert.__file__, specs.__file__)"
    for words, told in (
        ([str(binaries / "opcert"), "--version"], metadata.version("opcert")),
        ([str(binaries / "python"), "-c", where], str(theirs)),
    ):
        ran = subprocess.run(
            words, check=True, cwd=tmp_path, env=surroundings, capture_output=True, text=True
        )
        assert told in ran.stdout


def test_no_line_installs_opcert_from_an_index(repository: Path) -> None:
    """An index may have another distribution of that name, or none."""
    named = re.compile(r"(pip3?|pipx|uv (?:pip|tool)) (install|run) [^\n`&]*\bopcert(?![-\w./]|\[\w+\] @ )")
    pages = [*repository.glob("*.md"), *(repository / "docs").rglob("*.md")]
    assert [str(path) for path in pages if named.search(path.read_text("utf-8"))] == []


def test_a_new_failure_fails_the_gate(
    page: str, place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same step that passes above, on a runtime that is wrong."""
    monkeypatch.setenv("RUNTIME", "fake_backends:Raises")
    step = next(command for command in commands(page) if command.endswith("--baseline opcert-known.yaml"))
    (place / "opcert-known.yaml").write_text("known: []\n")
    assert run(capsys, step) == 1


def test_the_profile_of_the_page_is_one(page: str) -> None:
    profiles = [block for block in blocks(page, "yaml") if block.startswith("profile:")]
    assert [read_profile(profile.encode(), "ci.md").profile for profile in profiles] == ["my-runtime"]


def test_the_baseline_of_the_page_is_one_and_its_days_are_those_of_the_code(
    page: str, tmp_path: Path
) -> None:
    (text,) = (block for block in blocks(page, "yaml") if block.startswith("known:"))
    (tmp_path / "known.yaml").write_text(text)
    (entry,) = read_baseline(tmp_path / "known.yaml").known
    assert entry.cause is not None
    written = write_baseline(Baseline(), tmp_path / "written.yaml").read_text()
    for told in (page, written):
        assert re.search(rf"\b{LASTS.days}\s+days\b", told.replace("\n# ", " "))


def test_the_examples_of_action_and_component_give_inputs_that_there_are(page: str, repository: Path) -> None:
    documents = [yaml.safe_load(block) for block in blocks(page, "yaml")]
    steps = [
        step
        for document in documents
        for job in document.get("jobs", {}).values()
        for step in job["steps"]
        if "example/opcert" in step.get("uses", "")
    ]
    action = yaml.safe_load((repository / "action.yml").read_text())
    assert [set(step["with"]) <= set(action["inputs"]) for step in steps] == [True]
    assert {each for each in action["inputs"] if f"`{each}`" not in page} == set()
    assert {each for each in action["outputs"] if f"`{each}`" not in page} == set()
    component, spec = (
        next(document["include"][0] for document in documents if "include" in document),
        next(yaml.safe_load_all((repository / "templates" / "opcert.yml").read_text()))["spec"]["inputs"],
    )
    assert set(component["inputs"]) <= set(spec)
    assert {each for each in spec if "default" not in spec[each]} <= set(component["inputs"])
    assert "/opcert@" in component["component"]
