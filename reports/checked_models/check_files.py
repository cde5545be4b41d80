"""The files that a check writes, by the names of their formats; here JUnit and Markdown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from conformance.checked_models.whole_model import WholeModelFacts
from opcert.vocabulary.harmless import for_markdown, for_markdown_code
from opcert.vocabulary.whole_files import write_bytes, write_text
from reports.checked_models import check_words as words
from reports.checked_models.call_answers import ANSWERS, BLAMING, CallAnswer
from reports.checked_models.chain_answers import ChainAnswer
from reports.checked_models.check_json import render_check
from reports.checked_models.check_page import render_check_page
from reports.checked_models.check_sarif import render_sarif
from reports.checked_models.check_summary import (
    chains_line,
    evidence_line,
    forbidden_lines,
    model_line,
    total_line,
)
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers, coverage_line, coverage_of
from reports.text.junit_tree import JUnitSuite, JUnitTest, render_suites
from reports.text.markdown_tables import bullets, headed_list, table, within
from reports.text.phrasing import count, plural

LIMIT = 1024 * 1024
"""Bytes that the summary of a CI step may have."""


def render_junit_check(check: ModelCheck) -> bytes:
    """`junit.xml`, one suite a runtime: calls that are not covered are skipped.

    One test a call; one for whether the model loads, one for all chains, one for the whole model.
    """
    suites = (JUnitSuite(runtime.label, tuple(_tests(runtime))) for runtime in check.runtimes)
    return render_suites(f"opcert check {Path(check.model.path).name}", suites)


def _tests(runtime: RuntimeAnswers) -> Iterator[JUnitTest]:
    load, numbers = runtime.load, runtime.numbers
    if load is not None:
        said, fails = words.load_text(load), load.fails
        if load.verdict == "unknown":
            yield JUnitTest("model", "the model loads", 0.0, "skipped", said, load.verdict)
        else:
            yield _of_model("the model loads", said, load.verdict if fails else "")
    yield from _calls(runtime)
    if any(chain.answer != "uncovered" for chain in runtime.chains):
        blaming = runtime.blaming_chains
        told = [line for one in blaming for line in (words.path_of_chain(one.chain), _details(one.own))]
        said = chains_line(runtime)
        yield _of_model("chains of neighbours", said, blaming[0].answer if blaming else "", told)
    if numbers is not None:
        failing = "" if numbers.holds else "wrong"
        yield _of_model("the whole model", words.numbers_line(numbers), failing, _numbers(numbers))


def _of_model(name: str, message: str, failing: str, told: Iterable[str] = ()) -> JUnitTest:
    """A test of the model itself, which fails by the word `failing`, and passes without one."""
    if not failing:
        return JUnitTest("model", name, 0.0, "system-out", message)
    return JUnitTest("model", name, 0.0, "failure", message, failing, "\n".join(told))


def _calls(runtime: RuntimeAnswers) -> Iterator[JUnitTest]:
    cases = () if runtime.results is None else runtime.results.cases
    seconds = {str(case.id): math.fsum(row.seconds for row in case.rows) for case in cases}
    names: Counter[str] = Counter()
    for answer in runtime.answers:
        call = answer.checked.call
        operator = words.operator_text(call.first)
        name = f"{operator} {words.signature_text(call)}"
        names[name] += 1
        name = name if names[name] == 1 else f"{name} ({names[name]})"
        took = math.fsum(seconds.get(case, 0.0) for case in answer.checked.cases)
        message = f"{words.answer_text(answer)}: {words.evidence_text(answer)}"
        if runtime.unavailable:
            yield JUnitTest(operator, name, took, "error", runtime.unavailable, "unavailable")
        elif answer.answer in BLAMING:
            yield JUnitTest(operator, name, took, "failure", message, answer.answer, _details(answer))
        elif answer.answer == "uncovered":
            yield JUnitTest(operator, name, took, "skipped", message, answer.answer)
        else:
            yield JUnitTest(operator, name, took, "system-out", message)


def _numbers(numbers: WholeModelFacts) -> Iterator[str]:
    if numbers.does_not_run:
        yield words.not_running_text(numbers)
    yield from map(words.output_text, numbers.failing)
    yield from (f"node {wrong.place}: {words.wrong_text(wrong)}" for wrong in numbers.wrong)


def _details(answer: CallAnswer) -> str:
    lines = [words.node_names(answer.checked.call.nodes, 200)]
    for cause in answer.causes:
        lines += [cause.says, *cause.remarks, cause.results.reproduction_command(cause.smallest.id)]
    return "\n".join(lines)


def render_markdown_check(check: ModelCheck, limit: int = LIMIT) -> str:
    """`check.md`, for the page of a CI step: totals come first; what does not fit is left out at the end."""
    return within(_blocks(check), limit, "parts are")


def _blocks(check: ModelCheck) -> Iterator[str]:
    yield f"# {for_markdown(model_line(check))}"
    yield f"{for_markdown(evidence_line(check))}. Model {for_markdown_code(check.model.sha256)}"
    loads = [f"{run.label}: {words.load_text(run.load)}" for run in check.runtimes if run.load is not None]
    if loads:
        yield bullets(loads, 9000)
    yield bullets(total_line(check, run) for run in check.runtimes)
    head = ["nodes", *(words.WORDS[answer] for answer in ANSWERS)]
    rows = [
        [for_markdown(run.label), *(count(run.nodes[answer]) for answer in ANSWERS)]
        for run in check.runtimes
        if not run.unavailable
    ]
    yield "\n".join(table([head, *rows]))
    for run in check.runtimes:
        if run.numbers is not None and run.numbers.outputs:
            yield f"## {for_markdown(run.label)}: the whole model"
            yield bullets(words.output_lines(run.numbers), 600)
    yield for_markdown(coverage_line(coverage_of(check)), 4000)
    yield from headed_list("About the model", forbidden_lines(check))
    uncovered = [f"{words.calls_and_nodes(calls)}: {why}" for why, calls in check.uncovered.items()]
    yield from headed_list("Not covered", uncovered)
    for run in check.runtimes:
        if run.worst:
            yield f"## {for_markdown(run.label)}: calls to look at"
        yield from map(_call, run.worst)
        if run.chains:
            yield f"## {for_markdown(run.label)}: {for_markdown(chains_line(run))}"
        yield from map(_chain, run.blaming_chains)


def _chain(answer: ChainAnswer) -> str:
    head = f"{words.path_of_chain(answer.chain)}: {words.answer_of_chain(answer)}"
    return _paragraph(head, words.nodes_of_chain(answer.chain), answer.own)


def _call(answer: CallAnswer) -> str:
    call = answer.checked.call
    signature = f"{words.operator_text(call.first)} {words.signature_text(call)}"
    nodes = f"{plural(len(call.nodes), 'node')}: {words.node_names(call.nodes)}"
    return _paragraph(f"{signature}: {words.WORDS[answer.answer]}", nodes, answer)


def _paragraph(head: str, nodes: str, answer: CallAnswer) -> str:
    lines = [f"**{for_markdown(head)}**", for_markdown(nodes)]
    for cause in answer.causes:
        fails = ", ".join(filter(None, (words.fails_text(cause, answer.asked), cause.error)))
        lines.append(for_markdown(f"{cause.says} ({fails})", 600))
        lines += map(for_markdown, cause.remarks)
        expected, got = map(for_markdown_code, words.smallest_texts(cause))
        lines.append(f"expected {expected}, got {got}")
        lines.append(for_markdown_code(cause.results.reproduction_command(cause.smallest.id)))
    return "  \n".join(lines)


WRITERS: Mapping[str, tuple[str, Callable[[ModelCheck], str | bytes]]] = {
    "html": ("index.html", render_check_page),
    "json": ("check.json", render_check),
    "sarif": ("check.sarif", render_sarif),
    "markdown": ("check.md", render_markdown_check),
    "junit": ("junit.xml", render_junit_check),
}


def write_check(check: ModelCheck, formats: tuple[str, ...], folder: Path) -> dict[str, Path]:
    """Write a check in some formats; returns the file of each. UserError where it cannot be written."""
    found = {}
    for kind in dict.fromkeys(formats):
        name, render = WRITERS[kind]
        said = render(check)
        path = folder / name
        found[kind] = write_bytes(path, said) if isinstance(said, bytes) else write_text(path, said)
    return found
