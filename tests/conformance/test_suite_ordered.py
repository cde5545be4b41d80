"""Rows case by case in suite order: counted while they are read, and put into order where they are not."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.judging.verdicts import VERDICTS, Verdict
from conformance.recording.rows import Result, case_verdicts, count_verdicts
from conformance.recording.suite_ordered import OrderedCounts, cases_in_order, merged_cases, order_key
from conformance.suite import suite_files
from conformance.suite.suite_files import FolderFiles
from opcert.vocabulary.names import FAMILIES

FAMILY = st.sampled_from((*FAMILIES[:3], "of no kind"))
CASES = st.builds(
    "ai.onnx/{}-{}/{}/{:012x}".format,
    st.sampled_from(["Pad", "Abs"]),
    st.integers(1, 3),
    FAMILY,
    st.integers(0, 3),
)
ROWS = st.lists(st.tuples(CASES, st.sampled_from(VERDICTS)), max_size=20)


def rows(told: list[tuple[str, Verdict]]) -> list[Result]:
    return [Result(case, "o", "cover", "float", "inputs", 0, verdict) for case, verdict in told]


@given(ROWS, st.booleans())
def test_what_is_counted_while_reading_is_right_where_the_cases_are_in_order(
    told: list[tuple[str, Verdict]], ordered: bool
) -> None:
    found = rows(sorted(told, key=lambda each: order_key(each[0])) if ordered else told)
    seen = OrderedCounts()
    for each in found:
        seen.see(each)
    cases = [case for case, _ in groupby(each.case for each in found)]
    assert seen.in_order == (cases == sorted(set(cases), key=order_key))
    assert seen.in_order or not ordered
    if seen.in_order:
        assert seen.counts() == count_verdicts(case_verdicts(found).values())


@given(ROWS)
def test_the_rows_of_each_case_come_together_in_the_order_they_had(told: list[tuple[str, Verdict]]) -> None:
    found = rows(told)
    groups = [own for _, own in cases_in_order(found)]
    assert [group[0].case for group in groups] == sorted({case for case, _ in told}, key=order_key)
    for own in groups:
        assert own == [each for each in found if each.case == own[0].case]


@given(st.lists(ROWS, min_size=1, max_size=4))
def test_records_are_merged_case_by_case_the_first_record_first(
    several: list[list[tuple[str, Verdict]]],
) -> None:
    found = list(merged_cases([rows(each) for each in several]))
    cases = [same[0][1][0].case for same in found]
    assert cases == sorted({case for told in several for case, _ in told}, key=order_key)
    for same in found:
        numbers = [number for number, _ in same]
        case = same[0][1][0].case
        assert numbers == [place for place, told in enumerate(several) if case in dict(told)]


def test_a_suite_of_many_files_keeps_few_of_them_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite_files, "_MOST_OPEN", 3)
    for each in range(9):
        (tmp_path / f"{each}").write_bytes(bytes([each]) * 4)
    files, before = FolderFiles(tmp_path), len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(2):
        for each in range(9):
            assert files.read(f"{each}", 1, 2) == bytes([each]) * 2
            assert files.size(f"{each}") == 4
            assert len(list(Path("/proc/self/fd").iterdir())) <= before + 3
    files.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
