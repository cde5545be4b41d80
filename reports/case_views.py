"""A case as a page shows it: the call, what must happen, what happened, the rule and where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.cases import Case, ExpectedOutput
from opcert.tensors import Tensor
from reports.anchors import case_anchor
from reports.answers import Output, read_outputs
from reports.explanations import case_sentence
from reports.facts import joined, mapping, place, places, text
from reports.features import ABSENT, ELEMENT_TYPE
from reports.results import CaseResult, Results
from reports.text import duration, one_line, plural, ratio_text
from reports.values import attribute_text, shape_text, values_text
from reports.verdicts import word


@dataclass(frozen=True)
class Part:
    """A name and a value: a tensor has `type` (element type and full shape) beside its abbreviated values."""

    name: str
    values: str
    type: str = ""
    marked: bool = False

    @property
    def text(self) -> str:
        return self.values


@dataclass(frozen=True)
class CaseView:
    """Everything that a page says about one failing case."""

    id: str
    anchor: str
    element_type: str
    verdict: str
    word: str
    sentence: str
    resembles: str
    command: str
    demand: str
    answer: str
    error: str
    attributes: tuple[Part, ...]
    inputs: tuple[Part, ...]
    expected: tuple[Part, ...]
    got: tuple[Part, ...]
    worst: tuple[Part, ...]
    rules: tuple[Part, ...]
    levels: tuple[Part, ...]
    messages: tuple[Part, ...]


def view_case(results: Results, found: CaseResult, marked: frozenset[str] = frozenset()) -> CaseView:
    """Read the case from its suite and put it into words; `marked` are the features that its class names."""
    case = results.suite.case(str(found.id))
    facts = results.operator_facts(found.operator)
    outputs = read_outputs(results.record, case, found.row)
    row = found.row
    return CaseView(
        id=str(found.id),
        anchor=case_anchor(found.id),
        element_type=found.element_type,
        verdict=found.verdict,
        word=word(found.verdict),
        sentence=_sentence(found),
        resembles=case_sentence(results, found),
        command=results.reproduction_command(found.id),
        demand=demand_text(case),
        answer=answer_text(found, outputs),
        error=error_text(found),
        attributes=tuple(
            Part(name, attribute_text(each.value), marked=name in marked)
            for name, each in sorted(case.attributes.items())
        ),
        inputs=tuple(_input(name, tensor) for name, tensor in case.inputs),
        expected=_expected(case),
        got=_got(found, outputs),
        worst=_worst(case, found),
        rules=_rules(case, facts, found),
        levels=_levels(case, marked),
        messages=tuple(
            Part(name, each)
            for name, each in (
                ("the runtime's message", row.message if row else None),
                ("last lines of standard error", row.stderr if row else None),
            )
            if each
        ),
    )


def demand_text(case: Case) -> str:
    """What must happen, in a line."""
    if case.demand == "refuse":
        rule = f" ({case.constraint} is broken)" if case.constraint else ""
        return f"must be refused{rule}"
    if case.demand == "survive":
        return "nothing is asked but survival"
    first = case.expectations[0].outputs if case.expectations else ()
    text_of = "; ".join(f"{shape_text(each.expected)} {values_text(each.expected)}" for each in first)
    others = len(case.expectations) - 1
    return f"{text_of} (or {plural(others, 'other reading')})" if others > 0 else text_of


def answer_text(found: CaseResult, outputs: Sequence[Output]) -> str:
    """What happened, in a line: the outputs, or why there are none."""
    if found.verdict in ("mismatch", "accepted_invalid") and outputs:
        return "; ".join(each.line for each in outputs)
    row = found.row
    if row is not None and found.verdict == "rejected_valid" and row.message:
        return one_line(f"{row.error}: {row.message}" if row.error else row.message, 500)
    return (row.reason if row is not None else None) or word(found.verdict)


def error_text(found: CaseResult) -> str:
    """`not equal`, or the error in units of the allowed one; empty for what is no matter of values."""
    if found.verdict != "mismatch" or found.row is None:
        return ""
    if found.wrong_shape:
        return f"wrong {'number of outputs' if found.row.difference == 'count' else found.row.difference}"
    if found.ratio is None:
        return "not equal"
    return f"{ratio_text(found.ratio)} the allowed error"


def _sentence(found: CaseResult) -> str:
    reason = (found.row.reason if found.row is not None else None) or "no reason was recorded"
    opening = {
        "crash": "The process was lost",
        "timeout": "No answer in time",
        "mismatch": "Not what the documents say",
        "rejected_valid": "A valid call was refused",
        "accepted_invalid": "A call that must be refused was answered",
    }.get(found.verdict, word(found.verdict))
    return f"{opening}: {reason}."


def _input(name: str, tensor: Tensor | None) -> Part:
    if tensor is None:
        return Part(name, ABSENT)
    return Part(name, values_text(tensor), shape_text(tensor))


def _expected(case: Case) -> tuple[Part, ...]:
    if case.demand != "answer":
        return (Part("expected", demand_text(case)),)
    parts = []
    for expectation in case.expectations:
        options = {**expectation.readings, **expectation.behaviours}
        several = len(case.expectations) > 1
        under = "; ".join(f"{name}: {' or '.join(each)}" for name, each in sorted(options.items()))
        for each in expectation.outputs:
            name = f"expected {each.name}" + (f" ({under})" if several and under else "")
            parts.append(Part(name, values_text(each.expected), shape_text(each.expected)))
            parts.append(Part("allowed error", allowed_text(each)))
    return tuple(parts)


def allowed_text(output: ExpectedOutput) -> str:
    """The error allowed to the elements of an output: `none, equal bits`, `up to 1.2e-07`, `1e-9 to 3e-7`."""
    if output.allowed is None or not output.allowed.size:
        said = "none: equal bits"
    else:
        least, most = float(np.min(output.allowed)), float(np.max(output.allowed))
        if most == 0:
            said = "none"
        elif np.isinf(least):
            said = "any value"
        else:
            said = f"{least:.3g}" if least == most else f"{least:.3g} to {most:.3g}, element by element"
    number = len(output.alternatives)
    return f"{said}; {plural(number, 'element')} may have other values too" if number else said


def _got(found: CaseResult, outputs: Sequence[Output]) -> tuple[Part, ...]:
    if outputs:
        return tuple(Part(f"got {each.name}", each.values, each.type) for each in outputs)
    return (Part("got", answer_text(found, outputs)),)


def _worst(case: Case, found: CaseResult) -> tuple[Part, ...]:
    worst = found.row.worst if found.row is not None else None
    if worst is None or found.verdict != "mismatch":
        return ()
    position, index = worst.get("output"), worst.get("index")
    known = isinstance(position, int) and 0 <= position < len(case.output_names)
    name = case.output_names[position] if known and isinstance(position, int) else "output"
    limit = worst.get("allowed")
    allowed = "none" if limit is None else f"{limit:.3g}" if isinstance(limit, float) else str(limit)
    described = (
        f"{name}{index}: got {worst.get('got')}, expected {worst.get('expected')}, allowed error {allowed}"
    )
    parts = [Part("worst element", described), Part("error ÷ allowed", ratio_text(found.ratio))]
    ulps = worst.get("ulps")
    if ulps is not None:
        parts.append(Part("error in ulp", f"{ulps:,}" if isinstance(ulps, int) else str(ulps)))
    return tuple(parts)


def _rules(case: Case, facts: Mapping[str, Any], found: CaseResult) -> tuple[Part, ...]:
    parts = []
    rule = case.rule
    if case.constraint is not None:
        constraint = mapping(mapping(facts.get("constraints")).get(case.constraint))
        rule = rule or text(constraint.get("rule"))
        parts.append(Part("rule broken", case.constraint))
        where = places(facts, constraint.get("sources"))
    else:
        where = []
    if rule:
        parts.append(Part("rule", rule))
    where = [place(facts, each) for each in case.sources] or where
    if where:
        parts.append(Part("document", joined(where)))
    if case.valid_case:
        parts.append(Part("made from", case.valid_case))
    row = found.row
    if row is not None:
        for name, options in {**row.readings, **row.behaviours}.items():
            parts.append(Part(f"reading {name}", " or ".join(options)))
        if row.pattern:
            parts.append(Part("looks like", row.pattern))
        parts.append(Part("form", row.form))
        parts.append(Part("time", duration(row.seconds)))
    return tuple(parts)


def _levels(case: Case, marked: frozenset[str]) -> tuple[Part, ...]:
    """The levels that the case was built from, without those that only repeat an attribute."""
    attributes = {name: attribute_text(each.value) for name, each in case.attributes.items()}
    return tuple(
        Part(name, str(level), marked=name in marked)
        for name, level in case.levels.items()
        if name != ELEMENT_TYPE and attributes.get(name) != str(level)
    )
