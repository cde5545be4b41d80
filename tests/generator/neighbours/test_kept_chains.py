"""Chains of models that were made before come from the cache, the same ones, and no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from conformance.checked_models.model_calls import ModelFacts, ModelValue
from generator.models.model_chains import model_chains
from generator.models.model_chains.model_chains import ModelChain, chains_of_model
from generator.models.model_chains.node_groups import KeptChain, groups_of_model, kept_chains, key_of_group
from tests.generator.neighbours.test_model_chains import facts_of


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "opcert" / "chains"


def model(
    *, product: str = "p", extent: int | str = "n", factor: float = 2.0, turned: bool = False
) -> ModelFacts:
    """MatMul, a product with a constant, Relu; `product` names a value, `extent` is open or stated."""
    order = ["c", product] if turned else [product, "c"]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], [product]),
        helper.make_node("Mul", order, ["m"]),
        helper.make_node("Relu", ["m"], ["y"]),
    ]
    constants: dict[str, Any] = {"w": np.ones((3, 3), np.float32), "c": np.float32(factor)}
    return facts_of(nodes, [extent, 3], **constants)


def said(chains: list[ModelChain]) -> list[tuple[str, str, str]]:
    return [(chain.path, "" if chain.case is None else str(chain.case.id), chain.why) for chain in chains]


def keys(facts: ModelFacts) -> list[str]:
    return [key_of_group(group, facts.opsets) for group in groups_of_model(facts)]


def test_what_was_made_before_is_not_made_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = list(chains_of_model(model(), kept=kept_chains()))
    assert any(model_chain.case is not None for model_chain in first)
    assert len(list(cache.iterdir())) == len(first)

    def breaks(*_: object) -> None:
        raise AssertionError("it is made again")

    monkeypatch.setattr(model_chains, "_case", breaks)
    again = list(chains_of_model(model(product="q", extent="batch"), kept=kept_chains()))
    assert said(again) == said(first)
    for one, other in zip(first, again, strict=True):
        if one.case is not None and other.case is not None:
            assert one.case.model == other.case.model
            assert one.case.call_digest() == other.case.call_digest()


def test_the_result_does_not_hang_on_the_cache() -> None:
    alone = said(list(chains_of_model(model())))
    assert alone == said(list(chains_of_model(model(), kept=kept_chains())))
    assert alone == said(list(chains_of_model(model(), kept=kept_chains())))


@pytest.mark.parametrize("other", [{"factor": 4.0}, {"extent": 5}, {"turned": True}])
def test_another_chain_has_another_key(other: dict[str, Any]) -> None:
    assert keys(model()) == keys(model(product="q", extent="batch"))
    assert keys(model())[0] != keys(model(**other))[0]


def test_extents_of_one_name_in_two_nodes_are_told_from_those_of_two_names() -> None:
    """Each call by itself says of its second input that it has an extent of some name."""

    def pair(second: str) -> ModelFacts:
        facts = facts_of(
            [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Add", ["a", "b"], ["y"])], ["n", "m"]
        )
        relu, add = facts.nodes
        other = replace(add, inputs=(add.inputs[0], ModelValue("b", "float", ("n", second))))
        return replace(facts, nodes=(relu, other))

    assert keys(pair("m")) != keys(pair("k"))


def test_a_damaged_file_is_made_again(cache: Path) -> None:
    first = list(chains_of_model(model(), kept=kept_chains()))
    for path in cache.iterdir():
        path.write_bytes(path.read_bytes()[:-9])
    assert said(list(chains_of_model(model(), kept=kept_chains()))) == said(first)


def test_what_failed_is_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> None:
        raise ZeroDivisionError("no way")

    with monkeypatch.context() as patched:
        patched.setattr(model_chains, "_case", breaks)
        failed = list(chains_of_model(model(), kept=kept_chains()))
    assert all("no way" in model_chain.why for model_chain in failed)
    assert not cache.exists()
    assert any(chain.case is not None for chain in chains_of_model(model(), kept=kept_chains()))


def test_other_code_does_not_find_what_was_kept() -> None:
    facts = model()
    list(chains_of_model(facts, kept=kept_chains()))
    (group, *_) = groups_of_model(facts)
    key = key_of_group(group, facts.opsets)
    assert kept_chains().find(group.operators, key, KeptChain.case) is not None
    changed = kept_chains()
    changed._code = "0" * 64
    assert changed.find(group.operators, key, KeptChain.case) is None
    other = key_of_group(group, {"ai.onnx": 18})
    assert kept_chains().find(group.operators, other, KeptChain.case) is None


def test_an_operator_that_nobody_knows_is_kept_nowhere(cache: Path) -> None:
    odd: list[onnx.NodeProto] = [
        helper.make_node("Frobnicate", ["x"], ["a"], domain="made.up"),
        helper.make_node("Relu", ["a"], ["y"]),
    ]
    (found,) = chains_of_model(facts_of(odd, [2]), kept=kept_chains())
    assert "no operator version that is known" in found.why
    assert not cache.exists()
