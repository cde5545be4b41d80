"""Every command that README and the documents name is one that there is, with options that it has."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from opcert.commands import cli
from tests.conftest import REPOSITORY

PAGES = (REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted(REPOSITORY.glob("docs/**/*.md")))
_INLINE = re.compile(r"`((?:uv run )?(?:opcert|python -m (?:tools|benchmarks)\.)[^`]*)`")
_BLOCK = re.compile(
    r"^(?:    |\s*- run: |\s*- )?(?:.*&& )?"
    r"((?:uv run )?(?:opcert [a-z-]|python -m (?:tools|benchmarks)\.).*)$"
)
_ENDS = (">>", ">", "|", "||", "&&", ";")


def lines_of(page: Path) -> Iterator[tuple[int, str]]:
    """The commands of a page with their lines: of code that is set apart, and within sentences."""
    fenced = False
    text = page.read_text(encoding="utf-8").replace("uv run --no-dev ", "uv run ")
    for number, line in enumerate(text.splitlines(), start=1):
        fenced ^= line.startswith("```")
        if found := _BLOCK.match(line) if fenced or line.startswith("    ") else None:
            yield number, found[1]
        elif not fenced:
            yield from ((number, each) for each in _INLINE.findall(line))


def words_of(line: str) -> list[str]:
    words = shlex.split(line.removeprefix("uv run ").replace("[", "").replace("]", ""), comments=True)
    return words[: min((words.index(end) for end in _ENDS if end in words), default=len(words))]


def problem(words: list[str]) -> str | None:
    """What is wrong with a command; that a file is not here, or that an argument was left out, is nothing."""
    if words[0] == "python":
        return None if find_spec(words[2]) else f"no module {words[2]}"
    if len(words) < 2 or words[1].startswith("-") or words[1] == "COMMAND":
        return None
    command = cli.get_command(click.Context(cli), words[1])
    if command is None:
        return f"no command {words[1]}"
    try:
        command.make_context(words[1], [word.rstrip(".") for word in words[2:]])
    except (click.NoSuchOption, click.BadOptionUsage) as error:
        return error.format_message()
    except (click.UsageError, click.exceptions.Exit):
        return None
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_its_commands_are_there(page: Path) -> None:
    wrong = [
        f"{page.name}:{number}: {line}: {said}"
        for number, line in lines_of(page)
        if (said := problem(words_of(line))) is not None
    ]
    assert not wrong


def test_a_page_has_commands_of_both_kinds() -> None:
    found = [line for _, line in lines_of(PAGES[0])]
    assert any(each.startswith("uv run opcert certify onnxruntime") for each in found)
    assert any(each == "opcert verify" for each in found)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("opcert certiffy onnxruntime", "no command"),
        ("uv run opcert certify onnxruntime --proflie P", "No such option"),
        ("python -m benchmarks.nothing", "no module"),
        ("python -m tools.nothing", "no module"),
        ("opcert certify RUNTIME --profile P [--key KEY]  # a comment", None),
    ],
)
def test_what_is_not_there_is_told(line: str, said: str | None) -> None:
    found = problem(words_of(line))
    assert found is None if said is None else found is not None and said in found
