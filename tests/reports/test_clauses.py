"""Demands as a matrix: each is told with its places, its cases and what became of them; none is left out."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from conformance.suite.cases import Case
from reports.formats.clauses import render
from reports.formats.clauses_csv import COLUMNS
from reports.formats.clauses_csv import render as render_csv
from reports.results.case_results import Results, put_together
from reports.schemas import load_schema
from tests.reports.sample import CROP_PAD, Maker, planted, sample_cases, sample_facts

_PAGE, _LINE, _OTHER_LINE, _LONELY = "onnx__CenterCropPad.rst", 139, 20, 21


def _cases() -> list[Case]:
    """Cases of one operator: each second rests on a constraint, each third on an attribute."""
    found = []
    for number, case in enumerate(each for each in sample_cases(19) if each.operator == CROP_PAD):
        sources = [("d1", _LINE)] * (number % 2 == 0) + [("d1", _OTHER_LINE)] * (number % 3 == 0)
        found.append(replace(case, sources=tuple(sources)))
    return found


def _facts() -> dict[str, Any]:
    found = sample_facts()
    own = found["operators"][str(CROP_PAD)]
    own["constraints"] = {
        "same_rank": {
            "rule": "len(pads) == 2 * rank(data)",
            "otherwise": "error",
            "sources": [["d1", _LINE]],
        },
        "ours": {"rule": "rank(data) < 9", "otherwise": None, "sources": []},
    }
    own["attributes"] = {
        "axes": {"kind": "ints", "sources": [["d1", 19], ["d1", _OTHER_LINE]]},
        "=cmd()": {"kind": "int", "sources": [["d1", _LONELY]]},
        "odd": {"kind": "int", "sources": "everywhere"},
    }
    return {"operators": {str(CROP_PAD): own}}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    made = Maker(tmp_path_factory.mktemp("clauses")).make(_cases(), planted, facts=_facts(), skip=1)
    with made.suite:
        yield put_together(made.suite, made.record)


def _verdicts(results: Results, line: int) -> Mapping[str, int]:
    """What became of the cases that rest on a line, counted on the goldens."""
    return Counter(
        result.verdict
        for result in results.cases
        if any(source[1] == line for source in results.suite.case(str(result.id)).sources)
    )


def test_each_has_its_places_and_its_cases_and_what_became_of_them(results: Results) -> None:
    told = json.loads(render(results))
    jsonschema.validate(told, load_schema("clauses"))
    demands = {demand["says"]: demand for demand in told["clauses"]}
    assert set(demands) == {
        "constraint same_rank: len(pads) == 2 * rank(data)",
        "attribute axes",
        "attribute =cmd()",
    }
    rank, axes = demands["constraint same_rank: len(pads) == 2 * rank(data)"], demands["attribute axes"]
    assert [(place["document"], place["line"]) for place in axes["places"]] == [
        (_PAGE, 19),
        (_PAGE, _OTHER_LINE),
    ]
    assert rank["places"] == [{"document": _PAGE, "sha256": "ab" * 32, "line": _LINE}]
    for demand, line in ((rank, _LINE), (axes, _OTHER_LINE)):
        assert demand["verdicts"] == _verdicts(results, line)
        assert demand["cases"] == sum(demand["verdicts"].values()) > 1
    assert rank["failing"] is not None


def test_what_has_no_case_is_counted(results: Results) -> None:
    told = json.loads(render(results))
    lonely = [demand for demand in told["clauses"] if not demand["cases"]]
    assert [demand["says"] for demand in lonely] == ["attribute =cmd()"]
    assert told["without_a_case"] == 1
    assert (lonely[0]["verdicts"], lonely[0]["worst"], lonely[0]["failing"]) == ({}, None, None)


def test_the_table_says_the_same_to_a_spreadsheet(results: Results) -> None:
    rows = list(csv.DictReader(io.StringIO(render_csv(results))))
    demands = json.loads(render(results))["clauses"]
    assert list(rows[0]) == list(COLUMNS)
    assert [int(row["cases"]) for row in rows] == [demand["cases"] for demand in demands]
    for row, demand in zip(rows, demands, strict=True):
        assert int(row["pass"]) == demand["verdicts"].get("pass", 0)
        assert sum(int(row[name]) for name in ("pass", "failing", "beside")) == demand["cases"]
        assert not row["says"].startswith("=")
    assert f"{_PAGE}:19; {_PAGE}:{_OTHER_LINE}" in [row["places"] for row in rows]
