"""Nobody writes text into a medium but through opcert/vocabulary/harmless.py: the sources are looked at."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = ("opcert", "conformance", "generator", "reference", "reports", "specs")
PRINTS = {
    "opcert/commands/terminal.py": "the one place that prints",
    "conformance/processes/confine.py": "runs in a worker's process, and prints into its standard error",
    "reports/single_cases/reproduction/reproduce.py": "is copied out of opcert; prints through its own `say`",
}
FOREIGN = ("conformance/workers/", "conformance/adopting/dump_", "specs/documents/packages/dump_")
"""Scripts that run in a runtime's environment and talk to opcert alone."""
FORBIDDEN = {
    "print": "say",
    "click.echo": "say",
    "click.secho": "say",
    "click.style": "say",
    "sys.stdout.write": "say",
    "sys.stderr.write": "say",
    "Console": "open_console or draw_table",
    "shlex.join": "for_shell",
    "shlex.quote": "for_shell",
    "xml.sax.saxutils.escape": "for_xml",
    "html.escape": "for_xml",
}


def name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return f"{name_of(function.value)}.{function.attr}"
    return function.id if isinstance(function, ast.Name) else ""


def offences(source: str) -> Iterator[str]:
    """The calls of a source that go around, with what to call instead."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name | ast.Attribute) and name_of(node) in FORBIDDEN:  # called, or handed on
            yield f"line {node.lineno}: {name_of(node)}, instead of {FORBIDDEN[name_of(node)]}"
        if not isinstance(node, ast.Call):
            continue
        name = name_of(node.func)
        words = {keyword.arg: keyword.value for keyword in node.keywords}
        ascii_alone = words.get("ensure_ascii")
        if (
            name in ("json.dumps", "json.dump")
            and isinstance(ascii_alone, ast.Constant)
            and not ascii_alone.value
        ):
            yield f"line {node.lineno}: {name} of more than ASCII, instead of for_json"


def sources(repository: Path) -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        for path in sorted((repository / package).rglob("*.py")):
            name = path.relative_to(repository).as_posix()
            if not name.startswith(FOREIGN):
                yield name, path.read_text("utf-8")


@pytest.mark.slow
def test_every_writer_takes_the_one_way(repository: Path) -> None:
    allowed = {
        "opcert/vocabulary/harmless.py",
        "reports/formats/html.py",  # compressed, and in base64
        *PRINTS,
    }
    found = {name: [*offences(text)] for name, text in sources(repository) if name not in allowed}
    assert not {name: each for name, each in found.items() if each}


def test_the_exceptions_are_needed(repository: Path) -> None:
    texts = dict(sources(repository))
    assert all([*offences(texts[each])] for each in PRINTS)


def test_scripts_to_copy_are_written_by_the_functions_for_python(repository: Path) -> None:
    """In the writer of scripts no text of a case is formatted by `!r` or stands in a comment by itself."""
    text = (repository / "reports" / "single_cases" / "standalone.py").read_text("utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FormattedValue):
            assert node.conversion == -1, f"line {node.lineno}: !r, instead of for_python"
        if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            assert not str(node.values[0].value).startswith("#"), f"line {node.lineno}: for_python_comment"


def test_what_goes_around_is_seen() -> None:
    wrong = [
        "print(1)",
        "partial(click.echo, err=True)",
        "click.echo(x)",
        "sys.stdout.write(x)",
        "shlex.join(x)",
        "json.dumps(x, ensure_ascii=False)",
    ]
    assert len([*offences("\n".join(wrong))]) == len(wrong)
    assert not [*offences("say(1)\njson.dumps(x)\n")]
