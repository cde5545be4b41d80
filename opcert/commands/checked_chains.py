"""The chains of a model for `opcert check`: so many and for so long, and never in the way of its calls."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opcert.vocabulary.harmless import one_line
from reports.checked_models.chain_answers import CheckedChain

if TYPE_CHECKING:
    from conformance.checked_models.model_calls import ModelFacts, ModelNode
    from conformance.suite.cases import Case

MOST_CHAINS = 60
"""Chains that are asked, the first of a model."""
MOST_SECONDS = 20.0
"""Making them takes no longer; what is begun is ended."""
_STEERING: Mapping[str, tuple[int, ...]] = {
    "ConstantOfShape": (0,),
    "Expand": (1,),
    "OneHot": (1,),
    "Pad": (1, 3),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (2, 3),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Squeeze": (1,),
    "Tile": (1,),
    "TopK": (1,),
    "Unsqueeze": (1,),
}
"""Inputs, by operator, whose values say which extents there are."""


@dataclass(frozen=True, eq=False)
class MadeChains:
    """The chains of a model with their cases; `cut` says in a sentence why there are no more."""

    chains: tuple[CheckedChain, ...] = ()
    cases: tuple[Case, ...] = ()
    cut: str = ""


def make_chains(
    facts: ModelFacts, most: int = MOST_CHAINS, seconds: float = MOST_SECONDS, *, keep: bool = True
) -> MadeChains:
    """Make the chains of a model, at most so many with a case, until the seconds are over.

    Two chains that come to one case are told once. Raises nothing: a mistake of ours is told in `cut`. With
    `keep`, chains that were made before come from the user's cache, and others go there.
    """
    from generator.models.model_chains.model_chains import MOST, chains_of_model
    from generator.models.model_chains.node_groups import kept_chains

    kept = kept_chains() if keep else None
    chains: list[CheckedChain] = []
    cases: dict[str, Case] = {}
    end = time.monotonic() + seconds
    looked = 0
    try:
        for each in chains_of_model(facts, kept=kept):
            looked += 1
            why = each.why if each.case is None else _invented(each.nodes, each.case)
            name = "" if each.case is None or why else str(each.case.id)
            if name not in cases:
                chains.append(CheckedChain(len(chains) + 1, each.nodes, name, why))
            if each.case is not None and name:
                cases.setdefault(name, each.case)
            if len(cases) == most:
                return _made(chains, cases, f"Only the first {most} chains of neighbours were asked.")
            if time.monotonic() > end:
                return _made(
                    chains, cases, f"Chains of neighbours were made for {seconds:g} seconds, no longer."
                )
    except Exception as error:  # noqa: BLE001 - chains never stop the check
        said = one_line(f"{type(error).__name__}: {error}", 200)
        return _made(chains, cases, f"No more chains of neighbours could be made: {said}.")
    cut = f"Of the neighbours of the model the first {MOST} were looked at." if looked == MOST else ""
    return _made(chains, cases, cut)


def _invented(nodes: Sequence[ModelNode], case: Case) -> str:
    """Why a case says little of the model: extents are made up that it may never have; empty where not."""
    makers = {value.name: node.op_type for node in nodes for value in node.outputs if value is not None}
    for node in nodes:
        for place in _STEERING.get(node.op_type, ()):
            value = node.inputs[place] if place < len(node.inputs) else None
            if value is None or not value.name or value.constant is not None:
                continue
            if makers.get(value.name) != "Shape":
                return f"the model does not say which extents {node.op_type} is given at run time"
    given = [each for _, each in case.inputs if each is not None]
    results = [each.expected for one in case.expectations for each in one.outputs]
    if any(not each.array.size for each in (*given, *results)):
        return "with extents of its own it would have no elements"
    return ""


def _made(chains: Sequence[CheckedChain], cases: dict[str, Case], cut: str) -> MadeChains:
    return MadeChains(tuple(chains), tuple(cases.values()), cut)
