"""`junit.xml` of a check, as continuous integration reads it: one suite a runtime, one test a call."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

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
from reports.checked_models.load_words import load_text
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers
from reports.checked_models.number_words import not_running_text, numbers_line, wrong_text
from reports.checked_models.output_words import output_text
from reports.results.junit_tree import count_suite, write_document


def write(check: ModelCheck, folder: Path) -> Path:
    """Write the file; raises UserError where the folder cannot be written."""
    return write_bytes(folder / "junit.xml", render_junit_check(check))


def render_junit_check(check: ModelCheck) -> bytes:
    """The whole document: calls that are not covered are skipped, and so is a runtime that was not asked."""
    root = Element("testsuites", name=f"opcert check {Path(check.model.path).name}")
    for each in check.runtimes:
        _suite(root, each)
    return write_document(root)


def _suite(root: Element, runtime: RuntimeAnswers) -> None:
    suite = SubElement(root, "testsuite", name=runtime.label)
    seconds: dict[str, float] = {}
    if runtime.results is not None:
        seconds = {
            str(each.id): math.fsum(row.seconds for row in each.rows) for each in runtime.results.cases
        }
    if runtime.load is not None:
        _load(suite, runtime.load)
    names: Counter[str] = Counter()
    for each in runtime.answers:
        call = each.checked.call
        name = f"{operator_text(call.first)} {signature_text(call)}"
        names[name] += 1
        took = math.fsum(seconds.get(case, 0.0) for case in each.checked.cases)
        test = SubElement(
            suite,
            "testcase",
            name=name if names[name] == 1 else f"{name} ({names[name]})",
            classname=operator_text(call.first),
            time=f"{took:.6f}",
        )
        message = f"{answer_text(each)}: {evidence_text(each)}"
        if runtime.unavailable:
            SubElement(test, "error", message=runtime.unavailable, type="unavailable")
        elif each.answer in BLAMING:
            SubElement(test, "failure", message=message, type=each.answer).text = _details(each)
        elif each.answer == "uncovered":
            SubElement(test, "skipped", message=message, type=each.answer)
        else:
            SubElement(test, "system-out").text = message
    if any(each.answer != "uncovered" for each in runtime.chains):
        _chains(suite, runtime)
    if runtime.numbers is not None:
        _numbers(suite, runtime.numbers)
    count_suite(suite)


def _load(suite: Element, load: LoadFacts) -> None:
    """A test for whether the model loads."""
    test = SubElement(suite, "testcase", name="the model loads", classname="model", time="0.000000")
    message = load_text(load)
    if load.fails:
        SubElement(test, "failure", message=message, type=load.verdict)
    elif load.verdict == "unknown":
        SubElement(test, "skipped", message=message, type=load.verdict)
    else:
        SubElement(test, "system-out").text = message


def _chains(suite: Element, runtime: RuntimeAnswers) -> None:
    """A test for all chains of neighbours."""
    test = SubElement(suite, "testcase", name="chains of neighbours", classname="model", time="0.000000")
    message = chains_line(runtime)
    blaming = runtime.blaming_chains
    if not blaming:
        SubElement(test, "system-out").text = message
        return
    told = [line for each in blaming for line in (path_of_chain(each.chain), _details(each.own))]
    SubElement(test, "failure", message=message, type=blaming[0].answer).text = "\n".join(told)


def _numbers(suite: Element, numbers: WholeModelFacts) -> None:
    """A test for the whole model with actual inputs."""
    test = SubElement(suite, "testcase", name="the whole model", classname="model", time="0.000000")
    message = numbers_line(numbers)
    if numbers.holds:
        SubElement(test, "system-out").text = message
        return
    told = [not_running_text(numbers)] if numbers.does_not_run else []
    told += [output_text(each) for each in numbers.failing]
    told += [f"node {each.place}: {wrong_text(each)}" for each in numbers.wrong]
    SubElement(test, "failure", message=message, type="wrong").text = "\n".join(told)


def _details(answer: CallAnswer) -> str:
    lines = [node_names(answer.checked.call.nodes, 200)]
    for each in answer.causes:
        lines += [each.says, *each.remarks, each.results.reproduction_command(each.smallest.id)]
    return "\n".join(lines)
