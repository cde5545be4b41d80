"""What a tool is asked for in words; `--help` prints what it says of itself."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from opcert.commands.failures import explain
from opcert.vocabulary.errors import OpcertError


def parser_of(about: str | None) -> argparse.ArgumentParser:
    """A parser whose help is the tool's docstring."""
    return argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )


def exit_code_of(main: Callable[[Sequence[str]], int]) -> int:
    """Run a tool with the words of the command line; a mistake in them is told as commands tell it."""
    try:
        return main(sys.argv[1:])
    except OpcertError as error:
        return explain(error, sys.argv[1:])
