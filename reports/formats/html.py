"""`index.html`: the report for people, of several runs of one suite side by side.

It is one file, or, where that would be too large, a page and a folder of its data.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from conformance.judging.verdicts import word
from opcert.vocabulary.errors import unwritable
from opcert.vocabulary.harmless import shown
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.whole_files import write_text
from reports.overview.headline import runtime_name
from reports.pages.case_table import CSV_FILE, build_table, render_csv
from reports.pages.report import Report
from reports.pages.run_page import RunPage
from reports.results.case_results import ANY_CASE, Results
from reports.results.told_facts import mapping, text
from reports.single_cases.answer_views import view_answer
from reports.single_cases.case_views import view_case
from reports.single_cases.passages_shown import document_title, passages_of, public_page
from reports.single_cases.pictures import Overview, Picture, Plane
from reports.single_cases.standalone import case_lines, surroundings
from reports.text.pages_alone import render_page
from reports.text.value_text import ViewedValue

PART_BYTES = 256 * 1024
"""About how much JSON a part holds before it is compressed."""
FOLDER = "parts"


@dataclass(frozen=True)
class DataPart:
    """A part by its name, compressed: `text` is base64."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]

    @property
    def file(self) -> str:
        """The name of its script file; another content has another name."""
        return f"{self.name}-{self.digest[:12]}.js"

    @property
    def script(self) -> str:
        """What its script file says."""
        return f'opcertPart("{self.name}","{self.text}");\n'


def pack(name: str, content: object) -> DataPart:
    """Make a part, the same bytes every time; what would hide or turn text in it is written out."""
    raw = to_json(content).encode()
    return DataPart(name, b64encode(gzip.compress(raw, 9, mtime=0)).decode())


def pack_many(name: str, items: Iterable[tuple[int, Any]]) -> Iterator[tuple[DataPart, list[int]]]:
    """Parts of about equal size, called `name` and a number: objects by position; and those positions."""
    held: dict[int, str] = {}
    size = number = 0
    for position, item in items:
        held[position] = to_json(item)
        size += len(held[position])
        if size > PART_BYTES:
            yield _pack_texts(f"{name}-{number}", held), list(held)
            held, size, number = {}, 0, number + 1
    if held:
        yield _pack_texts(f"{name}-{number}", held), list(held)


def _pack_texts(name: str, held: dict[int, str]) -> DataPart:
    raw = "{" + ",".join(f'"{position}":{text}' for position, text in held.items()) + "}"
    return DataPart(name, b64encode(gzip.compress(raw.encode(), 9, mtime=0)).decode())


def to_json(content: object) -> str:
    """Compact JSON of numbers, lists, objects and texts, the texts made harmless to read."""
    return json.dumps(_harmless(content), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _harmless(content: object) -> object:
    if isinstance(content, str):
        return shown(content)
    if isinstance(content, dict):
        return {shown(str(name)): _harmless(each) for name, each in content.items()}
    if isinstance(content, list | tuple):
        return [each if type(each) in _NUMBERS else _harmless(each) for each in content]
    return content


_NUMBERS = frozenset((int, float))
"""What columns are made of."""


def list_details(report: Report) -> Iterator[tuple[int, dict[str, Any]]]:
    """The place in the list and the details of each case in it that fails in at least one of the runs."""
    for place, position in enumerate(report.listed):
        if any(run.cases[position].deviates for run in report.runs):
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
        "passages": [passage.to_json() for passage in view.passages],
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
    return [[part.name, part.values, part.type] if part.type else [part.name, part.values] for part in parts]


def _picture(picture: Picture) -> dict[str, Any]:
    overview = _overview(picture.overview) if picture.overview else None
    return {**vars(picture), "planes": [_plane(plane) for plane in picture.planes], "overview": overview}


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


def list_operator_facts(results: Results) -> dict[str, Any]:
    """By the name of each operator version its group, public page, documents, attributes and rules."""
    return {str(operator): _facts(results, operator) for operator in results.by_operator}


def _facts(results: Results, operator: OperatorName) -> dict[str, Any]:
    facts = results.operator_facts(operator)
    attributes, rules = mapping(facts.get("attributes")), mapping(facts.get("constraints"))
    return {
        "group": results.group_of(operator),
        "page": public_page(operator),
        "documents": [_title(operator, mapping(each)) for each in mapping(facts.get("documents")).values()],
        "attributes": [
            [name, _about(mapping(attribute)), _passages(results, operator, attribute)]
            for name, attribute in attributes.items()
        ],
        "rules": [
            [name, _rule(mapping(rule)), _passages(results, operator, rule)] for name, rule in rules.items()
        ],
    }


def _title(operator: OperatorName, document: Mapping[str, Any]) -> str:
    return document_title(operator, *(text(document.get(each)) for each in ("file", "dialect", "release")))


def _about(attribute: Mapping[str, Any]) -> str:
    """`int, 0 where it is left out`."""
    default = attribute.get("default")
    said = "required" if attribute.get("required") else ""
    if default is not None:
        value = " ".join(map(text, default)) if isinstance(default, list) else text(default)
        said = f"{value} where it is left out"
    return ", ".join(filter(None, (text(attribute.get("kind")), said)))


def _rule(rule: Mapping[str, Any]) -> str:
    words = {"error": "a call that breaks it must be rejected", "undefined": "nothing is said of others"}
    otherwise = words.get(text(rule.get("otherwise")), text(rule.get("otherwise")))
    return "; ".join(filter(None, (text(rule.get("rule")), otherwise)))


def _passages(results: Results, operator: OperatorName, entry: object) -> list[list[str]]:
    """The first passage that it rests on."""
    sources = mapping(entry).get("sources")
    found = passages_of(results, operator, sources if isinstance(sources, list) else ())
    return [shown_passage.to_json() for shown_passage in found[:1]]


ONE_FILE_BYTES = 2_900_000
ONE_FILE_CASES = 20_000
"""A report of up to this many bytes and cases is one file."""


def render_report(runs: Sequence[Results]) -> str:
    """The report of runs of one suite as one page, however large."""
    report = Report(runs)
    parts, where = _pack(report)
    return _render(report, parts, where, apart=False)


def write_together(runs: Sequence[Results], folder: Path) -> Path:
    """Write `index.html` and, if it needs one, the folder of its parts; returns the page.

    The page takes its place by rename when everything that it needs is there, so that an earlier report is
    whole until the new one is. Raises UserError where the folder cannot be written.
    """
    report = Report(runs)
    parts, where = _pack(report)
    apart = report.first.total > ONE_FILE_CASES
    page, kept = _render(report, parts, where, apart=apart), set[str]()
    if apart or len(page.encode()) > ONE_FILE_BYTES:
        page = page if apart else _render(report, parts, where, apart=True)
        kept = {part.file for part in parts}
        for part in parts:
            write_text(folder / FOLDER / part.file, part.script)
    if not report.whole:
        for each_page, name in zip(report.pages, _lists(report), strict=True):
            write_text(folder / name, render_csv(each_page.results))
    index = write_text(folder / "index.html", page)
    _remove_parts(folder / FOLDER, kept)
    return index


def _pack(report: Report) -> tuple[list[DataPart], dict[str, list[int]]]:
    """The parts, and by the name of each part of details the positions of its cases."""
    where, details = {}, []
    with ThreadPoolExecutor(1) as beside:  # compressing keeps no other thread from its work
        table = beside.submit(pack, "table", build_table(report.pages, report.listed))
        operators = beside.submit(pack, "operators", list_operator_facts(report.runs[0]))
        for part, positions in pack_many("details", list_details(report)):
            details.append(part)
            where[part.name] = positions
    return [table.result(), operators.result(), *details], where


def _render(report: Report, parts: Sequence[DataPart], where: dict[str, list[int]], *, apart: bool) -> str:
    directory = {
        "details": where,
        "files": {part.name: [f"{FOLDER}/{part.file}", part.digest] for part in parts} if apart else {},
        "runs": [
            [page.key, page.runtime, surroundings(runtime_name(page.results.record), _options(page.results))]
            for page in report.pages
        ],
        "command": _command(report.first.results),
    }
    if not report.whole:
        directory["lists"] = _lists(report)
    return render_page(
        "report.html.j2",
        scripts="script",
        nonces=[part.digest for part in parts] if apart else [],
        report=report,
        word=word,
        directory=Markup(to_json(directory).replace("<", "\\u003c")),
        # Base64 has no character that HTML reads.
        parts=[] if apart else [(part.name, Markup(part.text)) for part in parts],
    )


def _lists(report: Report) -> list[str]:
    """The file beside the page that has every case, for each run."""
    several = len(report.pages) > 1
    return [f"cases-{page.key}.csv" if several else CSV_FILE for page in report.pages]


def _options(results: Results) -> dict[str, str]:
    """The options of the runtime that was tested."""
    told = mapping(mapping(results.record.header.get("runtime")).get("options"))
    return {str(name): text(option) for name, option in told.items()}


def _command(results: Results) -> list[str]:
    """What stands before and after a case id in the command that reproduces the case."""
    if not results.cases:
        return ["", ""]
    before, _, after = results.reproduction_command(None).partition(ANY_CASE)
    return [before, after]


def _remove_parts(folder: Path, kept: set[str]) -> None:
    """Remove what an earlier report left in its folder of parts; anything that is not ours stays."""
    if not folder.is_dir():
        return
    try:
        for path in folder.iterdir():
            if (
                path.suffix == ".js"
                and path.name not in kept
                and path.name.startswith(("table-", "operators-", "details-"))
            ):
                path.unlink()
        if not any(folder.iterdir()):
            shutil.rmtree(folder)
    except OSError as error:
        raise unwritable("the report's parts", folder, error) from error
