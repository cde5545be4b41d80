"""`--help`: of every command, from where it stands, without what only a run needs."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from opcert.commands import CommandsByName, cli
from tests.commands.command_line import call

assert isinstance(cli, CommandsByName)
NAMES = cli.list_commands(click.Context(cli))


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    answer = call(capsys, "--help")
    assert answer.code == 0
    for name in NAMES:
        assert f"  {name} " in answer.out


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_says_what_each_option_is_for(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    answer = call(capsys, name, "--help")
    assert (answer.code, answer.err) == (0, "")
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command is not None
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
            assert parameter.opts[-1] in answer.out


def test_help_imports_nothing_that_is_slow() -> None:
    script = (
        "import sys, contextlib\n"
        "from opcert.commands import main\n"
        "for name in sys.argv[1:]:\n"
        "    with contextlib.suppress(SystemExit):\n"
        "        main([name, '--help'])\n"
        "slow = {'numpy', 'onnx', 'pydantic', 'yaml', 'rich', 'jinja2', 'docutils', 'importlib.metadata'}\n"
        "print(sorted(slow & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, *NAMES], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    answer = call(capsys, "--version")
    assert (answer.code, answer.out.startswith("opcert, version ")) == (0, True)
