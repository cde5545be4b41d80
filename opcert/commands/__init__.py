"""The command line: one module per command, found by name and imported when it is called."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import click

from opcert.errors import ExitCode, OpcertError

_SUFFIX = "_command"


class CommandsByName(click.Group):
    """A group whose commands are the modules `<name>_command.py` of this folder."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(
            path.stem.removesuffix(_SUFFIX) for path in Path(__file__).parent.glob(f"*{_SUFFIX}.py")
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = import_module(f"opcert.commands.{cmd_name}{_SUFFIX}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the first line of each module, without importing any."""
        rows = []
        for name in self.list_commands(ctx):
            source = Path(__file__).with_name(f"{name}{_SUFFIX}.py").read_text(encoding="utf-8")
            rows.append((name, source.split('"""', 2)[1].splitlines()[0]))
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


@click.group(cls=CommandsByName, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("opcert"), prog_name="opcert")
def cli() -> None:
    """Certify what a tensor-operator runtime supports, from the operators' own documents."""


def main() -> None:
    """Run the command line; every error of ours becomes a message and its exit code, never a traceback."""
    try:
        code = cli.main(standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(ExitCode.INTERRUPTED)
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(ExitCode.USAGE)
    except OpcertError as error:
        click.echo(f"opcert: {error.party}: {error}", err=True)
        sys.exit(error.exit_code)
    sys.exit(code if isinstance(code, int) else ExitCode.HOLDS)
