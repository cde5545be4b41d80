"""`junit.xml` of a check, as continuous integration reads it: one suite a runtime, one test a call."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from conformance.checked_models.model_loading import LoadFacts
from conformance.checked_models.whole_model import WholeModelFacts
from opcert.vocabulary.whole_files import write_bytes
from reports.checked_models.call_answers import BLAMING, CallAnswer
from reports.checked_models.call_words import (
    answer_text,
    evidence_text,
    node_names,
    operator_text,
    signature_text,
)
from reports.checked_models.chain_words import chains_line, path_of_chain
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers
from reports.checked_models.number_words import (
    load_text,
    not_running_text,
    numbers_line,
    output_text,
    wrong_text,
)
from reports.text.junit_tree import JUnitSuite, JUnitTest, render_suites

_MODEL = "model"


def write(check: ModelCheck, folder: Path) -> Path:
    """Write the file; raises UserError where the folder cannot be written."""
    return write_bytes(folder / "junit.xml", render_junit_check(check))


def render_junit_check(check: ModelCheck) -> bytes:
    """The whole document: calls that are not covered are skipped, and so is a runtime that was not asked."""
    suites = (JUnitSuite(runtime.label, tuple(_tests(runtime))) for runtime in check.runtimes)
    return render_suites(f"opcert check {Path(check.model.path).name}", suites)


def _tests(runtime: RuntimeAnswers) -> Iterator[JUnitTest]:
    if runtime.load is not None:
        yield _load(runtime.load)
    yield from _calls(runtime)
    if any(each.answer != "uncovered" for each in runtime.chains):
        yield _chains(runtime)
    if runtime.numbers is not None:
        yield _numbers(runtime.numbers)


def _calls(runtime: RuntimeAnswers) -> Iterator[JUnitTest]:
    seconds: dict[str, float] = {}
    if runtime.results is not None:
        seconds = {
            str(case.id): math.fsum(row.seconds for row in case.rows) for case in runtime.results.cases
        }
    names: Counter[str] = Counter()
    for answer in runtime.answers:
        call = answer.checked.call
        operator = operator_text(call.first)
        name = f"{operator} {signature_text(call)}"
        names[name] += 1
        name = name if names[name] == 1 else f"{name} ({names[name]})"
        took = math.fsum(seconds.get(case, 0.0) for case in answer.checked.cases)
        message = f"{answer_text(answer)}: {evidence_text(answer)}"
        if runtime.unavailable:
            yield JUnitTest(operator, name, took, "error", runtime.unavailable, "unavailable")
        elif answer.answer in BLAMING:
            yield JUnitTest(operator, name, took, "failure", message, answer.answer, _details(answer))
        elif answer.answer == "uncovered":
            yield JUnitTest(operator, name, took, "skipped", message, answer.answer)
        else:
            yield JUnitTest(operator, name, took, "system-out", message)


def _load(load: LoadFacts) -> JUnitTest:
    """A test for whether the model loads."""
    name, message = "the model loads", load_text(load)
    if load.fails:
        return JUnitTest(_MODEL, name, 0.0, "failure", message, load.verdict)
    if load.verdict == "unknown":
        return JUnitTest(_MODEL, name, 0.0, "skipped", message, load.verdict)
    return JUnitTest(_MODEL, name, 0.0, "system-out", message)


def _chains(runtime: RuntimeAnswers) -> JUnitTest:
    """A test for all chains of neighbours."""
    name, message = "chains of neighbours", chains_line(runtime)
    blaming = runtime.blaming_chains
    if not blaming:
        return JUnitTest(_MODEL, name, 0.0, "system-out", message)
    told = [line for each in blaming for line in (path_of_chain(each.chain), _details(each.own))]
    return JUnitTest(_MODEL, name, 0.0, "failure", message, blaming[0].answer, "\n".join(told))


def _numbers(numbers: WholeModelFacts) -> JUnitTest:
    """A test for the whole model with actual inputs."""
    name, message = "the whole model", numbers_line(numbers)
    if numbers.holds:
        return JUnitTest(_MODEL, name, 0.0, "system-out", message)
    told = [not_running_text(numbers)] if numbers.does_not_run else []
    told += [output_text(each) for each in numbers.failing]
    told += [f"node {each.place}: {wrong_text(each)}" for each in numbers.wrong]
    return JUnitTest(_MODEL, name, 0.0, "failure", message, "wrong", "\n".join(told))


def _details(answer: CallAnswer) -> str:
    lines = [node_names(answer.checked.call.nodes, 200)]
    for each in answer.causes:
        lines += [each.says, *each.remarks, each.results.reproduction_command(each.smallest.id)]
    return "\n".join(lines)
