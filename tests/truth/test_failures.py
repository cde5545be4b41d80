"""What is known of failing cases of suites explains refusals of the truth test, too."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest

from conformance.running.harness import run_suite
from conformance.runtimes.runtimes import find_runtime
from generator.asking.calls import Call
from generator.trust.witnesses import truth_runs
from generator.trust.witnesses.truth_runs import Witnessed
from generator.trust.witnesses.truth_table import (
    ExplainedRefusal,
    FailureEntries,
    TruthCalls,
    TruthTable,
    TruthTableMaker,
)
from opcert.commands.truth_trying import summarise_truth, try_operators
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.readings.disagreements import Disagreement
from specs.files.library import load_spec
from specs.model.spec import Origin, Refusable, Spec
from tests.conformance.samples import FAKES

GATHER = OperatorName.parse("ai.onnx::Gather-13")
REFUSED = Witnessed("refused", "Fail: no such axis 1")


def call(axis: int, element_type: str = "float") -> Call:
    data = tensor([[1, 2], [3, 4]], element_type)
    return Call({"axis": attribute("int", axis)}, (("data", data), ("indices", tensor([0], "int64"))))


def entry(**changed: Any) -> Disagreement:
    stated: dict[str, Any] = {
        "id": "known",
        "operator": "ai.onnx::Gather-*",
        "against": ["some"],
        "verdicts": ["rejected_valid"],
        "cause": "witness_fault",
        "passage": ["page.txt:1"],
        "explanation": "made up",
        "evidence": ["made up"],
        **changed,
    }
    return Disagreement.model_validate(stated)


def explained(
    found: Witnessed = REFUSED, asked: Call | None = None, witness: str = "some", **changed: Any
) -> bool:
    entries = FailureEntries(load_spec(GATHER), [entry(**changed)])
    return entries.explain(witness, found, asked or call(1)) is not None


def test_a_refusal_is_a_case_that_is_rejected() -> None:
    assert explained()
    assert explained(verdicts=[])
    assert not explained(verdicts=["mismatch"])
    assert not explained(witness="other")
    assert not explained(operator="ai.onnx::Gather-11")


def test_a_death_is_a_crash_or_a_timeout_and_no_refusal() -> None:
    died, late = Witnessed("crashed", "SIGSEGV"), Witnessed("timed out", "no answer to run within 1 s")
    assert not explained(died)
    assert explained(died, verdicts=["crash"])
    assert explained(late, verdicts=["timeout"])
    assert not explained(late, verdicts=["crash"])
    assert not explained(Witnessed("not offered", "no such axis"), verdicts=[])
    assert not explained(Witnessed("answered"), verdicts=[])


def test_what_an_entry_asks_of_a_case_holds_for_calls() -> None:
    assert explained(reason=["*no such axis*"])
    assert not explained(reason=["*out of range*"])
    assert explained(when="axis == 1 and rank(data) == 2")
    assert not explained(when="axis == 0")
    assert explained(levels={"element_type": "float"})
    assert not explained(levels={"element_type": "float"}, asked=call(1, "double"))


def test_what_calls_have_not_fits_none() -> None:
    assert not explained(levels={"rank": "2"})
    assert not explained(cases=["*/boundary/*"])
    assert not explained(cases=["*/cover/*"])
    assert not explained(when="values(data)[9] == 0")  # no value for this call


def table(spec: Spec, *known: ExplainedRefusal | Disagreement) -> TruthTable:
    """Of two valid calls, along both axes, which one witness refuses in the same words."""
    calls = TruthCalls((call(0), call(1)), (), ())
    of_calls = [refusal for refusal in known if isinstance(refusal, ExplainedRefusal)]
    of_cases = [disagreement for disagreement in known if isinstance(disagreement, Disagreement)]
    maker = TruthTableMaker(GATHER, calls, of_calls, FailureEntries(spec, of_cases))
    maker.said["some"] = {each.digest(GATHER): REFUSED for each in calls.valid}
    return maker.make()


def test_calls_of_one_message_are_told_apart_by_what_explains_them() -> None:
    found = table(load_spec(GATHER), entry(when="axis == 1"))
    assert found.unexplained == 1
    by_entry = {
        refusal.explanation and refusal.explanation.id: [one.digest(GATHER) for one in refusal.calls]
        for refusal in found.refusals
    }
    assert by_entry == {"known": [call(1).digest(GATHER)], None: [call(0).digest(GATHER)]}
    told = ExplainedRefusal(
        id="told", against="some", reason=("*no such*",), cause="limit", explanation="made up"
    )
    assert table(load_spec(GATHER), entry(when="axis == 1"), told).unexplained == 0


def test_a_call_that_may_be_refused_blames_nobody_and_uses_no_entry() -> None:
    left_open = Refusable("anywhere", "axis == 1", Origin("added"))
    spec = replace(load_spec(GATHER), may_refuse=(left_open,))
    found = table(spec, entry())
    assert found.unexplained == 0
    assert "left open: anywhere" in summarise_truth(found)
    died = FailureEntries(spec, []).explain("some", Witnessed("crashed", "SIGSEGV"), call(1))
    assert died is None


@pytest.mark.slow
def test_one_worker_is_asked_about_several_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    real = run_suite

    def counted(suite: Any, *rest: Any, **others: Any) -> Any:
        runs.append(len(suite.case_ids))
        return real(suite, *rest, **others)

    monkeypatch.setattr(truth_runs, "run_suite", counted)
    moody = find_runtime(f"exec:{sys.executable} {FAKES / 'moody_worker.py'}")
    operators = [GATHER, OperatorName.parse("ai.onnx::Squeeze-13")]
    gather, squeeze = try_operators(operators, [moody], strength=1)
    assert len(runs) == 1
    for found in (gather, squeeze):
        asked = (found.calls.valid, found.calls.errors, found.calls.undefined)
        counts = found.counts[moody.text].values()
        assert [count.total() for count in counts] == [len(each) for each in asked]
        assert found.versions == {moody.text: "3.1"}
    assert gather.operator == GATHER
    assert any("beyond me" in refusal.message for refusal in gather.refusals)
    assert not any(refusal.witness == moody.text for refusal in squeeze.refusals)
