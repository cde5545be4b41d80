"""Judging the recorded outputs of a run again: every verdict from the suite, none taken on trust."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

from conformance.adapter import Adapter, list_adapters, load_adapter
from conformance.cases import Case
from conformance.faults import FaultFinder
from conformance.judge import judge
from conformance.outputs import FILE_BYTES, TOTAL_BYTES, outputs_folder, restore_output
from conformance.records import Record
from conformance.responses import Answered, Crashed, NotOffered, NotTensor, Refused, Response, TimedOut
from conformance.results import Result, make_result
from opcert.element_types import ELEMENT_TYPES
from opcert.errors import UserError
from opcert.tensors import Tensor
from reports.facts import items, mapping, text
from reports.results import Results


class DigestsAlone(Exception):
    """A row of which the record holds the digest of an output and not the output."""


def find_wrong_rows(results: Results) -> tuple[list[str], int]:
    """What does not hold of the rows, in sentences, and how many rows could not be judged again.

    Those are the rows with outputs of which a record keeps digests alone, for their size.
    """
    problems = [*_wrong_order(results)]
    answered = {(each.case, each.form): each.response == "answered" for each in results.record.results}
    adapter = _adapter(results.record)
    skipped = 0
    for found in results.cases:
        case = results.suite.case(str(found.id))
        for row in found.rows:
            try:
                problem = _wrong_row(results.record, case, row, answered, adapter)
            except DigestsAlone:
                skipped += 1
                continue
            if problem is not None:
                problems.append(f"{row.case}: {problem}")
    return problems, skipped


def find_wrong_faults(record: Record) -> list[str]:
    """What does not hold of the faults that the footer states, of those that rows show."""
    finder = FaultFinder()
    same_case: dict[str, list[Result]] = {}
    for each in record.results:
        finder.see(each)
        same_case.setdefault(each.case, []).append(each)
    for rows in same_case.values():
        if len(rows) > 1:
            finder.compare([each for each in rows if each.response != "none"])
    stated = [dict(each) for each in record.faults if each.get("kind") != "unload_crash"]
    found = finder.faults()
    missing = [f"a fault is left out: {each['message']}" for each in found if each not in stated]
    return missing + [
        f"a fault is stated that the rows do not show: {text(each.get('message'))}"
        for each in stated
        if each not in found
    ]


def _wrong_order(results: Results) -> Iterator[str]:
    """Rows that are missing, there twice, or not where they belong."""
    options = mapping(results.record.header.get("options"))
    forms, repeat = [text(each) for each in items(options.get("forms"))], options.get("repeat")
    keys = [(each.case, each.form, each.repeat) for each in results.record.results]
    for key, number in Counter(keys).items():
        if number > 1:
            yield f"{key[0]}: {number} rows of one form and repetition"
    if not forms or not isinstance(repeat, int):
        yield "the header does not say in which forms and how often the cases were run"
        return
    wanted = [
        (case, form, number) for case in results.suite.case_ids for form in forms for number in range(repeat)
    ]
    if sorted(set(keys)) != sorted(wanted):
        odd = sorted(set(keys) ^ set(wanted))
        yield f"rows are left out or too many, such as {odd[0][0]}"
    elif keys != wanted:
        yield "the rows are not in the order of the suite"


def _wrong_row(
    record: Record,
    case: Case,
    row: Result,
    answered: Mapping[tuple[str, str], bool],
    adapter: Adapter | None,
) -> str | None:
    """What does not hold of a row; None where it is what the judge says of its outputs."""
    try:
        response = _response(record, case, row)
    except UserError as error:
        return str(error)
    if response is None:
        return f"the verdict {row.verdict} is none of a case that ran"
    if row.unsupported is not None and adapter is not None and not _is_rule(adapter, row):
        return "no rule of the runtime's adapter calls this refusal unsupported"
    valid = case.valid_case is not None and answered.get((case.valid_case, row.form), False)
    judged = make_result(
        case,
        row.form,
        row.repeat,
        response,
        judge(case, response, valid_case_answered=valid),
        row.outputs,
    )
    judged = replace(judged, seconds=row.seconds)
    if judged.verdict != row.verdict:
        return f"stated {row.verdict}, and judged again {judged.verdict} ({judged.reason})"
    stated, found = row.to_json(), judged.to_json()
    differing = sorted(key for key in stated.keys() | found.keys() if stated.get(key) != found.get(key))
    if differing:
        return f"stated otherwise than judged again: {', '.join(differing)}"
    return None


def _is_rule(adapter: Adapter, row: Result) -> bool:
    return any(
        adapter.find_rule(row.error or "", row.message or "", each) for each in ("unsupported", "rejected")
    )


def _response(record: Record, case: Case, row: Result) -> Response | None:
    """What the runtime did, as far as its row tells; None where the row says that it was not asked."""
    match row.response:
        case "crashed":
            return Crashed(row.reason or "", row.signal, row.status, row.stderr or "", row.seconds)
        case "timed out":
            return TimedOut(row.seconds, row.stage or "", row.stderr or "")
        case "refused":
            return Refused(row.error or "", row.message or "", row.stage or "", row.unsupported, row.seconds)
        case "answered":
            if row.verdict == "unsupported":
                return NotOffered(row.reason or "")
            return Answered(tuple(_outputs(record, case, row)), row.seconds)
        case _:
            return None


def _outputs(record: Record, case: Case, row: Result) -> Iterator[Tensor | NotTensor]:
    for position, entry in enumerate(row.outputs):
        restored = restore_output(entry, position, case, record.path)
        if restored is None:
            _check_size(entry, outputs_folder(record.path))
            raise DigestsAlone
        yield restored


def _check_size(entry: Mapping[str, Any], folder: Path) -> None:
    """Only what is too large to keep may stand there as a digest alone; UserError otherwise."""
    try:
        bits = ELEMENT_TYPES[entry["element_type"]].bits
        size = prod(int(each) for each in entry["shape"]) * -(-bits // 8)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError("an output in the record is damaged", got=str(error)) from error
    kept = sum(each.stat().st_size for each in folder.iterdir()) if folder.is_dir() else 0
    if size <= FILE_BYTES and kept + size <= TOTAL_BYTES:
        raise UserError("an output that a record keeps is not in it", got=f"{size} bytes")


def _adapter(record: Record) -> Adapter | None:
    """The adapter of a built-in runtime; None for any other."""
    source = text(mapping(record.header.get("runtime")).get("source"))
    name = source.partition("==")[0].partition("[")[0]
    return load_adapter(name) if name in list_adapters() else None
