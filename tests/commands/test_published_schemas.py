"""action.yml and templates/opcert.yml against the schemas that are published for GitHub's and GitLab's files.

They come with check-jsonschema, which takes them from SchemaStore and from GitLab.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for

from tests.commands.services import ACTION, TEMPLATE, gitlab_job

Change = Callable[[Any], object]


@cache
def schema(name: str) -> Validator:
    """The validator of a schema by its file's name."""
    place = files("check_jsonschema") / "builtin_schemas" / "vendor" / f"{name}.json"
    found = json.loads(place.read_text(encoding="utf-8"))
    kind = validator_for(found)
    kind.check_schema(found)
    return kind(found)


def mistakes(name: str, document: Any) -> list[str]:
    return [f"{list(error.path)}: {error.message[:200]}" for error in schema(name).iter_errors(document)]


def action(repository: Path) -> Any:
    return yaml.safe_load((repository / ACTION).read_text())


def template(repository: Path) -> list[Any]:
    """The two documents of the component: its header with the inputs, and its job."""
    return list(yaml.safe_load_all((repository / TEMPLATE).read_text()))


def test_the_action_is_one_by_its_published_schema(repository: Path) -> None:
    assert mistakes("github-actions", action(repository)) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found["runs"].update(using="composit"),
        lambda found: found["runs"]["steps"][0].pop("shell"),
        lambda found: found["inputs"]["runtime"].update(required="yes"),
        lambda found: found["branding"].update(colour="blue"),
        lambda found: found.pop("name"),
    ],
)
def test_a_mistake_in_the_action_is_noticed(repository: Path, change: Change) -> None:
    found = action(repository)
    change(found)
    assert mistakes("github-actions", found)


def test_the_component_is_one_by_its_published_schema(repository: Path) -> None:
    header, jobs = template(repository)
    assert set(header) == {"spec"}
    assert mistakes("gitlab-ci", header) == []
    assert mistakes("gitlab-ci", jobs) == []


@pytest.mark.parametrize(
    "given", [{}, {"model": "m.onnx", "job": "mine", "stage": "deploy", "fail-on": "never"}]
)
def test_the_job_is_one_with_its_inputs_in_place(repository: Path, given: dict[str, str]) -> None:
    job = gitlab_job(repository, {"runtime": "r", "package": "p", **given})
    assert mistakes("gitlab-ci", {given.get("job", "opcert"): job}) == []


@pytest.mark.parametrize(
    ("document", "change"),
    [
        (0, lambda found: found["spec"]["inputs"]["jobs"].update(default={"2": 2})),
        (0, lambda found: found["spec"]["inputs"]["jobs"].update(type="text")),
        (0, lambda found: found["spec"]["inputs"]["fail-on"].update(options="gate")),
        (0, lambda found: found["spec"].update(input={})),
        (1, lambda found: next(iter(found.values())).update(script={"run": "true"})),
        (1, lambda found: next(iter(found.values())).update(scripts=["true"])),
        (1, lambda found: next(iter(found.values()))["artifacts"].update(when="sometimes")),
        (1, lambda found: next(iter(found.values()))["cache"].update(paths="of/one")),
        (1, lambda found: next(iter(found.values()))["variables"].update(IN_MODEL={"expand": "no"})),
    ],
)
def test_a_mistake_in_the_component_is_noticed(repository: Path, document: int, change: Change) -> None:
    found = template(repository)[document]
    change(found)
    assert mistakes("gitlab-ci", found)
