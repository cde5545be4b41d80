"""How patterns begin a chain: with a weaver of the operator versions of one opset."""

from __future__ import annotations

from collections.abc import Callable

from generator.making.operators.opsets import DOMAIN, default_operators, operators_of_opset
from generator.models.chains.chains import Weaver

Weave = Callable[[], Weaver]
"""Begins a chain."""


def weave_in(opset: int) -> Weave:
    """Weavers of ONNX's operators in the versions of an opset; UserError for one that nothing is known of."""
    # What a chain spells out may have come later than its nodes.
    every = [*default_operators(), *operators_of_opset(opset)]
    operators = {each.name: each for each in every if each.domain == DOMAIN}
    return lambda: Weaver(operators, opset)
