"""How trustworthy the cases of an operator version are: worked out from what is there, never typed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from generator.adequacy.kept import adequacy_facts, adequacy_folder, cases_digest, read_kept
from generator.agreed import read_agreed
from opcert.vocabulary.names import OperatorName

Trust = Literal["imported", "declared", "referenced", "reviewed"]
"""`imported`: facts of its document alone. `declared`: calls are made from a declaration, which the truth
test holds against ONNX's checker. `referenced`: expectations come from a reference that witnesses agree with.
`reviewed`: its cases notice planted mistakes as they are meant to, and every case that fails on the runtimes
that were asked is explained."""
AIM = 0.97
"""The share of planted mistakes that are not equivalent which the cases of a reviewed operator notice."""


def trust_of_cases(
    operator: OperatorName,
    expectations: Mapping[str, str],
    coverage: Mapping[str, Any],
    folders: Sequence[Path] = (),
) -> Trust:
    """What cases of an operator version with a reference are worth: `reviewed` where they were, as they are.

    `expectations` are as `generator.adequacy.kept.expectations_of` has them.
    """
    folder = adequacy_folder(folders)
    measured = adequacy_facts(read_kept(operator, folder), expectations, coverage)
    agreed = read_agreed(operator, folder)
    if measured is None or agreed is None or measured["mutants"]["score"] < AIM:
        return "referenced"
    same = agreed.cases == cases_digest(expectations)
    return "reviewed" if same and agreed.explained else "referenced"
