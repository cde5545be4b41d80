"""`check.md`: a check for the page of a CI step, below the size that such a step may have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from opcert.vocabulary.harmless import for_markdown, for_markdown_code
from opcert.vocabulary.whole_files import write_text
from reports.checked_models.call_answers import ANSWERS, CallAnswer
from reports.checked_models.call_words import (
    WORDS,
    calls_and_nodes,
    fails_text,
    node_names,
    operator_text,
    signature_text,
    smallest_texts,
)
from reports.checked_models.chain_answers import ChainAnswer
from reports.checked_models.chain_words import answer_of_chain, chains_line, nodes_of_chain, path_of_chain
from reports.checked_models.check_summary import evidence_line, forbidden_lines, model_line, total_line
from reports.checked_models.coverage import coverage_line, coverage_of
from reports.checked_models.model_check import ModelCheck
from reports.checked_models.number_words import load_text, output_lines
from reports.text.markdown_tables import bullets, headed_list, table, within
from reports.text.phrasing import count, plural

LIMIT = 1024 * 1024
"""Bytes that a step's summary may have."""


def write(check: ModelCheck, folder: Path) -> Path:
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
