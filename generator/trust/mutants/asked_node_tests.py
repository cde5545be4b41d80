"""ONNX's own node tests of an operator, to be asked about the same mutants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from conformance.adopting.node_tests import node_suite
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from generator.asking.asked_outputs import asked_outputs
from opcert.vocabulary.names import OperatorName
from specs.model.spec import Spec

DOMAIN = "ai.onnx"


def tested_by_nodes(operators: Sequence[OperatorName], tell: Callable[[str], None]) -> set[OperatorName]:
    """The operators of which ONNX may have node tests: of their names, whatever the version."""
    ours = [each for each in operators if each.domain == DOMAIN]
    if not ours:
        return set()
    with open_suite(node_suite(tell, "")) as suite:
        names = {each.split("/")[1].rpartition("-")[0] for each in suite.case_ids if each.startswith(DOMAIN)}
    return {each for each in ours if each.name in names}


def node_tests(operator: OperatorName, tell: Callable[[str], None]) -> list[Case]:
    """The tests of one node that demand an answer, for this version of the operator or a later one.

    ONNX ships the tests of the newest version alone; who asks an older version takes those that it passes.
    """
    if operator.domain != DOMAIN:
        return []
    with open_suite(node_suite(tell, "")) as suite:
        chosen = [each for each in suite.case_ids if each.startswith(f"{DOMAIN}/{operator.name}-")]
        cases = [suite.case(each) for each in chosen]
    return [
        case
        for case in cases
        if case.model is None
        and case.demand == "answer"
        and case.operator.since_version >= operator.since_version
    ]


def asking_for_its_outputs(case: Case, spec: Spec) -> Case:
    """A node test whose call asks for the outputs that its node names, by the operator's own names."""
    asked = asked_outputs(spec, case.output_names)
    return case if asked is None else replace(case, output_names=asked, outputs_asked=True)
