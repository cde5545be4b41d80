"""`check.sarif`: a check as SARIF 2.1.0, which code hosts and editors show; one run a runtime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.checked_models.model_calls import ModelNode
from conformance.checked_models.whole_model import WholeModelFacts
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.sarif_logs import Entry, fingerprints, render_log, tool_of, uri_of
from reports.checked_models import check_words as words
from reports.checked_models.call_answers import Answer, CallAnswer, CallCause
from reports.checked_models.model_check import FORBIDDEN, ModelCheck, RuntimeAnswers
from reports.text.phrasing import plural

MOST_NODES = 100
"""So many nodes stand in one result."""
_LONGEST = 1_000
Finding = tuple[Entry, Entry]
"""A rule, and a result of it."""


def render_sarif(check: ModelCheck) -> str:
    """The whole log: a result for each cause of each call, and one for each call that nothing covers."""
    return render_log([_run(check, runtime) for runtime in check.runtimes])


def _run(check: ModelCheck, runtime: RuntimeAnswers) -> Entry:
    rules: dict[str, Entry] = {}
    results = []
    for rule, entry in _findings(check, runtime):
        rules.setdefault(rule["id"], rule)
        results.append({**entry, "ruleIndex": list(rules).index(rule["id"])})
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
        told = {"level": "error", "message": {"text": one_line(runtime.unavailable, _LONGEST)}}
        run["invocations"] = [{"executionSuccessful": False, "toolExecutionNotifications": [told]}]
    return run


def _findings(check: ModelCheck, runtime: RuntimeAnswers) -> Iterator[Finding]:
    for answer in runtime.answers:
        yield from _of_call(check, answer)
    load = runtime.load
    if load is not None and load.fails:
        said, about = "The runtime does not load the model", {"load": load.verdict}
        yield _finding(check, "does-not-load", said, "refused", words.load_text(load), about)
    for chain in runtime.blaming_chains:
        named = f"{words.path_of_chain(chain.chain)} ({words.nodes_of_chain(chain.chain)})"
        for cause in chain.own.causes:
            rule, message = f"chain/{words.rule_of(cause)}", f"{named}: {cause.says}; {_example(cause)}"
            facts, nodes = {"chain": chain.chain.number}, chain.chain.nodes
            yield _finding(check, rule, cause.says, cause.answer, message, facts, nodes)
    if runtime.numbers is not None:
        yield from _of_numbers(check, runtime.numbers)


def _of_call(check: ModelCheck, answer: CallAnswer) -> Iterator[Finding]:
    """What is found of one call."""
    checked, nodes = answer.checked, answer.checked.call.nodes
    call = f"{words.operator_text(checked.call.first)} {words.signature_text(checked.call)}"
    facts = {
        "call": checked.number,
        "nodes": len(nodes),
        "answer": answer.answer,
        "evidence": checked.evidence,
    }
    for cause in answer.causes:
        message = (
            f"{call} ({plural(len(nodes), 'node')}): {words.WORDS[cause.answer]}: {cause.says}; "
            f"{len(cause.cases)} of {plural(answer.asked, 'case')}; {_example(cause)}"
        )
        rule, entry = _finding(check, words.rule_of(cause), cause.says, cause.answer, message, facts, nodes)
        thread = cause.known.thread if cause.known is not None else None
        yield {**rule, "helpUri": thread} if thread else rule, entry
    if answer.answer == "uncovered":
        said = words.reason_text(checked.reason, answer.why)
        message = f"{call}: not covered: {answer.why or said}"
        if checked.reason == FORBIDDEN:
            name, told = "model/not-allowed", "No document allows the node"
            yield _finding(check, name, told, "elsewhere", message, facts, nodes)
        else:
            name, told = f"not-covered/{checked.reason or 'nothing_known'}", f"Not covered: {said}"
            yield _finding(check, name, told, "uncovered", message, facts, nodes)


def _of_numbers(check: ModelCheck, numbers: WholeModelFacts) -> Iterator[Finding]:
    """What is found of the whole model with actual inputs."""
    facts = {"numbers": True}
    if numbers.does_not_run:
        said = "The model does not run with its inputs"
        yield _finding(check, "does-not-run", said, "refused", words.not_running_text(numbers), facts)
    for output in numbers.failing:
        name, said = f"whole-model/output-{output.verdict}", f"An output of the model is {output.verdict}"
        more = {**facts, "output": one_line(output.name, 200), "against": output.against}
        yield _finding(check, name, said, "wrong", words.output_text(output), more)
    nodes = {each.place: each for each in check.model.nodes}
    for wrong in numbers.wrong:
        node = nodes.get(wrong.place)
        if node is not None:
            name = words.operator_text(node)
            said = f"{name} is wrong with the inputs that the model had"
            message = f"{words.node_name(node)}: {words.wrong_text(wrong)}"
            yield _finding(check, f"whole-model/{name}", said, "wrong", message, facts, [node])


def _finding(
    check: ModelCheck,
    rule: str,
    said: str,
    answer: Answer,
    message: str,
    properties: Entry,
    nodes: Sequence[ModelNode] = (),
) -> Finding:
    level, uri = words.LOOKS[answer].level, uri_of(check.model.path)
    logical = [
        {
            "name": words.node_name(node),
            "fullyQualifiedName": one_line(node.place, 200),
            "kind": "member",
        }
        for node in nodes[:MOST_NODES]
    ]
    physical = {"artifactLocation": {"uri": uri, "index": 0}}
    place = nodes[0].place if nodes else ""
    return {
        "id": rule,
        "shortDescription": {"text": one_line(said, _LONGEST)},
        "defaultConfiguration": {"level": level},
    }, {
        "ruleId": rule,
        "level": level,
        "message": {"text": message},
        "locations": [{"physicalLocation": physical, "logicalLocations": logical}],
        "partialFingerprints": fingerprints(check.model.sha256, place, rule),
        "properties": properties,
    }


def _example(cause: CallCause) -> str:
    expected, got = (one_line(text, 300) for text in words.smallest_texts(cause))
    command = cause.results.reproduction_command(cause.smallest.id)
    return f"the smallest expects {expected} and got {got}. To see it: {command}"
