"""The pages of docs/: how many there are, where their links lead, and the list of commands in one of them."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import click
import pytest

from opcert.commands import cli
from opcert.vocabulary.errors import ExitCode
from tests.conftest import REPOSITORY, doc_section, headings
from tools.docs_site import outside

FOLDER = REPOSITORY / "docs"
PAGES = sorted(FOLDER.glob("*.md"))
TABLES = sorted((FOLDER / "tables").glob("*.md"))
ALL = (*(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "specs/README.md")), *PAGES, *TABLES)
MOST_PAGES, MOST_LINES = 12, 300
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_BEGIN, _END = "<!-- commands: begin -->", "<!-- commands: end -->"


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    titles = (re.sub(r"<[^>]*>|`", "", title) for _, _, title in headings(page.read_text("utf-8")))
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles)
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in plain}


def leads_nowhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    goal = (page.parent / path).resolve() if path else page
    if not goal.exists() or not goal.is_relative_to(REPOSITORY):
        return True
    return bool(anchor) and (goal.suffix != ".md" or anchor not in anchors(goal))


def list_of_commands() -> str:
    """The commands as docs/reference.md has them; `python -m tests.documents.test_docs_pages` writes it."""
    lines = []
    context = click.Context(cli, info_name="opcert")
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        called = click.Context(command, info_name=name, parent=context)
        words = [each for each in command.collect_usage_pieces(called) if each != "[OPTIONS]"]
        options = [
            max(each.opts, key=len)
            for each in command.params
            if isinstance(each, click.Option) and not each.hidden
        ]
        said = " ".join((command.help or "").split("\n\n")[0].split())
        listed = ", ".join(f"`{option}`" for option in options)
        told = f"- `{' '.join(['opcert', name, *words])}`: {said} Options: {listed}."
        lines += textwrap.wrap(told, 140, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines)


def around(page: str) -> tuple[str, str, str]:
    """A page before its list of commands, the list, and the rest."""
    before, begin, rest = page.partition(_BEGIN)
    found, end, after = rest.partition(_END)
    return before + begin, found, end + after


def test_pages_are_few_and_tables_short() -> None:
    assert len(PAGES) <= MOST_PAGES
    lengths = {page.name: len(page.read_text("utf-8").splitlines()) for page in TABLES}
    assert {name for name, lines in lengths.items() if lines > MOST_LINES} == set()


@pytest.mark.parametrize("page", ALL, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_link_leads_somewhere(page: Path) -> None:
    links = [each for each in _LINK.findall(page.read_text("utf-8")) if not re.match(r"[a-z]+:", each)]
    assert [each for each in links if leads_nowhere(page, each)] == []


@pytest.mark.parametrize("link", ["nothing.md", "check.md#nothing", "../../outside.md", "#nothing"])
def test_a_broken_link_is_told(link: str) -> None:
    assert leads_nowhere(FOLDER / "start.md", link)


@pytest.mark.parametrize(
    ("link", "on_the_site"),
    [
        ("[CONTRIBUTING.md](../CONTRIBUTING.md#tests)", "`CONTRIBUTING.md`"),
        (
            "[the schema](../conformance/schemas/manifest.json)",
            "the schema (`conformance/schemas/manifest.json`)",
        ),
        ("[check.md](check.md#the-results)", "[check.md](check.md#the-results)"),
    ],
)
def test_a_link_out_of_the_site_is_a_path_there(link: str, on_the_site: str) -> None:
    assert outside(link, None, 0) == on_the_site


def test_a_link_out_of_the_site_leads_to_the_repository_that_is_named() -> None:
    there = outside("[specs](../../specs/README.md#a) [start](../start.md)", "https://example.org/opcert/", 1)
    assert there == "[specs](https://example.org/opcert/blob/main/specs/README.md#a) [start](../start.md)"


def test_the_site_has_every_page() -> None:
    text = (REPOSITORY / "mkdocs.yml").read_text("utf-8")
    assert set(re.findall(r"[\w/-]+\.md", text.partition("nav:")[2])) == {
        str(page.relative_to(FOLDER)) for page in (*PAGES, *TABLES)
    }


def test_every_page_is_linked_from_the_start() -> None:
    links = {each.partition("#")[0] for each in _LINK.findall((FOLDER / "start.md").read_text("utf-8"))}
    assert {page.name for page in PAGES} - {"start.md"} <= links


def test_the_reference_lists_the_commands_and_exit_codes() -> None:
    page = (FOLDER / "reference.md").read_text("utf-8")
    assert around(page)[1] == f"\n{list_of_commands()}\n"
    codes = re.findall(r"(?m)^\| (\d+) \|", doc_section(page, "Exit codes"))
    assert codes == [str(int(code)) for code in ExitCode]


if __name__ == "__main__":
    path = FOLDER / "reference.md"
    before, _, after = around(path.read_text("utf-8"))
    path.write_text(f"{before}\n{list_of_commands()}\n{after}", "utf-8")
