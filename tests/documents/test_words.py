"""Pages, help and messages use the field's words: the list of CONTRIBUTING.md is held against them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from opcert.commands import cli
from opcert.vocabulary.yaml_files import load_file
from tests.conftest import REPOSITORY, doc_section

_SECTION = "Words"
_NAMES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "specs/README.md")
PAGES = (*(REPOSITORY / name for name in _NAMES), *sorted(REPOSITORY.glob("docs/*.md")))
MESSAGES = sorted(
    path for room in ("opcert", "conformance", "reports") for path in (REPOSITORY / room).rglob("*.py")
)
SPECS = REPOSITORY / "specs"
TEMPLATES = sorted(path for end in ("j2", "js") for path in (REPOSITORY / "reports").rglob(f"*.{end}"))
LEFT = {
    "conformance/processes/worker_limits.py": "it was asked for",
    "conformance/adapters/nxrt.py": "was asked to run",
    "conformance/running/requests.py": "behind other extents",
    "conformance/suite/goldens.py": "answer, refuse or survive",
    "conformance/judging/judge.py": "refused",
    "reports/certificates/certificate.py": "refused",
}
"""Words of records and suites, which are formats, and what a runtime itself says: they stay."""


def _phrases() -> list[str]:
    """The right column of the list; a number in a phrase stands for any."""
    rows = doc_section((REPOSITORY / "CONTRIBUTING.md").read_text("utf-8"), _SECTION).splitlines()
    columns = [row.strip("|").split("|")[1] for row in rows if row.startswith("| ")]
    return [phrase for column in columns for phrase in re.findall(r"`([^`]+)`", column)]


PHRASES = _phrases()
_FORMS = [re.sub(r"\d", r"\\d", re.escape(each)).replace(r"\ ", r"\s+") for each in PHRASES]
_ANY = re.compile(rf"\b(?:{'|'.join(_FORMS)})\b(?!-)", re.IGNORECASE)


def prose(page: str) -> str:
    """A page without code, and without what a command or a test writes between two marks."""
    text = re.sub(r"<!-- (\w+): begin -->.*?<!-- \1: end -->", "", page, flags=re.DOTALL)
    text = re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1$", "", text)
    return re.sub(r"`[^`]*`", "", text)


def messages(path: Path) -> Iterator[str]:
    """The texts of a module's code that are no docstrings and more than a word."""
    tree = ast.parse(path.read_text("utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in docs:
            continue
        if isinstance(node.value, str) and " " in node.value.strip():
            yield node.value


def text_of_template(page: str) -> str:
    """What a template or a script of pages says: without names in it, and without what it puts in."""
    return re.sub(r"\{%.*?%\}|\{\{[^\"]*?\}\}|\$\{[^}]*\}|\b[\w.]*[\w)]\.\w+|^ *//.*$", "", page, flags=re.M)


def help_of(name: str) -> str:
    context = click.Context(cli, info_name="opcert")
    command = cli.get_command(context, name)
    assert command is not None
    return command.get_help(click.Context(command, info_name=name, parent=context))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_a_page_has_none_of_the_words(page: Path) -> None:
    assert _ANY.findall(prose(page.read_text("utf-8"))) == []


@pytest.mark.parametrize("name", cli.list_commands(click.Context(cli)))
def test_a_help_text_has_none_of_the_words(name: str) -> None:
    first = cli.get_help(click.Context(cli, info_name="opcert"))
    assert _ANY.findall(f"{first}\n{help_of(name)}") == []


def test_messages_have_none_of_the_words() -> None:
    found = [
        f"{name}: {text}"
        for path in MESSAGES
        for name in [str(path.relative_to(REPOSITORY))]
        for text in messages(path)
        if _ANY.search(text.replace(LEFT.get(name, "\0"), ""))
    ]
    assert found == []


def test_causes_have_none_of_the_words() -> None:
    lists = sorted((*SPECS.glob("*/*/disagreements.yaml"), *SPECS.glob("disagreements/*.yaml")))
    found = [
        f"{path.relative_to(SPECS)}: {entry[field]}"
        for path in lists
        for document in load_file(path)
        for entry in document.value.get("cases", [])
        for field in ("title", "explanation")
        if _ANY.search(prose(str(entry.get(field, ""))))
    ]
    assert len(lists) > 100
    assert found == []


@pytest.mark.parametrize("page", TEMPLATES, ids=lambda page: page.name)
def test_pages_of_reports_and_sites_have_none_of_the_words(page: Path) -> None:
    assert _ANY.findall(text_of_template(page.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    "text", ["open extents", "is Asked for", "the answer is 4", "it\nhangs on that", "answers with 5"]
)
def test_the_words_are_found(text: str) -> None:
    assert _ANY.search(text)


def test_a_template_is_read_without_what_it_puts_in() -> None:
    page = "{% for asked in cases %}<td>{{ asked.extents }}, told apart</td>{% endfor %}"
    assert _ANY.findall(text_of_template(page)) == ["told apart"]


@pytest.mark.parametrize(
    "text", ["`asked_axes`", "```sh\nopcert run  # answers 1\n```", "one dimension, unmasked"]
)
def test_code_and_longer_words_are_none(text: str) -> None:
    assert not _ANY.search(prose(text))
