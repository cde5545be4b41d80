"""What a runtime made of a case, as a page shows it: what happened, the outputs, the runtime's own words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.judging.responses import ReturnedOther
from conformance.judging.verdicts import ACCEPTED_INVALID, REJECTED_VALID, word
from conformance.recording.outputs import restore_output
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.suite.cases import Case
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.tensors import Tensor
from reports.causes.class_words import unstable_text
from reports.causes.kept_findings import case_sentence
from reports.results.case_results import CaseResult, Results
from reports.single_cases.pictures import Picture, draw_picture
from reports.text.phrasing import duration, ratio_text
from reports.text.value_text import ViewedValue, shape_text, values_text


@dataclass(frozen=True, eq=False)
class Output:
    """An output that a runtime returned, in words; `tensor` where the record kept it and it is one."""

    name: str
    type: str
    values: str
    tensor: Tensor | None = None

    @property
    def line(self) -> str:
        return f"{self.type} {self.values}".strip()


def read_outputs(record: Record, case: Case, row: Result | None) -> tuple[Output, ...]:
    """The outputs of a row; those that the record lacks, or that are damaged, are said to be."""
    if row is None:
        return ()
    found = []
    for position, entry in enumerate(row.outputs):
        name = output_name(case, position)
        try:
            value = restore_output(entry, position, case, record.path)
        except UserError as error:
            found.append(Output(name, "", error.problem))
            continue
        if value is not None:
            found.append(in_words(name, value))
        else:
            digest = entry.get("sha256", "") if isinstance(entry, dict) else ""
            found.append(Output(name, "", f"too large for the record; SHA-256 {digest}"))
    return tuple(found)


def output_name(case: Case, position: int) -> str:
    """What a case calls an output, or a part of one; runtimes may return more than there are."""
    names: Sequence[str] = case.output_names
    if case.output_types and case.expectations:
        names = [output.name for output in case.expectations[0].outputs]
    return names[position] if position < len(names) else f"output {position}"


def in_words(name: str, value: Tensor | ReturnedOther) -> Output:
    """An output as a page shows it."""
    if isinstance(value, Tensor):
        return Output(name, shape_text(value), values_text(value), value)
    return Output(name, "", f"no tensor but a {value.kind}: {value.text}")


@dataclass(frozen=True)
class AnswerView:
    """Everything that a page says about what one run saw of a case."""

    verdict: str
    word: str
    sentence: str
    resembles: str
    answer: str
    error: str
    got: tuple[ViewedValue, ...]
    worst: tuple[ViewedValue, ...]
    circumstances: tuple[ViewedValue, ...]
    messages: tuple[ViewedValue, ...]
    picture: Picture | None


def view_answer(results: Results, found: CaseResult, case: Case) -> AnswerView:
    """Put the worst row of a case into words, with the outputs as far as the record kept them."""
    outputs = read_outputs(results.record, case, found.row)
    row = found.row
    return AnswerView(
        verdict=found.verdict,
        word=word(found.verdict),
        sentence=_sentence(found),
        resembles=case_sentence(results, found),
        answer=_answer(found, outputs),
        error=error_text(found),
        got=_got(found, outputs),
        worst=_worst(case, found),
        circumstances=_circumstances(found),
        messages=tuple(
            ViewedValue(name, each)
            for name, each in (
                ("the runtime's message", row.message if row else None),
                ("last lines of standard error", row.stderr if row else None),
            )
            if each
        ),
        picture=_picture(case, found, outputs),
    )


_COMPARED = ("mismatch", "inexact")
"""Verdicts of answers that were held against what is expected, and are not that."""


def _picture(case: Case, found: CaseResult, outputs: Sequence[Output]) -> Picture | None:
    """The output with the worst element beside the expectation that was the closest."""
    row = found.row
    if row is None or row.verdict not in _COMPARED or row.difference != "value" or row.worst is None:
        return None
    position, number = row.worst.get("output"), row.expectation or 0
    if not isinstance(position, int) or not 0 <= number < len(case.expectations):
        return None
    wanted = case.expectations[number].outputs
    if not 0 <= position < min(len(wanted), len(outputs)):
        return None
    tensor = outputs[position].tensor
    return None if tensor is None else draw_picture(wanted[position], tensor)


def error_text(found: CaseResult) -> str:
    """`not equal`, or the error in units of the allowed one; empty for what is no matter of values."""
    if found.row is None or found.told not in _COMPARED:
        return ""
    if found.wrong_shape:
        return f"wrong {'number of outputs' if found.row.difference == 'count' else found.row.difference}"
    if found.row.difference == "property":
        return "not as demanded"
    if found.ratio is None:
        return "not equal"
    return f"{ratio_text(found.ratio)} the allowed error"


def _answer(found: CaseResult, outputs: Sequence[Output]) -> str:
    """What happened, in a line: the outputs, or why there are none."""
    if found.told in (*_COMPARED, "document", ACCEPTED_INVALID) and outputs:
        return "; ".join(output.line for output in outputs)
    row = found.row
    if row is not None and found.verdict == REJECTED_VALID and row.message:
        return one_line(f"{row.error}: {row.message}" if row.error else row.message, 500)
    return (row.reason if row is not None else None) or word(found.verdict)


def _sentence(found: CaseResult) -> str:
    reason = (found.row.reason if found.row is not None else None) or "no reason was recorded"
    opening = {
        "crash": "The process was lost",
        "timeout": "No answer in time",
        "mismatch": "Not what the documents say",
        "inexact": "Right, and less exact than the table of functions",
        "document": "Open in the documents",
        "limit": "Ended by a limit of opcert",
        REJECTED_VALID: "A valid call was rejected",
        ACCEPTED_INVALID: "A call that must be rejected was answered",
    }.get(found.verdict, word(found.verdict))
    return f"{opening}: {reason}. {unstable_text(found)}".rstrip()


def _got(found: CaseResult, outputs: Sequence[Output]) -> tuple[ViewedValue, ...]:
    if outputs:
        return tuple(ViewedValue(f"got {output.name}", output.values, output.type) for output in outputs)
    return (ViewedValue("got", _answer(found, outputs)),)


def _worst(case: Case, found: CaseResult) -> tuple[ViewedValue, ...]:
    worst = found.row.worst if found.row is not None else None
    if worst is None or found.told not in _COMPARED:
        return ()
    position, index = worst.get("output"), worst.get("index")
    known = isinstance(position, int) and 0 <= position < len(case.output_names)
    name = case.output_names[position] if known and isinstance(position, int) else "output"
    limit = worst.get("allowed")
    allowed = "none" if limit is None else f"{limit:.3g}" if isinstance(limit, float) else str(limit)
    described = (
        f"{name}{index}: got {worst.get('got')}, expected {worst.get('expected')}, allowed error {allowed}"
    )
    parts = [ViewedValue("worst element", described), ViewedValue("error ÷ allowed", ratio_text(found.ratio))]
    ulps = worst.get("ulps")
    if ulps is not None:
        parts.append(ViewedValue("error in ulp", f"{ulps:,}" if isinstance(ulps, int) else str(ulps)))
    return tuple(parts)


def _circumstances(found: CaseResult) -> tuple[ViewedValue, ...]:
    """Readings matched, what the result looks like, the form of the call and its time."""
    row = found.row
    if row is None:
        return ()
    parts = [
        ViewedValue(f"reading {name}", " or ".join(options))
        for name, options in {**row.readings, **row.behaviours}.items()
    ]
    if row.pattern:
        parts.append(ViewedValue("looks like", row.pattern))
    parts += [ViewedValue("form", row.form), ViewedValue("time", duration(row.seconds))]
    if len(found.rows) > 1:
        parts.append(ViewedValue("each call", "; ".join(_call(result) for result in found.rows)))
    return tuple(parts)


def _call(row: Result) -> str:
    """One of several calls of a case: `initializers, repetition 1: pass`."""
    return f"{row.form}{f', repetition {row.repeat}' if row.repeat else ''}: {word(row.verdict)}"
