"""ONNX's node tests of some operators, as the installed package carries them."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from functools import cache
from typing import Any

from onnx.backend.test.case.model import collect_testcases
from onnx.backend.test.loader import load_model_tests


@cache
def _tests() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(load_model_tests(kind="node"))


def load_node_tests(operators: Collection[str]) -> dict[str, Any]:
    """The tests of one node of these operators, by their names."""
    return {
        node_test.name: node_test
        for node_test in _tests()
        if node_test.model is not None
        and len(node_test.model.graph.node) == 1
        and node_test.model.graph.node[0].op_type in operators
    }


def load_tests_named(*beginnings: str) -> dict[str, Any]:
    """The tests of any number of nodes, and of small models, whose names begin so."""
    every = [*_tests(), *collect_testcases()]
    return {each.name: each for each in every if each.model is not None and each.name.startswith(beginnings)}
