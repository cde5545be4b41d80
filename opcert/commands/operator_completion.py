"""Completing names of operators in a shell: by names of files, so that nobody waits for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.vocabulary.errors import UserError

if TYPE_CHECKING:
    from opcert.vocabulary.names import OperatorName


def complete_suites(context: click.Context, _: click.Parameter, begin: str) -> list[str]:
    """The operators that cases can be made of whose names begin so."""
    from generator.asking.named_operators import known_operators

    return _beginning(begin, known_operators, context)


def complete_specs(context: click.Context, _: click.Parameter, begin: str) -> list[str]:
    """The operators with a spec whose names begin so."""
    from specs.files.spec_folders import list_operators

    return _beginning(begin, list_operators, context)


def _beginning(
    begin: str, find: Callable[[Sequence[Path]], Sequence[OperatorName]], context: click.Context
) -> list[str]:
    """`Resize-18`, or `ai.onnx/Resize-18` for who begins with the domain: shells split words at a colon."""
    folders: Sequence[Path] = context.params.get("folders") or ()
    try:
        found = find(folders)
    except UserError:  # a folder that is not there: the command will say so
        return []
    short = sorted({operator.short for operator in found if operator.short.startswith(begin)})
    return short or sorted(operator.path for operator in found if operator.path.startswith(begin))
