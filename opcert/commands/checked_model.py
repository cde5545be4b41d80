"""What `opcert check` asks about: a model's calls, with the cases that are made for them as a suite."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from opcert.commands.command_progress import call_progress
from opcert.commands.terminal import note
from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.harmless import one_line
from reports.checked_models.call_evidence import CheckedCall
from reports.checked_models.chain_answers import CheckedChain

if TYPE_CHECKING:
    from conformance.checked_models.model_calls import ModelCall, ModelFacts, ModelNode
    from conformance.clusters.cluster import Cluster
    from conformance.models.case_models import Form
    from conformance.suite.cases import Case
    from conformance.suite.suites import Suite
    from generator.models.check.call_cases import CallCases

_MOST_PROCESSES = 8


@dataclass(frozen=True, eq=False)
class MadeChains:
    """The chains of a model with their cases; `cut` says in a sentence why there are no more."""

    chains: tuple[CheckedChain, ...] = ()
    cases: tuple[Case, ...] = ()
    cut: str = ""


@dataclass(frozen=True, eq=False)
class CheckedModel:
    """A model, its distinct calls with their evidence and cases, its chains, and the forms of each case."""

    facts: ModelFacts
    calls: tuple[CheckedCall, ...]
    made: tuple[CallCases, ...]
    forms: Mapping[str, Sequence[Form]]
    chains: MadeChains = field(default_factory=MadeChains)


def make_checked(facts: ModelFacts, *, chains: bool = True, cluster: Cluster | None = None) -> CheckedModel:
    """Make the cases of each call of a model and its `chains`, with progress on standard error.

    A `cluster` makes those of the calls, if there is one.
    """
    from generator.models.check.model_cases import cases_of_calls

    with call_progress(len(facts.calls)) as tell:
        processes = min(os.cpu_count() or 1, _MOST_PROCESSES)
        made = cases_of_calls(facts.calls, processes=processes, told=lambda _: tell(), cluster=cluster)
    found = put_to_calls(facts, with_node_tests(made))
    if not chains:
        return found
    note("making cases of nodes in a row")
    return with_chains(found, make_chains(facts))


def with_chains(checked: CheckedModel, chains: MadeChains) -> CheckedModel:
    """The same with chains, whose weights are constants and whose other inputs come with each run."""
    own: dict[str, Sequence[Form]] = {str(each.id): ("inputs",) for each in chains.cases}
    return replace(checked, forms={**checked.forms, **own}, chains=chains)


def put_to_calls(facts: ModelFacts, made: Sequence[CallCases]) -> CheckedModel:
    """The calls of a model with the cases that were made for each, in the same order."""
    calls: list[CheckedCall] = []
    forms: dict[str, list[Form]] = {}
    for number, call_cases in enumerate(made, 1):
        own = call_cases.cases or call_cases.node_tests
        for case in own:
            wanted = forms.setdefault(str(case.id), [])
            wanted += [form for form in (nearest_form(call_cases.forms),) if form not in wanted]
        left = call_cases.not_covered
        calls.append(
            CheckedCall(
                number,
                call_cases.call,
                "reference" if call_cases.cases else "node_tests" if own else "none",
                tuple(dict.fromkeys(str(case.id) for case in own)),
                "" if left is None else left.why,
                "" if left is None else left.text,
                call_cases.varied,
                call_cases.given_up,
            )
        )
    return CheckedModel(facts, tuple(calls), tuple(made), forms)


def nearest_form(forms: Sequence[Form]) -> Form:
    """The form in which alone a call is asked: the nearest to the model, in others it may fail where the
    model does not.

    So it may with open extents: a case has a name for each, of which the model says that some are one.
    """
    return next((form for form in forms if form != "dynamic"), "inputs")


@contextmanager
def open_suite_of(checked: CheckedModel, place: Path) -> Iterator[Suite | None]:
    """The cases of a model as a suite, written to a place; None where there are none.

    Raises UserError where it cannot be written.
    """
    from conformance.suite.suites import open_suite
    from generator.models.check.model_cases import write_model_suite

    if not checked.forms:
        yield None
        return
    # Node tests stand in for cases alone.
    made = [replace(each, node_tests=()) if each.cases else each for each in checked.made]
    options = {"size": "calls", "model": checked.facts.sha256}
    write_model_suite(place, made, options, checked.chains.cases)
    with open_suite(place) as suite:
        yield suite


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
"""Inputs, by operator, whose values say which dimensions there are."""


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
        for chain in chains_of_model(facts, kept=kept):
            looked += 1
            why = chain.why if chain.case is None else _invented(chain.nodes, chain.case)
            name = "" if chain.case is None or why else str(chain.case.id)
            if name not in cases:
                chains.append(CheckedChain(len(chains) + 1, chain.nodes, name, why))
            if chain.case is not None and name:
                cases.setdefault(name, chain.case)
            if len(cases) == most:
                return _made(chains, cases, f"Only the first {most} chains of neighbours were run.")
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
                return f"the model does not say which dimensions {node.op_type} is given at run time"
    given = [tensor for _, tensor in case.inputs if tensor is not None]
    results = [output.expected for one in case.expectations for output in one.outputs]
    if any(not result.array.size for result in (*given, *results)):
        return "with dimensions of its own it would have no elements"
    return ""


def _made(chains: Sequence[CheckedChain], cases: dict[str, Case], cut: str) -> MadeChains:
    return MadeChains(tuple(chains), tuple(cases.values()), cut)


ANSWERED_BY_NONE = ("unknown", "not_valid")
"""Reasons for which no node test is of the call."""


def with_node_tests(made: Sequence[CallCases]) -> list[CallCases]:
    """The same, with the node tests of the calls that have no cases."""
    wanted = [call_cases for call_cases in made if _may_have_some(call_cases)]
    if not wanted:
        return list(made)
    # Imported here, because most models have cases for all that they ask.
    from generator.models.check.model_cases import node_tests_of_call
    from opcert.commands.suite_argument import ONNX_NODE, resolve_suite

    try:
        suite = resolve_suite(ONNX_NODE)
    except OpcertError as error:
        note(f"ONNX's node tests are not to be had: {error}")
        return list(made)
    found = {}
    with suite:
        for call_cases in wanted:
            tests = node_tests_of_call(call_cases.call, suite)
            found[call_cases.key] = tuple(case for case in tests if is_like(case, call_cases.call))
    return [replace(call_cases, node_tests=found.get(call_cases.key, ())) for call_cases in made]


def _may_have_some(made: CallCases) -> bool:
    left, operator = made.not_covered, made.call.operator
    if left is None or operator is None or left.why in ANSWERED_BY_NONE:
        return False
    return operator.domain == "ai.onnx" or operator.domain.startswith("ai.onnx.")


def is_like(case: Case, call: ModelCall) -> bool:
    """Whether a case takes tensors of the element types and ranks of a call, as far as the model says them.

    What a runtime makes of other types says nothing of the call.
    """
    given, wanted = [tensor for _, tensor in case.inputs], list(call.first.inputs)
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
