"""The linter's rules that need the reference, in the form of `specs.rules`."""

from __future__ import annotations

from functools import cache

from specs.rules import LintRule, read_rules


@cache
def rules() -> tuple[LintRule, ...]:
    """Every rule that needs the reference, in the order of the codes."""
    return read_rules(__name__)
