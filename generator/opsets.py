"""The operator versions of one of ONNX's opsets, of those that cases can be made of."""

from __future__ import annotations

from generator.named_operators import reference_modules, referenced_versions
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from specs.spec_folders import OWN_FOLDER, versions_in

DOMAIN = "ai.onnx"
OLDEST = 7
"""Before it operators broadcast in another way, which no declaration says."""


def newest_opset() -> int:
    """The newest opset of which a page of an operator tells."""
    return max(max(versions_in(room), default=0) for room in (OWN_FOLDER / DOMAIN).iterdir() if room.is_dir())


def operators_of_opset(opset: int) -> list[OperatorName]:
    """The operators in the versions that are in force in an opset, of those that have a reference, in order.

    Raises UserError for an opset of which nothing is known.
    """
    newest = newest_opset()
    if not OLDEST <= opset <= newest:
        raise UserError("an opset without cases", got=str(opset), expected=f"{OLDEST} to {newest}")
    known = set(referenced_operators())
    found = []
    for name in {each.name for each in known if each.domain == DOMAIN}:
        before = [each for each in versions_in(OWN_FOLDER / DOMAIN / name) if each <= opset]
        operator = OperatorName(DOMAIN, name, max(before, default=0))
        if operator in known:
            found.append(operator)
    return sorted(found)


def referenced_operators() -> list[OperatorName]:
    """Every operator version that ships with a reference, in order."""
    return sorted({*reference_modules(), *referenced_versions()})
