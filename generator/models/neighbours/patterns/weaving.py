"""How patterns put chains together: with a weaver of the operator versions of one opset."""

from __future__ import annotations

from generator.making.operators.opsets import DOMAIN, default_operators, operators_of_opset
from generator.models.chains.chains import Weaver


def weave_in(opset: int) -> Weaver:
    """A weaver of ONNX's operators in an opset's versions; UserError for one that nothing is known of."""
    # What a chain spells out may have come later than its nodes.
    every = [*default_operators(), *operators_of_opset(opset)]
    return Weaver({operator.name: operator for operator in every if operator.domain == DOMAIN}, opset)
