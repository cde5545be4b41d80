"""How trustworthy the cases of an operator version are: worked out from what is there, never typed in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from generator.measured.agreed import Agreed
from generator.measured.kept import cases_digest

Trust = Literal["imported", "declared", "referenced", "reviewed"]
"""`imported`: facts of its document alone. `declared`: calls are made from a declaration, which the truth
test holds against ONNX's checker. `referenced`: expectations come from a reference that witnesses agree with.
`reviewed`: its cases notice planted mistakes as they are meant to, and every case that fails on the runtimes
that were asked is explained."""
TrustOfCases = Literal["referenced", "reviewed"]
"""What operators come to that have a reference."""
AIM = 0.97
"""The share of planted mistakes that are not equivalent which the cases of a reviewed operator notice."""


def trust_of_cases(
    measured: Mapping[str, Any] | None, agreed: Agreed | None, expectations: Mapping[str, str]
) -> TrustOfCases:
    """What cases of an operator version with a reference are worth: `reviewed` where they were, as they are.

    `measured` is what they are known to notice (`generator.measured.kept.adequacy_facts`), `agreed` what
    runtimes made of cases when they were last asked, and `expectations` the cases and what they expect.
    """
    if measured is None or agreed is None or measured["mutants"]["score"] < AIM:
        return "referenced"
    same = agreed.cases == cases_digest(expectations)
    return "reviewed" if same and agreed.explained else "referenced"


def trust_as_locked(
    locked: str | None, agreed: Agreed | None, expectations: Mapping[str, str]
) -> TrustOfCases:
    """What cases are worth of which the lock says this: no longer `reviewed` where they are others now.

    They are those that runtimes made of what `agreed` says, or nobody has reviewed them as they are.
    """
    if locked != "reviewed" or agreed is None or not agreed.explained:
        return "referenced"
    return "reviewed" if agreed.cases == cases_digest(expectations) else "referenced"
