"""A check for programs: `check.json` (its schema is `reports/schemas/check.json`), and `check.sarif`, which
code hosts and editors show; of SARIF 2.1.0 one run a runtime.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from typing import Any

from conformance.checked_models.model_calls import ModelNode, ModelValue
from conformance.checked_models.whole_model import WholeModelFacts
from conformance.suite.canonical import plain
from opcert.vocabulary.attributes import describe_value
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.sarif_logs import Entry, fingerprints, render_log, tool_of, uri_of
from reports.checked_models import check_words as words
from reports.checked_models.call_answers import Answer, CallAnswer, CallCause
from reports.checked_models.call_evidence import CheckedCall
from reports.checked_models.chain_answers import ChainAnswer
from reports.checked_models.model_check import FORBIDDEN, ModelCheck, RuntimeAnswers, coverage_of
from reports.results.case_results import Results
from reports.results.told_facts import mapping, text
from reports.single_cases.answer_views import view_answer
from reports.single_cases.case_views import view_case
from reports.text.phrasing import plural

FORMAT = "opcert-check/1"
_MOST_CONSTANT = 64
"""Elements of a constant that are written out."""
_NAMES = {"over_bound": "errorOverAllowed", "element_type": "type"}
_OWN = frozenset({"runtime", "operator", "given", "answered", "steps", "is_far"})
"""Fields of facts that are for the program alone, or stand elsewhere in the document."""
_SAID = frozenset({"reason", "beside", "message", "does_not_run"})
"""Those that are null where they say nothing."""


def render_check(check: ModelCheck) -> str:
    """The whole document."""
    model, coverage = check.model, coverage_of(check)
    suite = next((runtime.results.suite for runtime in check.runtimes if runtime.results is not None), None)
    document = {
        "format": FORMAT,
        "opcert": version("opcert"),
        "model": {
            "path": model.path,
            "sha256": model.sha256,
            "opsets": dict(model.opsets),
            "nodes": len(model.nodes),
            "calls": len(check.calls),
            "notes": list(model.notes),
        },
        "suite": None if suite is None else {"digest": suite.digest, "path": str(suite.path)},
        "holds": check.holds,
        "coverage": {
            "complete": coverage.complete,
            "uncovered": dict(coverage.uncovered),
            "forbidden": dict(coverage.forbidden),
            "open": list(coverage.open),
        },
        "runtimes": [_runtime(runtime) for runtime in check.runtimes],
        "calls": [_call(check, call) for call in check.calls],
        "nodes": [_node(check, node) for node in model.nodes],
        "chains": _chains(check),
    }
    return json.dumps(plain(document), indent=1, ensure_ascii=True) + "\n"


def _runtime(runtime: RuntimeAnswers) -> dict[str, Any]:
    told: Mapping[str, Any] = {}
    if runtime.results is not None:
        told = mapping(runtime.results.record.header.get("runtime"))
    return {
        "source": runtime.source,
        "name": text(told.get("name")) or None,
        "version": text(told.get("version")) or None,
        "holds": runtime.holds,
        "unavailable": runtime.unavailable or None,
        "load": _fields_of(runtime.load),
        "record": _digest(runtime.results),
        "recordWithoutOptimisation": _digest(runtime.plain),
        "nodes": dict(runtime.nodes),
        "calls": dict(runtime.calls),
        "conformantByNodeTestsAlone": runtime.weaker,
        "numbers": _fields_of(runtime.numbers),
    }


def _digest(results: Results | None) -> str | None:
    return None if results is None else text((results.record.footer or {}).get("digest")) or None


def _node(check: ModelCheck, node: ModelNode) -> dict[str, Any]:
    call = check.call_of.get(node.place)
    return {
        "place": node.place,
        "name": node.name,
        "operator": None if node.operator is None else str(node.operator),
        "call": None if call is None else call.number,
    }


def _call(check: ModelCheck, checked: CheckedCall) -> dict[str, Any]:
    first = checked.call.first
    return {
        "number": checked.number,
        "operator": None if first.operator is None else str(first.operator),
        "opType": first.op_type,
        "domain": first.domain,
        "attributes": {
            name: describe_value(attribute.value) for name, attribute in sorted(first.attributes.items())
        },
        "unread": {name: why for name, why in first.unread.items() if name not in first.open_graphs},
        "inputs": [_value(value) for value in first.inputs],
        "outputs": [_value(output) for output in first.outputs],
        "nodes": [node.place for node in checked.call.nodes],
        "evidence": checked.evidence,
        "reason": checked.reason or None,
        "why": checked.why or None,
        "varied": {name: list(levels) for name, levels in checked.varied.items()},
        "givenUp": list(checked.given_up),
        "cases": list(checked.cases),
        "answers": [
            _answer(runtime, answer)
            for runtime, answer in zip(check.runtimes, check.answers(checked), strict=True)
        ],
    }


def _value(value: ModelValue | None) -> dict[str, Any] | None:
    if value is None:
        return None
    small = value.constant is not None and value.constant.array.size <= _MOST_CONSTANT
    return {
        "type": value.element_type or value.kind,
        "shape": None if value.shape is None else list(value.shape),
        "constant": value.is_constant,
        "value": describe_value(value.constant) if small and value.constant is not None else None,
    }


def _answer(runtime: RuntimeAnswers, answer: CallAnswer) -> dict[str, Any]:
    return {
        "runtime": runtime.source,
        "answer": answer.answer,
        "asked": answer.asked,
        "passing": answer.passing,
        "unsupported": answer.unsupported,
        "leftOut": answer.left,
        "why": answer.why or None,
        "causes": [_cause(cause) for cause in answer.causes],
    }


def _cause(cause: CallCause) -> dict[str, Any]:
    """A cause of a call or of a chain, with its smallest case."""
    case = cause.results.suite.case(str(cause.smallest.id))
    view = view_case(cause.results, case)
    return {
        "rule": words.rule_of(cause),
        "answer": cause.answer,
        "setting": cause.setting,
        "says": cause.title,
        "remarks": list(cause.remarks),
        "known": cause.known.id if cause.known is not None else None,
        "errorOverAllowed": cause.ratio,
        "cases": [str(result.id) for result in cause.cases],
        "smallest": {
            "case": view.id,
            "attributes": {attribute.name: attribute.values for attribute in view.attributes},
            "inputs": [
                [viewed_value.name, viewed_value.type, viewed_value.values] for viewed_value in view.inputs
            ],
            "expected": view.demand,
            "got": view_answer(cause.results, cause.smallest, case).answer,
            "passages": [passage.where for passage in view.passages],
            "reproduce": view.command,
        },
    }


def _chains(check: ModelCheck) -> dict[str, Any]:
    """The chains in order with the answer of each runtime; `cut` says what bounded them, None if nothing."""
    asked = [chain for chain in check.chains if chain.case]
    answers: dict[int, list[dict[str, Any]]] = {checked_chain.number: [] for checked_chain in asked}
    for runtime in check.runtimes:
        for chain in runtime.chains:
            answers[chain.chain.number].append(_chain_answer(runtime.source, chain))
    return {
        "cut": check.chains_cut or None,
        "chains": [
            {
                "number": chain.number,
                "path": chain.path,
                "nodes": [node.place for node in chain.nodes],
                "case": chain.case or None,
                "why": chain.why or None,
                "answers": answers.get(chain.number, []),
            }
            for chain in check.chains
        ],
    }


def _chain_answer(source: str, answer: ChainAnswer) -> dict[str, Any]:
    return {
        "runtime": source,
        "answer": answer.answer,
        "setting": answer.setting,
        "follows": list(answer.follows),
        "shorter": list(answer.shorter),
        "why": answer.own.why or None,
        "causes": [_cause(cause) for cause in answer.own.causes],
    }


def _fields_of(facts: Any) -> Any:
    """Facts of a model as they are, with the names that the schema has; what says nothing is null."""
    if isinstance(facts, tuple | list):
        return [_fields_of(item) for item in facts]
    if not is_dataclass(facts):
        return facts
    found = {field.name: getattr(facts, field.name) for field in fields(facts) if field.name not in _OWN}
    return {
        _NAMES.get(name) or _camel(name): None if value == "" and name in _SAID else _fields_of(value)
        for name, value in found.items()
    }


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


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
            f"{words.fails_text(cause, answer.asked)}; {_example(cause)}"
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
