"""Judging the rows of a run again by the outputs that its record keeps; what cannot be judged is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

from conformance.judging.judge import judge
from conformance.judging.output_comparison import compare_output
from conformance.judging.responses import (
    Answered,
    Crashed,
    NotOffered,
    Refused,
    Response,
    ReturnedOther,
    TimedOut,
)
from conformance.recording.outputs import (
    FILE_BYTES,
    TOTAL_BYTES,
    describe_output,
    outputs_folder,
    restore_output,
)
from conformance.recording.records import Record
from conformance.recording.rows import Result, make_result
from conformance.recording.suite_ordered import cases_in_order
from conformance.running.requests import Offer
from conformance.runtimes.adapter import Adapter
from conformance.suite.canonical import sha256
from conformance.suite.cases import Case, Expectation
from conformance.suite.properties import runs_twice
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor
from reports.certificates.record_shape import (
    find_wrong_faults,
    find_wrong_order,
    find_wrong_runtime,
    stated_adapter,
    stated_offer,
)
from reports.results.case_results import Results
from reports.results.told_facts import mapping, text
from reports.text.phrasing import count, plural

Restored = Tensor | ReturnedOther


class DigestsAlone(Exception):
    """A row of which the record holds the digest of an output and not the output."""


class RecordedOutputs:
    """The outputs of one record."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def restore(self, case: Case, row: Result) -> tuple[Restored, ...]:
        """The outputs of a row of an answered case; none where they decide nothing.

        Raises DigestsAlone where a row may be right and nobody can tell, UserError where an entry is damaged,
        or where the row cannot be what it says it is.
        """
        found = [
            restore_output(entry, position, case, self._record.path)
            for position, entry in enumerate(row.outputs)
        ]
        for entry, restored in zip(row.outputs, found, strict=True):
            if restored is None:
                self._check_size(entry)
        if case.demand != "answer":
            return tuple(each for each in found if each is not None)
        known = tuple(each for each in found if each is not None)
        if len(known) == len(found):
            return known
        self._check_digests(case, row, found)
        raise DigestsAlone

    def describe(self, row: Result, response: Answered, matched: tuple[int | None, ...]) -> tuple[Any, ...]:
        """The entries that opcert writes of these outputs, with the files that the row names."""
        if len(response.outputs) != len(row.outputs):  # there are some that decide nothing
            return row.outputs
        numbers = matched or (None,) * len(response.outputs)
        return tuple(
            _with_file(describe_output(output, number))
            for output, number in zip(response.outputs, numbers, strict=True)
        )

    def _check_digests(self, case: Case, row: Result, found: list[Restored | None]) -> None:
        """Hold digests against what is expected: type, shape, and that what equals it is called golden."""
        if case.properties and not case.expectations:
            return  # what is demanded is no value, and a digest tells nothing of it
        if row.kept and row.verdict == "unsupported":
            return  # wrong outputs of a model that was not changed
        runs = 2 if runs_twice(case.properties) else 1
        expectations = [
            replace(expectation, outputs=expectation.outputs * runs) for expectation in case.expectations
        ]
        fits = [
            number
            for number, expectation in enumerate(expectations)
            if len(expectation.outputs) == len(found) and all(_fits(expectation, row, found))
        ]
        if not fits and row.verdict not in ("mismatch", "inexact"):
            raise UserError(
                f"stated {row.verdict}, and no expectation has outputs of this number, type and shape"
            )
        compared = ("pass", "mismatch", "inexact", "document")
        if fits and (row.verdict not in compared or row.expectation not in fits):
            raise UserError(f"stated {row.verdict} for an expectation that the outputs do not fit")
        for expectation in expectations:
            for wanted, entry, restored in zip(expectation.outputs, row.outputs, found, strict=False):
                if restored is None and entry["sha256"] == sha256(wanted.expected.to_bytes()):
                    raise UserError("an output that equals the golden one is there as a digest")

    def _check_size(self, entry: Mapping[str, Any]) -> None:
        """Only what is too large to keep may stand there as a digest alone; UserError otherwise."""
        try:
            element_type = ELEMENT_TYPES[entry["element_type"]]
            size = int(entry["bytes"])
            bytes.fromhex(entry["sha256"])
            elements = prod(int(each) for each in entry["shape"])
            least = elements * (4 if element_type.kind == "string" else -(-element_type.bits // 8))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise UserError("an output in the record is damaged", got=str(error)) from error
        if size < least or (element_type.kind != "string" and size != least):
            raise UserError("an output has another number of bytes than its shape", got=str(size))
        if size <= FILE_BYTES and self._kept + size <= TOTAL_BYTES:
            raise UserError("an output that a record keeps is not in it", got=f"{size} bytes")

    @cached_property
    def _kept(self) -> int:
        """Bytes of the outputs that the record holds or names, and of nothing else in their folder."""
        folder = outputs_folder(self._record.path)
        entries = [
            output for row in self._record.results for output in row.outputs if isinstance(output, dict)
        ]
        inline: int = sum(len(text(entry.get("data"))) * 3 // 4 for entry in entries)
        named = {entry["file"] for entry in entries if isinstance(entry.get("file"), str)}
        kept: int = sum((folder / each).stat().st_size for each in named if (folder / each).is_file())
        return inline + kept


def _with_file(described: Any) -> Any:
    """The entry of an output that was kept in a file: that has its digest as its name."""
    if isinstance(described, dict) and "sha256" in described:
        return {**described, "file": f"{described['sha256']}.bin"}
    return described


def _fits(expectation: Expectation, row: Result, found: list[Restored | None]) -> Iterator[bool]:
    """For each output, whether it may be what is expected, as far as type, shape and values are known."""
    for position, (wanted, entry, restored) in enumerate(
        zip(expectation.outputs, row.outputs, found, strict=True)
    ):
        if isinstance(restored, Tensor):
            yield compare_output(wanted, restored, position).difference is None or row.verdict != "pass"
        elif restored is None:
            tensor = wanted.expected
            yield entry["element_type"] == tensor.element_type.name and entry["shape"] == list(tensor.shape)
        else:
            yield False


class AnsweredCases:
    """Which cases were answered in which form: a byte for each case and form."""

    def __init__(self, results: Results) -> None:
        self._suite = results.suite
        self._forms: dict[str, bytearray] = {}
        number = len(results.suite.case_ids)
        for result in results.record.results:
            own = self._forms.get(result.form)
            if own is None:
                own = self._forms[result.form] = bytearray(number)
            own[self._suite.position(result.case)] = result.response == "answered"

    def holds(self, case: str | None, form: str) -> bool:
        """Whether a case that is in the suite was answered in a form."""
        known = case is not None and case in self._suite and form in self._forms
        return bool(known and self._forms[form][self._suite.position(str(case))])


MOST_UNCHECKED = 100
"""Of so many rows one may be without its outputs; docs/certificates.md says why."""

MOST_NAMED = 20
"""So many rows that do not hold are named, and the others counted: where a header is false, none does."""


@dataclass(frozen=True)
class Rejudged:
    """What came of judging again: what does not hold, how many rows were judged, and which could not be.

    `unchecked` are rows of right answers of which the record has digests alone, each by case, form and
    repetition.
    """

    problems: tuple[str, ...]
    judged: int
    unchecked: tuple[str, ...]


def judge_again(results: Results) -> Rejudged:
    """Judge every row again, find the faults again, and hold the header against the rows."""
    problems, unchecked = _judge_rows(results)
    rows = len(results.record.results)
    if len(unchecked) * MOST_UNCHECKED > rows:
        problems.append(
            f"{count(len(unchecked))} of {plural(rows, 'row')} could not be judged again, which is more than "
            f"one in {MOST_UNCHECKED}"
        )
    found = [
        *find_wrong_runtime(results.record),
        *find_wrong_order(results),
        *problems,
        *find_wrong_faults(results.record),
    ]
    return Rejudged(tuple(found), rows - len(unchecked), tuple(unchecked))


def _judge_rows(results: Results) -> tuple[list[str], list[str]]:
    record = results.record
    judging = _Judging(
        record,
        AnsweredCases(results),
        stated_adapter(record),
        stated_offer(record),
        RecordedOutputs(record),
    )
    problems, unchecked = _Problems(), []
    # The rows as the record has them: results may keep less of them.
    for _, rows in cases_in_order(record.results):
        case = results.suite.case(rows[0].case)
        entry = results.suite.entry(rows[0].case)
        if (entry["element_type"], entry["demand"]) != (case.element_type.name, case.demand):
            problems.add(f"{rows[0].case}: the suite's manifest says another element type or demand")
        for row in rows:
            try:
                problem = judging.find_problem(case, row)
            except DigestsAlone:
                unchecked.append(f"{row.case} ({row.form}, {row.repeat})")
                continue
            if problem is not None:
                problems.add(f"{row.case}: {problem}")
    return problems.told(), unchecked


class _Problems:
    """What does not hold: the first ones by name, and how many there are besides."""

    def __init__(self) -> None:
        self._named: list[str] = []
        self._further = 0

    def add(self, problem: str) -> None:
        if len(self._named) < MOST_NAMED:
            self._named.append(problem)
        else:
            self._further += 1

    def told(self) -> list[str]:
        rest = [f"and {plural(self._further, 'further row')} do not hold"] if self._further else []
        return [*self._named, *rest]


@dataclass(frozen=True)
class _Judging:
    """What rows are judged by: the record, which cases were answered in which form, table and offer."""

    record: Record
    answered: AnsweredCases
    adapter: Adapter | None
    offer: Offer | None
    outputs: RecordedOutputs

    def find_problem(self, case: Case, row: Result) -> str | None:
        """What does not hold of a row; None where it is what the judge says of what was recorded.

        Raises DigestsAlone where that cannot be said.
        """
        if row.outputs and row.response != "answered":
            return f"outputs of a case that was {row.response}"
        try:
            response = self._response(case, row)
        except UserError as error:
            return str(error)
        if response is None:
            return f"the verdict {row.verdict} is none of a case that ran"
        problem = self._wrong_offer(case, response) or self._wrong_refusal(response)
        if problem is not None:
            return problem
        valid = self.answered.holds(case.valid_case, row.form)
        judgement = judge(case, response, valid_case_answered=valid)
        judged = make_result(case, row.form, row.repeat, response, judgement, row.outputs)
        if isinstance(response, Answered):
            entries = self.outputs.describe(row, response, judgement.matched)
            judged = replace(judged, outputs=entries)
        return _compare(row, judged)

    def _response(self, case: Case, row: Result) -> Response | None:
        """What the runtime did, as far as its row tells; None where the row says that it was not asked."""
        match row.response:
            case "crashed":
                lost = Crashed(row.reason or "", row.signal, row.status, row.stderr or "", row.seconds)
                return replace(lost, by_limit=row.verdict == "limit" and _MEMORY in lost.reason)
            case "timed out":
                return TimedOut(row.seconds, row.stage or "", row.stderr or "")
            case "refused":
                return Refused(
                    row.error or "", row.message or "", row.stage or "", row.unsupported, row.seconds
                )
            case "not offered":
                return NotOffered(row.reason or "")
            case "answered":
                outputs = self.outputs.restore(case, row)
                return Answered(outputs, row.seconds, row.answer, row.touched, kept=row.kept)
            case _:
                return None

    def _wrong_offer(self, case: Case, response: Response) -> str | None:
        """A case is left out where the header's offer does not take it, and nowhere else."""
        refusal = self.offer.refusal(case) if self.offer is not None else None
        if isinstance(response, NotOffered):
            if refusal is None:
                return "counted as not offered, and what the header says was offered takes it"
            if refusal != response:
                return f"not offered for another reason than the header shows: {refusal.reason}"
        elif refusal is not None:
            return f"it was tested, and the header says that it cannot have been: {refusal.reason}"
        if isinstance(response, TimedOut) and response.limit not in self._limits:
            return f"it timed out after {response.limit:g} s, which is no limit of the run"
        return None

    @property
    def _limits(self) -> tuple[object, ...]:
        options = mapping(self.record.header.get("options"))
        return options.get("timeout"), options.get("start_timeout")

    def _wrong_refusal(self, response: Response) -> str | None:
        """A refusal is unsupported where a rule of the runtime's adapter says so, and by that rule."""
        if not isinstance(response, Refused) or self.adapter is None:
            return None
        rules = [
            self.adapter.find_rule(response.kind, response.message, each)
            for each in ("unsupported", "rejected")
        ]
        examples = [None if rule is None else rule.example for rule in rules]
        if response.unsupported in examples:
            return None
        if response.unsupported is not None:
            return "no rule of the runtime's adapter calls this rejection unsupported"
        return "a rule of the runtime's adapter calls this rejection unsupported, and the row does not"


_MEMORY = "of resident memory; the limit is"
"""What the reason says of a worker that was ended for the memory that it took."""


def _compare(row: Result, judged: Result) -> str | None:
    if row.difference == "memory" and judged.verdict == "document":
        return None  # judged more strictly once: no document says whose memory an output is
    judged = replace(judged, seconds=row.seconds, again=row.again if row.response == "crashed" else ())
    if judged.verdict != row.verdict:
        return f"stated {row.verdict}, and judged again {judged.verdict} ({judged.reason})"
    stated, found = row.to_json(), judged.to_json()
    differing = sorted(key for key in stated.keys() | found.keys() if stated.get(key) != found.get(key))
    return f"stated otherwise than judged again: {', '.join(differing)}" if differing else None
