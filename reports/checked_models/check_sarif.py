"""`check.sarif`: a check as SARIF 2.1.0, which code hosts and editors show; one run a runtime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.checked_models.model_calls import ModelNode
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.sarif_logs import Entry, fingerprints, render_log, tool_of, uri_of
from opcert.vocabulary.whole_files import write_text
from reports.checked_models.call_answers import Answer, CallAnswer, CallCause
from reports.checked_models.check_words import (
    WORDS,
    load_text,
    node_name,
    nodes_of_chain,
    not_running_text,
    operator_text,
    output_text,
    path_of_chain,
    reason_text,
    rule_of,
    signature_text,
    smallest_texts,
    wrong_text,
)
from reports.checked_models.model_check import FORBIDDEN, ModelCheck, RuntimeAnswers
from reports.text.phrasing import plural

LEVELS: dict[Answer, str] = {
    "crashes": "error",
    "wrong": "error",
    "refused": "error",
    "special": "warning",
    "constant": "note",
    "inexact": "note",
    "elsewhere": "warning",
    "open": "note",
    "uncovered": "note",
}
MOST_NODES = 100
"""So many nodes stand in one result."""
_LONGEST = 1_000


def write(check: ModelCheck, folder: Path) -> Path:
    """Write the file; raises UserError where the folder cannot be written."""
    return write_text(folder / "check.sarif", render_sarif(check))


def render_sarif(check: ModelCheck) -> str:
    """The whole log: a result for each cause of each call, and one for each call that nothing covers."""
    return render_log([_run(check, runtime) for runtime in check.runtimes])


def _run(check: ModelCheck, runtime: RuntimeAnswers) -> Entry:
    rules: dict[str, Entry] = {}
    results = []
    for rule, entry in (
        *(found for answer in runtime.answers for found in _results(check, answer)),
        *_load(check, runtime),
        *_chains(check, runtime),
        *_numbers(check, runtime),
    ):
        rules.setdefault(rule["id"], rule)
        entry["ruleIndex"] = list(rules).index(rule["id"])
        results.append(entry)
    run: Entry = {
        "tool": tool_of(list(rules.values())),
        "automationDetails": {"id": f"opcert check/{one_line(runtime.source, 200)}"},
        "columnKind": "unicodeCodePoints",
        "artifacts": [
            {"location": {"uri": uri_of(check.model.path)}, "hashes": {"sha-256": check.model.sha256}}
        ],
        "properties": {"runtime": runtime.label, "nodes": dict(runtime.nodes)},
        "results": results,
    }
    if runtime.unavailable:
        message = {"text": one_line(runtime.unavailable, _LONGEST)}
        run["invocations"] = [
            {
                "executionSuccessful": False,
                "toolExecutionNotifications": [{"level": "error", "message": message}],
            }
        ]
    return run


def _results(check: ModelCheck, answer: CallAnswer) -> Iterator[tuple[Entry, Entry]]:
    """Rules and results of one call."""
    for cause in answer.causes:
        rule = _rule(rule_of(cause), cause.says, cause.answer)
        thread = cause.found.known.thread if cause.found is not None and cause.found.known else None
        if thread:
            rule["helpUri"] = thread
        yield rule, _result(check, answer, rule, _message(answer, cause))
    if answer.answer == "uncovered":
        word = answer.checked.reason or "nothing_known"
        said = reason_text(answer.checked.reason, answer.why)
        rule = _rule(f"not-covered/{word}", f"Not covered: {said}", "uncovered")
        if word == FORBIDDEN:
            rule = _rule("model/not-allowed", "No document allows the node", "elsewhere")
        call = f"{operator_text(answer.checked.call.first)} {signature_text(answer.checked.call)}"
        yield rule, _result(check, answer, rule, f"{call}: not covered: {answer.why or said}")


def _load(check: ModelCheck, runtime: RuntimeAnswers) -> Iterator[tuple[Entry, Entry]]:
    """The rule and the result of a model that does not load."""
    if runtime.load is not None and runtime.load.fails:
        rule = _rule("does-not-load", "The runtime does not load the model", "refused")
        yield rule, _placed(check, (), rule, load_text(runtime.load), {"load": runtime.load.verdict})


def _chains(check: ModelCheck, runtime: RuntimeAnswers) -> Iterator[tuple[Entry, Entry]]:
    """Rules and results of nodes that are wrong in a row, and right alone."""
    for answer in runtime.blaming_chains:
        nodes = answer.chain.nodes
        for cause in answer.own.causes:
            rule = _rule(f"chain/{rule_of(cause)}", cause.says, cause.answer)
            named = f"{path_of_chain(answer.chain)} ({nodes_of_chain(answer.chain)})"
            message = f"{named}: {cause.says}; {_example(cause)}"
            yield rule, _placed(check, nodes, rule, message, {"chain": answer.chain.number})


def _numbers(check: ModelCheck, runtime: RuntimeAnswers) -> Iterator[tuple[Entry, Entry]]:
    """Rules and results of nodes that are wrong with actual inputs."""
    nodes = {each.place: each for each in check.model.nodes}
    if runtime.numbers is not None and runtime.numbers.does_not_run:
        rule = _rule("does-not-run", "The model does not run with its inputs", "refused")
        yield rule, _placed(check, (), rule, not_running_text(runtime.numbers), {"numbers": True})
    for output in runtime.numbers.failing if runtime.numbers is not None else ():
        rule = _rule(
            f"whole-model/output-{output.verdict}", f"An output of the model is {output.verdict}", "wrong"
        )
        properties = {"numbers": True, "output": one_line(output.name, 200), "against": output.against}
        yield rule, _placed(check, (), rule, output_text(output), properties)
    for each in runtime.numbers.wrong if runtime.numbers is not None else ():
        node = nodes.get(each.place)
        if node is None:
            continue
        name = operator_text(node)
        rule = _rule(f"whole-model/{name}", f"{name} is wrong with the inputs that the model had", "wrong")
        message = f"{node_name(node)}: {wrong_text(each)}"
        yield rule, _placed(check, [node], rule, message, {"numbers": True})


def _rule(name: str, said: str, answer: Answer) -> Entry:
    return {
        "id": name,
        "shortDescription": {"text": one_line(said, _LONGEST)},
        "defaultConfiguration": {"level": LEVELS[answer]},
    }


def _result(check: ModelCheck, answer: CallAnswer, rule: Entry, message: str) -> Entry:
    nodes = answer.checked.call.nodes
    properties = {
        "call": answer.checked.number,
        "nodes": len(nodes),
        "answer": answer.answer,
        "evidence": answer.checked.evidence,
    }
    return _placed(check, nodes, rule, message, properties)


def _placed(
    check: ModelCheck,
    nodes: Sequence[ModelNode],
    rule: Entry,
    message: str,
    properties: Entry,
) -> Entry:
    return {
        "ruleId": rule["id"],
        "level": rule["defaultConfiguration"]["level"],
        "message": {"text": message},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": uri_of(check.model.path), "index": 0}},
                "logicalLocations": _logical(nodes),
            }
        ],
        "partialFingerprints": fingerprints(check.model.sha256, nodes[0].place if nodes else "", rule["id"]),
        "properties": properties,
    }


def _logical(nodes: Sequence[ModelNode]) -> list[Entry]:
    return [
        {"name": node_name(each), "fullyQualifiedName": one_line(each.place, 200), "kind": "member"}
        for each in nodes[:MOST_NODES]
    ]


def _message(answer: CallAnswer, cause: CallCause) -> str:
    call = answer.checked.call
    nodes = plural(len(call.nodes), "node")
    said = (
        f"{operator_text(call.first)} {signature_text(call)} ({nodes}): {WORDS[cause.answer]}: {cause.says}; "
        f"{len(cause.cases)} of {plural(answer.asked, 'case')}"
    )
    return f"{said}; {_example(cause)}"


def _example(cause: CallCause) -> str:
    expected, got = smallest_texts(cause)
    example = f"the smallest expects {one_line(expected, 300)} and got {one_line(got, 300)}"
    return f"{example}. To see it: {cause.results.reproduction_command(cause.smallest.id)}"
