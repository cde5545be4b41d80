"""The generator knows operators through their specs and modules of their own; each gets the data it needs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import generator
from generator.asking.named_operators import first_operators
from generator.calls.rows.factors import factor_model, first_types
from generator.making.families.boundary import ENDS, PLACES, SPECIALS, make_boundary
from generator.making.operators.discovery import open_spec
from generator.making.operators.workshop import Options, open_workshop
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from reference.registry import find_operator

OPERATORS = first_operators()
NAMES = {operator.name for operator in OPERATORS}
OWN = ("levels", "chains", "model_chains", "neighbours", "patterns")
"""The packages of modules for operators' families, and of chains, which are written of named operators."""
ROUNDING = {"Resize", "Upsample"}
"""The operators that compute: their results are rounded."""


@pytest.mark.parametrize(
    "path", sorted(Path(generator.__file__).parent.rglob("*.py")), ids=lambda path: path.name
)
def test_no_code_names_an_operator_outside_the_modules_of_its_own(path: Path) -> None:
    if path.parent.name in OWN:
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            assert not [name for name in NAMES if name in node.value.replace(":", "-").split("-")], node.value


@pytest.mark.parametrize("operator", OPERATORS, ids=str)
def test_each_numeric_class_of_an_operator_has_its_data_classes(operator: OperatorName) -> None:
    """Those that compute need values whose rounding shows, all need what a copy may lose."""
    spec, _ = open_spec(operator)
    factors = {factor.name: set(factor.levels) for factor in spec.factors}
    kinds = {ELEMENT_TYPES[first_type] for first_type in first_types(spec, factor_model(spec))[1]}
    wanted = {"distinct", "random"}
    if any(kind.is_float for kind in kinds):
        wanted |= {"signed_zero", "subnormal", "huge", "nonfinite"}
    if any(kind.is_integer for kind in kinds):
        wanted |= {"extremes"}
    if operator.name in ROUNDING:
        wanted |= {"constant", "large_offset", "ties"}
    assert factors["data"] >= wanted


@pytest.mark.slow
def test_the_operators_that_compute_are_those_with_an_allowed_error() -> None:
    for operator in OPERATORS:
        bench = open_workshop(operator, Options.of("small"))
        reference = find_operator(operator)
        allowed = False
        for _, _, call in bench.levels.boundary_calls(bench.spec, bench.draw("boundary")):
            attributes = {name: attribute.value for name, attribute in call.attributes.items()}
            answers = reference.evaluate(attributes, dict(call.inputs))
            allowed |= any(answer.allowed is not None for answer in answers)
            if allowed:
                break
        assert allowed == (operator.name in ROUNDING), operator


@pytest.mark.parametrize("name", ["com.microsoft::Pad-1", "org.tensorflow::BatchToSpaceND-1"])
def test_nan_and_both_infinities_stand_in_every_place_and_both_ends_throughout(name: str) -> None:
    bench = open_workshop(OperatorName.parse(name), Options())
    make_boundary(bench)
    wanted = {(special, place) for special in SPECIALS for place in PLACES}
    wanted |= {(end, "throughout") for end in ENDS}
    texts = {"nan": "nan", "infinity": "inf", "negative_infinity": "-inf"}
    texts |= {"greatest": "3.4028235e+38", "lowest": "-3.4028235e+38"}
    found = set()
    for case in bench.cases.values():
        special, _, place = str(case.id.word).rpartition("_")
        if (special, place) in wanted:
            X = case.inputs[0][1]
            assert X is not None
            flat = X.array.reshape(-1)
            positions = [at for at, element in enumerate(flat) if str(element) == texts[special]]
            last = flat.size - 1
            assert {
                "first": positions == [0],
                "inside": len(positions) == 1 and 0 < positions[0] < last,
                "last": positions == [last],
                "throughout": len(positions) == flat.size,
            }[place], case.id
            found.add((special, place))
    assert found == wanted
