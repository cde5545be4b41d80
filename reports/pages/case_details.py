"""What a report says about one case, as the page's script reads it: of those that fail in a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from reports.pages.report import Report
from reports.pages.run_page import RunPage
from reports.single_cases.answer_views import view_answer
from reports.single_cases.case_views import view_case
from reports.single_cases.pictures import Overview, Picture, Plane
from reports.single_cases.standalone import case_lines
from reports.text.view_parts import ViewedValue


def list_details(report: Report) -> Iterator[tuple[int, dict[str, Any]]]:
    """The place in the list and the details of each case in it that fails in at least one of the runs."""
    for place, position in enumerate(report.listed):
        if any(each.cases[position].deviates for each in report.runs):
            yield place, _detail(report.pages, position)


def _detail(pages: Sequence[RunPage], position: int) -> dict[str, Any]:
    first = pages[0].results
    case = first.suite.case(str(first.cases[position].id))
    view = view_case(first, case)
    named = case.valid_case
    valid = first.suite.case(named) if named is not None and named in first.suite else None
    script = case_lines(case, valid)
    return {
        "script": [script.kind, *script.lines] if script else None,
        "attributes": _parts(view.attributes),
        "inputs": _parts(view.inputs),
        "expected": _parts(view.expected),
        "rules": _parts(view.rules),
        "passages": [each.to_json() for each in view.passages],
        "levels": _parts(view.levels),
        "runs": [
            _answer(page, position, case) if page.results.cases[position].deviates else None for page in pages
        ],
    }


def _answer(page: RunPage, position: int, case: Any) -> dict[str, Any]:
    view = view_answer(page.results, page.results.cases[position], case)
    found: dict[str, Any] = {
        "sentence": view.sentence,
        "resembles": view.resembles,
        "got": _parts(view.got),
        "worst": _parts(view.worst),
        "circumstances": _parts(view.circumstances),
        "messages": _parts(view.messages),
        "picture": _picture(view.picture) if view.picture else None,
        "form": page.results.form_of(page.results.cases[position].id),
    }
    return {name: each for name, each in found.items() if each}


def _parts(parts: Iterable[ViewedValue]) -> list[list[str]]:
    return [[each.name, each.values, each.type] if each.type else [each.name, each.values] for each in parts]


def _picture(picture: Picture) -> dict[str, Any]:
    return {
        "output": picture.output,
        "shape": picture.shape,
        "elements": picture.elements,
        "wrong": picture.wrong,
        "exact": picture.exact,
        "planes": [_plane(each) for each in picture.planes],
        "overview": _overview(picture.overview) if picture.overview else None,
    }


def _plane(plane: Plane) -> dict[str, Any]:
    same = len(set(plane.allowed)) == 1
    return {
        "at": plane.at,
        "from": [plane.row, plane.column],
        "size": [plane.rows, plane.columns],
        "expected": plane.expected,
        "got": plane.got,
        "apart": plane.apart,
        "allowed": plane.allowed[0] if same else plane.allowed,
        "levels": plane.levels,
    }


def _overview(overview: Overview) -> dict[str, Any]:
    return {
        "size": [overview.rows, overview.columns],
        "tile": [overview.height, overview.width],
        "levels": overview.levels,
        "wrong": overview.wrong,
    }
