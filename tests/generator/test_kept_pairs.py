"""What calls made by hand covered, calls made of declarations cover: each pair of levels is in some case."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from itertools import combinations, product
from types import ModuleType

import pytest

import tests.generator.kept_pairs
from conformance.suite.suites import open_suite
from generator.calls.data.data import data_classes
from generator.calls.rows.factors import factor_model
from generator.calls.rows.feasibility import Solver
from generator.calls.rows.level_tuples import feasible_tuples
from generator.making.operators.named_suites import FIRST
from generator.making.suites.cache import named_suite
from opcert.vocabulary.names import OperatorName
from specs.files.library import load_spec
from specs.model.spec import Exclusion, Factor, Origin, Spec

MODULES = [
    importlib.import_module(f"tests.generator.kept_pairs.{module.name}")
    for module in pkgutil.iter_modules(tests.generator.kept_pairs.__path__)
    if not module.name.startswith("_")  # what several of the modules share
]


def pairs_of(module: ModuleType, spec: Spec) -> set[frozenset[tuple[str, object]]]:
    """The pairs of levels that some call has."""
    lacking = [
        f"data == {factor!r} and element_type == {kind!r}"
        for kind in module.FACTORS["element_type"]
        for factor in module.FACTORS["data"]
        if factor not in data_classes(kind)
    ]
    origin = Origin("derived")
    factors = tuple(Factor(name, levels) for name, levels in module.FACTORS.items())
    exclusions = tuple(Exclusion(exclusion, origin) for exclusion in (*module.EXCLUSIONS, *lacking))
    model = factor_model(replace(spec, factors=factors, exclusions=exclusions, interactions=()))
    names = model.names
    return {
        frozenset(
            (names[at], model.levels[names[at]][level]) for at, level in zip(places, levels, strict=True)
        )
        for places, known in feasible_tuples(Solver(model), 2).items()
        for levels in known
    }


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES, ids=lambda each: each.__name__.rpartition(".")[2])
def test_each_pair_of_levels_is_still_in_a_case(module: ModuleType) -> None:
    operator = OperatorName.parse(module.OPERATOR)
    shown = set()
    with open_suite(named_suite(FIRST, print)) as suite:
        cases = [each for each in suite.cases(f"{operator.path}/*") if each.demand == "answer"]
    for case in cases:
        for (one, these), (other, those) in combinations(module.levels_of(case).items(), 2):
            shown |= {frozenset({(one, left), (other, right)}) for left, right in product(these, those)}
    wanted = pairs_of(module, load_spec(operator))
    assert len(wanted) > 300
    assert sorted(sorted(map(str, each)) for each in wanted - shown) == []
