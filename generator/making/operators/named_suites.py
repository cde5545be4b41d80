"""The suites that have a name: the default one, those of the first operators and of dialects, and one for
each opset.
"""

from __future__ import annotations

import re

from generator.asking.named_operators import first_operators
from generator.making.operators.opsets import (
    DIALECTS,
    OLDEST,
    default_operators,
    newest_opset,
    operators_of_dialect,
    operators_of_opset,
)
from opcert.vocabulary.names import DEFAULT_SUITE, OperatorName

FIRST = "first-operators"
_OPSET = re.compile(r"opset-(\d{1,3})")


def suite_names() -> list[str]:
    """Every name of a suite that is not another suite's too: the newest opset has the default suite."""
    return [DEFAULT_SUITE, FIRST, *DIALECTS, *(name_of_opset(each) for each in range(OLDEST, newest_opset()))]


def name_of_opset(opset: int) -> str:
    """What the suite of an opset is called."""
    return f"opset-{opset}"


def operators_named(name: str) -> list[OperatorName] | None:
    """The operators of the suite with that name, in order; None where the name is no suite's.

    Raises UserError for an opset of which nothing is known.
    """
    if name == DEFAULT_SUITE:
        return default_operators()
    if name == FIRST:
        return first_operators()
    if name in DIALECTS:
        return operators_of_dialect(name)
    found = _OPSET.fullmatch(name)
    return None if found is None else operators_of_opset(int(found[1]))
