"""`opcert fuzz` on a worker of its own: what it finds is kept, and can be run and reproduced."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.judging.responses import Refused, Response
from conformance.processes.worker_limits import Limits
from conformance.runtimes.runtimes import find_runtime
from generator.asking.calls import Call
from generator.asking.calls_files import read_calls
from generator.calls.data.data import fill
from generator.calls.data.draws import Draw
from generator.exploring.fuzzing.known_failures import find_known_failures, suite_cases
from generator.exploring.fuzzing.search import fuzz
from generator.exploring.fuzzing.workers import RunningRuntime
from generator.exploring.shrinking.judged_calls import CallTrials
from generator.exploring.shrinking.known_space import Attempt
from opcert.vocabulary.tensors import Tensor, tensor
from tests.commands.command_line import call, check_message
from tests.generator.fuzz_fakes import Fake, Mistake, plain, space_of

FRAGILE = f"exec:{sys.executable} {Path(__file__).parent / 'fuzz_worker.py'}"


@pytest.mark.slow
def test_a_mistake_is_found_kept_run_and_reproduced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "calls"
    answer = call(capsys, "fuzz", FRAGILE, "BatchToSpaceND", "--time", 600, "--calls", 40, "-o", folder)
    assert answer.code == 1
    assert answer.out.rstrip().endswith(f"opcert run '{FRAGILE}' -s {folder}")
    assert "the suite has it already: org.tensorflow/BatchToSpaceND-1/" in answer.out
    found, new = len(list(read_calls(folder))), answer.out.count("the suite does not have it")
    assert f"{found} found, {new} of them new; to run" in answer.out
    kept = next(each for each in read_calls(folder) if each.found["verdict"] == "rejected_valid")
    _, inputs = plain(kept.call)
    # The smallest call crops two of two elements.
    assert sorted(inputs["crops"][1][0]) == [0, 2]
    assert len(inputs["crops"][1]) == 1

    answer = call(capsys, "run", FRAGILE, "-s", folder, "-o", tmp_path / "run.jsonl")
    assert answer.code == 1
    assert "rejects valid input" in answer.out
    case = f"{kept.operator.path}/boundary/found-{kept.call.digest(kept.operator)}"
    answer = call(capsys, "repro", case, "-s", folder, "-o", tmp_path / "again")
    assert answer.code == 0
    assert (tmp_path / "again" / "case.json").exists()


def test_a_find_is_known_where_a_case_fails_alike_with_the_values_that_matter() -> None:
    """A fake that refuses two element types: of a suite without the one, its find is new."""
    space = space_of("ai.onnx::CenterCropPad-18")
    fake = Fake(space, refusing("string", "bool"))
    search = fuzz(space, fake.ask, 1, 600, most_calls=2000)
    assert search.finds
    cases = suite_cases(space)
    known = find_known_failures(space, fake.ask, cases)
    assert known.asked == len(cases)
    for each in search.finds:
        assert known.like(each)
        assert "the suite has it already" in known.describe(each)
    rest = [each for each in cases if each.element_type.name not in ("string", "bool")]
    lacking = find_known_failures(space, fake.ask, rest)
    find = search.finds[0]
    assert not lacking.like(find)
    assert "the suite does not have it: none of its cases" in lacking.describe(find)
    assert "none of the 0 of" in find_known_failures(space, fake.ask, cases, seconds=0).describe(find)


def refusing(*types: str) -> Mistake:
    def mistake(_: dict[str, Any], inputs: dict[str, Tensor | None]) -> Response | None:
        first = next(iter(inputs.values()))
        refused = first is not None and first.element_type.name in types
        return Refused("ValueError", "not this type") if refused else None

    return mistake


def test_a_crash_costs_one_call() -> None:
    draw = Draw("crash")
    blocks, crops = tensor([3], "int32"), tensor([[0, 1]], "int32")
    calls = [
        Call({}, (("input", fill(kind, (3, 1), "distinct", draw)), ("block_shape", blocks), ("crops", crops)))
        for kind in ("float", "string", "float")
    ]
    space = space_of("org.tensorflow::BatchToSpaceND-1")
    with RunningRuntime(find_runtime(FRAGILE), Limits(), print) as running:
        bench = CallTrials(space, running.ask)
        outcomes = [bench.outcome(Attempt(each)) for each in calls]
    assert [word for word, _ in outcomes] == ["pass", "crash", "pass"]
    failure = outcomes[1][1]
    assert failure is not None
    assert failure.how == "SIGSEGV"


@pytest.mark.slow
def test_a_runtime_without_the_operator_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = call(capsys, "fuzz", FRAGILE, "CenterCropPad", "--time", "2", "-o", tmp_path)
    check_message(answer, 5, "run", "the runtime answered no call")
    assert not list(tmp_path.iterdir())


def test_an_unknown_operator_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = call(capsys, "fuzz", FRAGILE, "BatchToSpacND", "-o", tmp_path)
    check_message(answer, 2, "input", "org.tensorflow::BatchToSpaceND-1")
