"""What came of a whole model with actual inputs, for programs; a part of `check.json`."""

from __future__ import annotations

from typing import Any

from conformance.checked_models.whole_model import EndEffect, NodeNumbers, OutputNumbers, WholeModelFacts


def numbers_json(numbers: WholeModelFacts) -> dict[str, Any]:
    """Inputs, each node's numbers, and what wrong ones do to the model's outputs."""
    return {
        "how": numbers.how,
        "inputs": [
            {"name": each.name, "type": each.element_type, "shape": list(each.shape), "source": each.source}
            for each in numbers.inputs
        ],
        "nodes": [_node(each) for each in numbers.nodes],
        "effects": [_effect(each) for each in numbers.effects],
        "passedOver": dict(numbers.passed_over),
        "notes": list(numbers.notes),
        "doesNotRun": numbers.does_not_run or None,
        "outputs": [_output(each) for each in numbers.outputs],
    }


def _node(node: NodeNumbers) -> dict[str, Any]:
    return {
        "place": node.place,
        "verdict": node.verdict,
        "why": node.why,
        "reason": node.reason or None,
        "ulps": node.ulps,
        "errorOverAllowed": node.over_bound,
        "output": node.output,
        "index": None if node.index is None else list(node.index),
        "expected": node.expected,
        "got": node.got,
        "elements": node.elements,
        "ofElements": node.of_elements,
    }


def _output(output: OutputNumbers) -> dict[str, Any]:
    apart = output.apart
    return {
        "name": output.name,
        "against": output.against,
        "beside": output.beside or None,
        "verdict": output.verdict,
        "errorOverAllowed": output.over_bound,
        "bounded": output.bounded,
        "reason": output.reason or None,
        "apart": None
        if apart is None
        else {
            "unit": apart.unit,
            "elements": apart.elements,
            "ofElements": apart.of_elements,
            "least": apart.least,
            "most": apart.most,
            "lost": apart.lost,
            "classes": apart.classes,
            "rows": apart.rows,
        },
    }


def _effect(effect: EndEffect) -> dict[str, Any]:
    return {
        "place": effect.place,
        "output": effect.output,
        "distance": effect.distance,
        "largest": effect.largest,
        "ulps": effect.ulps,
        "reason": effect.reason,
    }
