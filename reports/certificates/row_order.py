"""The rows of a record as a whole: whether all are there, in order, and which cases were answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from conformance.recording.records import Record
from conformance.suite.form_sample import forms_by_case
from reports.results.case_results import Results
from reports.results.told_facts import items, mapping, text


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
