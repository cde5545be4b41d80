"""ONNX's node tests of calls that have no cases: weaker evidence, which is better than none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from opcert.commands.terminal import note
from opcert.vocabulary.errors import OpcertError

if TYPE_CHECKING:
    from conformance.checked_models.model_calls import ModelCall
    from conformance.suite.cases import Case
    from generator.models.check.call_cases import CallCases

ANSWERED_BY_NONE = ("unknown", "not_valid")
"""Reasons for which no node test is of the call."""


def with_node_tests(made: Sequence[CallCases]) -> list[CallCases]:
    """The same, with the node tests of the calls that have no cases."""
    wanted = [each for each in made if _may_have_some(each)]
    if not wanted:
        return list(made)
    # Imported here, because most models have cases for all that they ask.
    from generator.models.check.model_suite import node_tests_of_call
    from opcert.commands.suite_argument import ONNX_NODE, resolve_suite

    try:
        suite = resolve_suite(ONNX_NODE)
    except OpcertError as error:
        note(f"ONNX's node tests are not to be had: {error}")
        return list(made)
    found = {}
    with suite:
        for each in wanted:
            tests = node_tests_of_call(each.call, suite)
            found[each.key] = tuple(case for case in tests if is_like(case, each.call))
    return [replace(each, node_tests=found.get(each.key, ())) for each in made]


def _may_have_some(made: CallCases) -> bool:
    left = made.not_covered
    return left is not None and left.why not in ANSWERED_BY_NONE and made.call.operator is not None


def is_like(case: Case, call: ModelCall) -> bool:
    """Whether a case takes tensors of the element types and ranks of a call, as far as the model says them.

    What a runtime makes of other types says nothing of the call.
    """
    given, wanted = [each for _, each in case.inputs], list(call.first.inputs)
    while wanted and wanted[-1] is None:
        wanted.pop()
    while given and given[-1] is None:
        given.pop()
    if len(given) != len(wanted):
        return False
    for tensor, value in zip(given, wanted, strict=True):
        if (tensor is None) != (value is None):
            return False
        if tensor is None or value is None:
            continue
        if value.element_type is not None and tensor.element_type.name != value.element_type:
            return False
        if value.shape is not None and len(tensor.shape) != len(value.shape):
            return False
    return True
