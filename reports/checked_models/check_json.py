"""`check.json`: a check for programs; its schema is `reports/schemas/check.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from conformance.checked_models.model_calls import ModelNode, ModelValue
from conformance.suite.canonical import plain
from opcert.vocabulary.attributes import describe_value
from opcert.vocabulary.whole_files import write_text
from reports.checked_models.call_answers import CallAnswer, CallCause
from reports.checked_models.call_evidence import CheckedCall
from reports.checked_models.chain_json import chains_json
from reports.checked_models.coverage import coverage_json, coverage_of
from reports.checked_models.load_words import load_json
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers
from reports.checked_models.number_json import numbers_json
from reports.checked_models.rule_names import rule_of
from reports.results.case_results import Results
from reports.results.told_facts import mapping, text
from reports.single_cases.answer_views import view_answer
from reports.single_cases.case_views import view_case

FORMAT = "opcert-check/1"
_MOST_CONSTANT = 64
"""Elements of a constant that are written out."""


def write(check: ModelCheck, folder: Path) -> Path:
    """Write the file; raises UserError where the folder cannot be written."""
    return write_text(folder / "check.json", render_check(check))


def render_check(check: ModelCheck) -> str:
    """The whole document."""
    model = check.model
    suite = next((each.results.suite for each in check.runtimes if each.results is not None), None)
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
        "coverage": coverage_json(coverage_of(check)),
        "runtimes": [_runtime(each) for each in check.runtimes],
        "calls": [_call(check, each) for each in check.calls],
        "nodes": [_node(check, each) for each in model.nodes],
        "chains": chains_json(check, cause_json),
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
        "load": None if runtime.load is None else load_json(runtime.load),
        "record": _digest(runtime.results),
        "recordWithoutOptimisation": _digest(runtime.plain),
        "nodes": dict(runtime.nodes),
        "calls": dict(runtime.calls),
        "conformantByNodeTestsAlone": runtime.weaker,
        "numbers": None if runtime.numbers is None else numbers_json(runtime.numbers),
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
        "attributes": {name: describe_value(each.value) for name, each in sorted(first.attributes.items())},
        "unread": dict(first.unread),
        "inputs": [_value(each) for each in first.inputs],
        "outputs": [_value(each) for each in first.outputs],
        "nodes": [each.place for each in checked.call.nodes],
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
        "causes": [cause_json(each) for each in answer.causes],
    }


def cause_json(cause: CallCause) -> dict[str, Any]:
    """A cause of a call or of a chain, with its smallest case."""
    case = cause.results.suite.case(str(cause.smallest.id))
    view = view_case(cause.results, case)
    return {
        "rule": rule_of(cause),
        "answer": cause.answer,
        "setting": cause.setting,
        "says": cause.title,
        "remarks": list(cause.remarks),
        "known": cause.found.known.id if cause.found is not None and cause.found.known is not None else None,
        "errorOverAllowed": cause.ratio,
        "cases": [str(each.id) for each in cause.cases],
        "smallest": {
            "case": view.id,
            "attributes": {each.name: each.values for each in view.attributes},
            "inputs": [[each.name, each.type, each.values] for each in view.inputs],
            "expected": view.demand,
            "got": view_answer(cause.results, cause.smallest, case).answer,
            "passages": [each.where for each in view.passages],
            "reproduce": view.command,
        },
    }
