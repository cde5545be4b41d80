"""The suite of neighbours: every chain of the patterns, in the operator versions of one opset."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import generator.models.neighbours.patterns
from conformance.suite.cases import Case
from conformance.suite.kept_suites import suite_made_of
from conformance.suite.suite_parts import suite_order
from conformance.suite.suites import write_suite
from generator.making.operators.opsets import DOMAIN, default_operators, operators_of_opset
from generator.making.operators.sources import sources_digest
from generator.models.chains.chain_cases import distinct_cases
from generator.models.chains.chains import Weaver
from opcert.vocabulary.errors import UserError

NEIGHBOURS = "neighbours"
OPSET = 17
"""That of the suite without a number: the newest that every runtime which ships takes."""
OLDEST, NEWEST = 17, 28
BESIDE = 13, 25
"""Opsets in which the suite without a number asks some chains as well: `chains_beside` of their patterns."""
_NAME = re.compile(rf"{NEIGHBOURS}(?:-(\d{{1,3}}))?")


def opset_of_neighbours(name: str) -> int | None:
    """The opset of the suite with that name: `neighbours`, or `neighbours-21`; None where it is no such name.

    Raises UserError for an opset in which chains are not written.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    opset = OPSET if found[1] is None else int(found[1])
    if not OLDEST <= opset <= NEWEST:
        raise UserError("an opset without neighbours", got=str(opset), expected=f"{OLDEST} to {NEWEST}")
    return opset


def weave_in(opset: int) -> Weaver:
    """A weaver of ONNX's operators in an opset's versions; UserError for one that nothing is known of."""
    # What a chain spells out may have come later than its nodes.
    every = [*default_operators(), *operators_of_opset(opset)]
    return Weaver({operator.name: operator for operator in every if operator.domain == DOMAIN}, opset)


def neighbour_cases(opset: int = OPSET) -> Iterator[Case]:
    """The cases of every pattern in an opset, each once, in no order; some in opsets beside it."""
    weaver = weave_in(opset)
    beside = [weave_in(other) for other in BESIDE] if opset == OPSET else []
    names = sorted(each.name for each in pkgutil.iter_modules(generator.models.neighbours.patterns.__path__))
    for name in names:
        module = import_module(f"generator.models.neighbours.patterns.{name}")
        if hasattr(module, "chains"):
            yield from distinct_cases(module.chains(weaver))
        if hasattr(module, "chains_beside"):
            for other in beside:
                yield from distinct_cases(module.chains_beside(other))


def write_neighbours(path: Path, opset: int = OPSET) -> str:
    """Write the suite of neighbours to a folder, or to a `.zip`; returns its digest.

    Raises UserError where the place cannot be written.
    """
    cases = sorted(neighbour_cases(opset), key=lambda neighbour_case: suite_order(neighbour_case.id))
    facts: dict[str, Any] = {"operators": {}}
    return write_suite(path, cases, facts, {"neighbours": {"opset": opset}})


def neighbour_suite(opset: int, tell: Callable[[str], object]) -> Path:
    """The folder of the suite of neighbours in the cache, made where these sources did not make it before."""
    opsets = (opset, *BESIDE) if opset == OPSET else (opset,)
    sources = sources_digest(
        operators=sorted({operator for one in opsets for operator in operators_of_opset(one)})
    )
    return suite_made_of(
        f"{NEIGHBOURS}-{opset}-{sources}",
        f"the suite {NEIGHBOURS}-{opset}",
        "making the cases of neighbours: some seconds, kept afterwards",
        tell,
        lambda folder: write_neighbours(folder, opset),
    )[0]
