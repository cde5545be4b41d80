"""ONNX's own node tests of a call: weaker evidence, for where nothing else says what is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np
from onnx import ModelProto

from conformance.adopting.adopted_cases import WRITTEN_AS
from conformance.checked_models.model_calls import ModelCall
from conformance.suite.cases import Case
from conformance.suite.protos import read_attribute
from conformance.suite.suites import Suite
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from specs.files.library import load_spec

_NODE = "node"


def node_tests_of_call(call: ModelCall, suite: Suite) -> tuple[Case, ...]:
    """The cases of a suite of node tests that make a call of the same operator version and attributes.

    An attribute that is left out is the same as one that has its default. Element types, ranks and values
    may be others: that is what makes them weaker evidence than cases of the very call.
    """
    node = call.first
    if node.operator is None or node.unread:
        return ()
    wanted = _said(node.operator, node.attributes)
    return tuple(
        case
        for case in _cases_of(node.operator, suite)
        if (found := _attributes_of(case)) is not None and _said(node.operator, found) == wanted
    )


def _cases_of(operator: OperatorName, suite: Suite) -> Iterator[Case]:
    begin = f"{operator.path}/"
    return (suite.case(each) for each in suite.case_ids if each.startswith(begin))


def _attributes_of(case: Case) -> Mapping[str, Attribute] | None:
    """The attributes of the one node of a test; None where it is written as several."""
    if case.levels.get(WRITTEN_AS, _NODE) != _NODE:
        return None
    if case.model is None:
        return case.attributes
    nodes = [
        each
        for each in ModelProto.FromString(case.model).graph.node
        if each.op_type == case.operator.name and (each.domain or "ai.onnx") == case.operator.domain
    ]
    if len(nodes) != 1:
        return None
    try:
        return {each.name: read_attribute(each) for each in nodes[0].attribute}
    except UserError:
        return None


def _said(operator: OperatorName, attributes: Mapping[str, Attribute]) -> Mapping[str, object]:
    """What attributes say, without those that have their default."""
    said = {name: _plain(each.value) for name, each in attributes.items()}
    defaults = _defaults(operator)
    return {name: each for name, each in said.items() if name not in defaults or defaults[name] != each}


@cache
def _defaults(operator: OperatorName) -> Mapping[str, object]:
    try:
        spec = load_spec(operator)
    except UserError:
        return {}
    return {name: _plain(each.default) for name, each in spec.attributes.items() if each.has_default}


def _plain(value: object) -> object:
    """A value that is equal to others that say the same: attributes have floats of 32 bits."""
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    return float(np.float32(value)) if isinstance(value, float) else value
