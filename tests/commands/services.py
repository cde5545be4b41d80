"""What GitHub's and GitLab's runners do with action.yml and templates/opcert.yml, as far as these use it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

ACTION = "action.yml"
TEMPLATE = "templates/opcert.yml"
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_INPUT = re.compile(r"\$\[\[\s*inputs\.([\w-]+)\s*\]\]")


@dataclass
class Step:
    """What a step came to: its exit code, what it printed, what it put out."""

    code: int
    printed: str
    outputs: Mapping[str, str]


@dataclass
class ActionRunner:
    """Runs the scripts of a composite action as they stand, with their variables filled in from expressions.

    What another action does (`uses`) is left out; its inputs are kept in `used`, by the action's name.
    """

    repository: Path
    folder: Path
    inputs: Mapping[str, str]
    surroundings: Mapping[str, str] = field(default_factory=dict)
    steps: dict[str, Step] = field(default_factory=dict)
    used: dict[str, Mapping[str, str]] = field(default_factory=dict)
    code: int = 0

    @cached_property
    def action(self) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load((self.repository / ACTION).read_text())
        return found

    def run(self, left_out: tuple[str, ...] = ()) -> dict[str, str]:
        """Run every step whose condition holds, but those `left_out` by name; the action's outputs."""
        for step in self.action["runs"]["steps"]:
            if step["name"] in left_out or not self._holds(str(step.get("if", "success()"))):
                continue
            if "uses" in step:
                self.used[step["uses"]] = {
                    name: self._filled(str(text)) for name, text in step["with"].items()
                }
                continue
            done = self._run(step)
            self.steps[step.get("id", step["name"])] = done
            self.code = self.code or done.code
        return {name: self._filled(each["value"]) for name, each in self.action["outputs"].items()}

    def _run(self, step: Mapping[str, Any]) -> Step:
        out, summary = self.folder / "github_output", self.folder / "github_summary"
        out.write_text("")
        script = self.folder / "script.sh"
        script.write_text(step["run"])
        variables = {name: self._filled(text) for name, text in step.get("env", {}).items()}
        own = {
            "GITHUB_OUTPUT": str(out),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_ACTION_PATH": str(self.repository),
            "RUNNER_TEMP": str(self.folder),
        }
        ran = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.folder,
            env={**os.environ, **self.surroundings, **own, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        lines = [line.partition("=") for line in out.read_text().splitlines()]
        return Step(ran.returncode, ran.stdout + ran.stderr, {name: text for name, _, text in lines})

    def _holds(self, condition: str) -> bool:
        parts = [word.strip() for word in condition.split("&&")]
        if "always()" not in parts and self.code:
            return False
        return all(self._part_holds(part) for part in parts if part not in ("always()", "success()"))

    def _part_holds(self, part: str) -> bool:
        name, operator, nothing = part.split()
        assert (operator, nothing) == ("!=", "''"), part
        return self._value(name) != ""

    def _filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda found: self._value(found[1]), text)

    def _value(self, name: str) -> str:
        match name.split("."):
            case ["inputs", key]:
                declared = self.action["inputs"][key]
                return self.inputs[key] if key in self.inputs else declared["default"]
            case ["steps", step, "outputs", key]:
                return self.steps[step].outputs.get(key, "") if step in self.steps else ""
        raise AssertionError(f"an expression that this runner does not know: {name}")


def gitlab_job(repository: Path, inputs: Mapping[str, str]) -> dict[str, Any]:
    """The one job of the template, with its inputs put into its texts as GitLab does."""
    spec, jobs = yaml.safe_load_all((repository / TEMPLATE).read_text())
    declared = spec["spec"]["inputs"]
    values = {name: each.get("default") for name, each in declared.items()} | dict(inputs)
    assert set(values) == set(declared), "no such input"
    assert None not in values.values(), "a mandatory input lacks"
    for name, each in declared.items():
        assert values[name] in each.get("options", [values[name]])

    def fill(value: Any) -> Any:
        if isinstance(value, dict):
            return {fill(name): fill(each) for name, each in value.items()}
        if isinstance(value, list):
            return [fill(each) for each in value]
        return _INPUT.sub(lambda found: values[found[1]], value) if isinstance(value, str) else value

    (job,) = fill(jobs).values()
    found: dict[str, Any] = job
    return found


def run_job(job: Mapping[str, Any], folder: Path, shell: str, surroundings: Mapping[str, str]) -> Step:
    """Run the script of a job in one shell, with its variables, none of them expanded that says so."""
    project = {"CI_PROJECT_DIR": str(folder)}
    variables = {}
    for name, each in job["variables"].items():
        if isinstance(each, dict):
            assert each["expand"] is False
            variables[name] = each["value"]
        else:
            variables[name] = each.replace("$CI_PROJECT_DIR", project["CI_PROJECT_DIR"])
    options = ["-eo", "pipefail"] if shell == "bash" else ["-e"]
    ran = subprocess.run(
        [shell, *options, "-c", "\n".join(job["script"])],
        cwd=folder,
        env={**os.environ, **surroundings, **project, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return Step(ran.returncode, ran.stdout + ran.stderr, {})
