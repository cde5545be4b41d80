"""Judging the rows of a run again: every verdict from the suite, and what cannot be judged named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from conformance.judging.judge import judge
from conformance.judging.responses import Answered, Crashed, NotOffered, Refused, Response, TimedOut
from conformance.recording.faults import FaultFinder, count_threads, merge_unload_faults
from conformance.recording.records import Record
from conformance.recording.rows import Result, make_result
from conformance.recording.suite_ordered import cases_in_order
from conformance.running.requests import Offer
from conformance.runtimes.adapter import Adapter
from conformance.suite.cases import Case
from conformance.suite.form_sample import forms_by_case
from opcert.vocabulary.errors import UserError
from reports.certificates.record_shape import find_wrong_runtime, stated_adapter, stated_offer
from reports.certificates.recorded_outputs import DigestsAlone, RecordedOutputs
from reports.results.case_results import Results
from reports.results.told_facts import items, mapping, text
from reports.text.phrasing import count, plural


def find_wrong_order(results: Results) -> Iterator[str]:
    """Rows that are missing, there twice, or not where they belong."""
    options = mapping(results.record.header.get("options"))
    forms, repeat = [text(each) for each in items(options.get("forms"))], options.get("repeat")
    sampled = options.get("sampled")
    if forms and isinstance(repeat, int) and (sampled is None or type(sampled) is int):
        wanted = _wanted_rows(results, forms, repeat, sampled)
        if all(one == other for one, other in zip_longest(_keys(results.record), wanted)):
            return
    keys = list(_keys(results.record))
    for key, number in Counter(keys).items():
        if number > 1:
            yield f"{key[0]}: {number} rows of one form and repetition"
    if not forms or not isinstance(repeat, int):
        yield "the header does not say in which forms and how often the cases were run"
        return
    if sampled is not None and type(sampled) is not int:
        yield "the header does not say of how many cases every form was asked"
        return
    those = list(_wanted_rows(results, forms, repeat, sampled))
    if sorted(set(keys)) != sorted(those):
        odd = sorted(set(keys) ^ set(those))
        yield f"rows are left out or too many, such as {odd[0][0]}"
    elif keys != those:
        yield "the rows are not in the order of the suite"


def _keys(record: Record) -> Iterator[tuple[str, str, int]]:
    return ((each.case, each.form, each.repeat) for each in record.results)


def _wanted_rows(
    results: Results, forms: Sequence[str], repeat: int, sampled: int | None
) -> Iterator[tuple[str, str, int]]:
    own = forms_by_case(results.suite, forms, sampled)
    return ((case, form, number) for case in own for form in own[case] for number in range(repeat))


class AnsweredCases:
    """Which cases were answered in which form: a byte for each case and form."""

    def __init__(self, results: Results) -> None:
        self._suite = results.suite
        self._forms: dict[str, bytearray] = {}
        number = len(results.suite.case_ids)
        for each in results.record.results:
            own = self._forms.get(each.form)
            if own is None:
                own = self._forms[each.form] = bytearray(number)
            own[self._suite.position(each.case)] = each.response == "answered"

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


def find_wrong_faults(record: Record) -> Iterator[str]:
    """What does not hold of the faults that the footer states, of those that rows show."""
    finder = FaultFinder(count_threads(record.header))
    for _, rows in cases_in_order(record.results):
        for each in rows:
            finder.see(each)
        if len(rows) > 1:
            finder.compare([each for each in rows if each.response != "none"])
    stated = [dict(each) for each in record.faults if each.get("kind") != "unload_crash"]
    found = finder.faults()
    for shown in found:
        if shown not in stated:
            yield f"a fault is left out: {shown['message']}"
    for claimed in stated:
        if claimed not in found:
            yield f"a fault is stated that the rows do not show: {text(claimed.get('message'))}"
    if len(stated) > len(found):
        yield "a fault is stated twice"
    lost = [dict(each) for each in record.faults if each.get("kind") == "unload_crash"]
    try:
        if lost != merge_unload_faults([lost]):
            yield "the fault of workers lost between two cases is not as opcert states it"
    except (KeyError, TypeError, ValueError):
        yield "the fault of workers lost between two cases cannot be read"


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
                return Answered(outputs, row.seconds, row.answer, row.touched)
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
            return f"it was asked, and the header says that it cannot have been: {refusal.reason}"
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
        examples = [None if each is None else each.example for each in rules]
        if response.unsupported in examples:
            return None
        if response.unsupported is not None:
            return "no rule of the runtime's adapter calls this refusal unsupported"
        return "a rule of the runtime's adapter calls this refusal unsupported, and the row does not"


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
