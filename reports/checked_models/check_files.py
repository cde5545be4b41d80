"""The files that a check writes, by the names of their formats; here JUnit and Markdown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from conformance.checked_models.whole_model import LoadFacts, WholeModelFacts
from opcert.vocabulary.harmless import for_markdown, for_markdown_code
from opcert.vocabulary.whole_files import write_bytes, write_text
from reports.checked_models import check_json, check_page, check_sarif
from reports.checked_models.call_answers import ANSWERS, BLAMING, CallAnswer
from reports.checked_models.chain_answers import ChainAnswer
from reports.checked_models.check_summary import evidence_line, forbidden_lines, model_line, total_line
from reports.checked_models.check_words import (
    WORDS,
    answer_of_chain,
    answer_text,
    calls_and_nodes,
    chains_line,
    evidence_text,
    fails_text,
    load_text,
    node_names,
    nodes_of_chain,
    not_running_text,
    numbers_line,
    operator_text,
    output_lines,
    output_text,
    path_of_chain,
    signature_text,
    smallest_texts,
    wrong_text,
)
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers, coverage_line, coverage_of
from reports.text.junit_tree import JUnitSuite, JUnitTest, render_suites
from reports.text.markdown_tables import bullets, headed_list, table, within
from reports.text.phrasing import count, plural

_MODEL = "model"


def write_junit(check: ModelCheck, folder: Path) -> Path:
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


LIMIT = 1024 * 1024
"""Bytes that a step's summary may have."""


def write_markdown(check: ModelCheck, folder: Path) -> Path:
    """Write the file; raises UserError where the folder cannot be written."""
    return write_text(folder / "check.md", render_markdown_check(check))


def render_markdown_check(check: ModelCheck, limit: int = LIMIT) -> str:
    """The whole document. Totals come first; what does not fit is left out at the end."""
    return within(_blocks(check), limit, "parts are")


def _blocks(check: ModelCheck) -> Iterator[str]:
    yield f"# {for_markdown(model_line(check))}"
    yield f"{for_markdown(evidence_line(check))}. Model {for_markdown_code(check.model.sha256)}"
    loads = [f"{each.label}: {load_text(each.load)}" for each in check.runtimes if each.load is not None]
    if loads:
        yield bullets(loads, 9000)
    yield bullets(total_line(check, each) for each in check.runtimes)
    head = ["nodes", *(WORDS[each] for each in ANSWERS)]
    rows = [
        [for_markdown(each.label), *(count(each.nodes[answer]) for answer in ANSWERS)]
        for each in check.runtimes
        if not each.unavailable
    ]
    yield "\n".join(table([head, *rows]))
    for run in check.runtimes:
        if run.numbers is not None and run.numbers.outputs:
            yield f"## {for_markdown(run.label)}: the whole model"
            yield bullets(output_lines(run.numbers), 600)
    yield for_markdown(coverage_line(coverage_of(check)), 4000)
    yield from headed_list("About the model", forbidden_lines(check))
    uncovered = [f"{calls_and_nodes(calls)}: {why}" for why, calls in check.uncovered.items()]
    yield from headed_list("Not covered", uncovered)
    for runtime in check.runtimes:
        if runtime.worst:
            yield f"## {for_markdown(runtime.label)}: calls to look at"
        for each in runtime.worst:
            yield _call(each)
        if runtime.chains:
            yield f"## {for_markdown(runtime.label)}: {for_markdown(chains_line(runtime))}"
        for row in runtime.blaming_chains:
            yield _chain(row)


def _chain(answer: ChainAnswer) -> str:
    head = f"{path_of_chain(answer.chain)}: {answer_of_chain(answer)}"
    lines = [f"**{for_markdown(head)}**", for_markdown(nodes_of_chain(answer.chain))]
    return "  \n".join([*lines, *_causes(answer.own)])


def _call(answer: CallAnswer) -> str:
    call = answer.checked.call
    head = f"{operator_text(call.first)} {signature_text(call)}: {WORDS[answer.answer]}"
    nodes = f"{plural(len(call.nodes), 'node')}: {node_names(call.nodes)}"
    return "  \n".join([f"**{for_markdown(head)}**", for_markdown(nodes), *_causes(answer)])


def _causes(answer: CallAnswer) -> list[str]:
    lines = []
    for each in answer.causes:
        fails = ", ".join(filter(None, (fails_text(each, answer.asked), each.error)))
        lines.append(for_markdown(f"{each.says} ({fails})", 600))
        lines += [for_markdown(remark) for remark in each.remarks]
        expected, got = map(for_markdown_code, smallest_texts(each))
        lines.append(f"expected {expected}, got {got}")
        lines.append(for_markdown_code(each.results.reproduction_command(each.smallest.id)))
    return lines


WRITERS: Mapping[str, Callable[[ModelCheck, Path], Path]] = {
    "html": check_page.write,
    "json": check_json.write,
    "sarif": check_sarif.write,
    "markdown": write_markdown,
    "junit": write_junit,
}


def write_check(check: ModelCheck, formats: tuple[str, ...], folder: Path) -> dict[str, Path]:
    """Write a check in some formats; returns the file of each. UserError where it cannot be written."""
    return {name: WRITERS[name](check, folder) for name in dict.fromkeys(formats)}
