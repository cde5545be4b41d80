"""What entries say is computed instead can be computed, of an operator that they name."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache

import numpy as np
import pytest

from conformance.suite.cases import Expectation, ExpectedOutput
from generator.calls.edits.attribute_changes import taken_for
from generator.calls.edits.finding import find_changes
from generator.exploring.diagnosis.change_trials import FailingCase
from generator.exploring.diagnosis.entry_formulas import FIRST, formula_trials, result_form
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.readings.disagreements import Disagreement, load_disagreements
from specs.files.library import load_spec
from specs.files.spec_folders import list_operators
from tests.conformance.conversation import make_case

STATING = {disagreement.id: disagreement for disagreement in load_disagreements() if disagreement.computes}


@cache
def keys_of(operator: OperatorName) -> frozenset[str]:
    return frozenset(change.key for change in find_changes(load_spec(operator)))


def concerned(entry: Disagreement) -> list[OperatorName]:
    return [
        operator
        for operator in list_operators()
        if any(fnmatchcase(str(operator), glob) for glob in entry.operator)
    ]


@pytest.mark.parametrize("name", sorted(STATING))
def test_what_an_entry_computes_is_known(name: str) -> None:
    entry = STATING[name]
    for stated in entry.computes:
        if not isinstance(stated, str):
            assert taken_for(stated).text
            assert all(
                stated.keys() <= {*load_spec(each).attributes, *(one.name for one in load_spec(each).inputs)}
                for each in concerned(entry)[:1]
            )
        elif result_form(stated) is None:
            assert any(stated in keys_of(each) for each in concerned(entry)), stated


def test_only_wrong_answers_compute_something_else() -> None:
    assert all(
        not disagreement.verdicts or "mismatch" in disagreement.verdicts for disagreement in STATING.values()
    )


def test_a_refusal_is_explained_by_words_that_tell() -> None:
    of_documents = {"document", "onnx-node-tests"}
    refusing = [
        disagreement
        for disagreement in load_disagreements()
        if "rejected_valid" in disagreement.verdicts and not of_documents.intersection(disagreement.against)
    ]
    assert refusing
    for entry in refusing:
        assert entry.reason, entry.id
        assert all(len(glob.replace("*", "").strip()) > 2 for glob in entry.reason), entry.id


def test_further_outputs_are_missing_only_where_the_first_ones_are_right() -> None:
    missing = next(entry for entry in STATING.values() if entry.computes == (FIRST,))
    values, places = tensor([3.0], "float"), tensor([1])
    made = make_case("ai.onnx::MaxPool-12", [("X", values)])
    expected = Expectation((ExpectedOutput("Y", values), ExpectedOutput("Indices", places)))
    case = replace(made, output_names=("Y", "Indices"), expectations=(expected,))

    def result(*outputs: Tensor) -> str:
        (trial,) = formula_trials([missing], FailingCase(case, outputs))
        return trial.result

    assert result(values) == "equals"
    assert result(tensor([4.0], "float")) == "refuted"
    assert result(values, tensor([2])) == "refuted"
    assert result(values, places, places) == "refuted"


@pytest.mark.parametrize(
    ("came", "result"),
    [
        ([3.4028235e38, -3.4028235e38, 1.0], "equals"),
        ([np.inf, -3.4028235e38, 1.0], "equals"),
        ([-3.4028235e38, -np.inf, 1.0], "refuted"),
        ([3.4028235e38, -np.inf, 2.0], "refuted"),
        ([3.4028230e38, -np.inf, 1.0], "refuted"),
        ([3.4028235e38, -np.inf], "refuted"),
    ],
)
def test_infinities_are_the_greatest_numbers_of_their_sign_and_nothing_else_is_wrong(
    came: list[float], result: str
) -> None:
    clamping = STATING["micro_clamps_infinities"]
    made = make_case("org.tensorflow::RealDiv-1", [("x", tensor([1.0, -1.0, 1.0], "float"))])
    expected = ExpectedOutput("z", tensor([np.inf, -np.inf, 1.0], "float"))
    case = replace(made, expectations=(Expectation((expected,)),))
    (trial,) = formula_trials([clamping], FailingCase(case, (tensor(came, "float"),)))
    assert trial.result == result
