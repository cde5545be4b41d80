"""Fourteen runs of 181 operators in twelve element types: small enough to be kept, and nothing is squared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.judging.verdicts import Verdict
from conformance.recording.records import RecordWriter
from conformance.recording.rows import Result, case_verdicts, count_verdicts
from reports.sites.site import write_site
from tests.growth import LINEAR
from tests.reports.sample import HEADER

MOST_BYTES = 20_000_000
TYPES = ("float", "float16", "bfloat16", "double", "int8", "int16", "int32", "int64", "uint8", "uint16")
RARE: dict[int, Verdict] = {
    0: "mismatch",
    1: "rejected_valid",
    2: "observed",
    **dict.fromkeys(range(3, 7), "unsupported"),
}
OF = 23
"""So many cases have each of the rare verdicts once; the others pass."""


def rows(operators: int, seed: int) -> Iterator[Result]:
    for number in range(operators):
        for place, name in enumerate(TYPES):
            verdict = RARE.get((number * 7 + place * 3 + seed * 5 + number * place) % OF, "pass")
            case = f"ai.onnx/Operator{number}-{1 + number % 28}/cover/{place:012x}"
            said = f"there is no kernel of the {number % 40}th kind {'for it ' * (number % 9)}"
            yield Result(
                case,
                f"ai.onnx::Operator{number}-{1 + number % 28}",
                "cover",
                name,
                "inputs",
                0,
                verdict,
                reason="the output differs in a way that takes a sentence to say",
                message=said if verdict == "rejected_valid" else None,
            )


def keep_many(folder: Path, runs: int, operators: int) -> None:
    """Runs of half as many runtimes, in two versions each."""
    for number in range(runs):
        runtime = {"name": f"engine{number // 2}", "version": f"1.{number % 2}"}
        header = {**HEADER, "runtime": runtime, "suite": "a" * 64}
        writer = RecordWriter(folder / f"{number}" / "run.jsonl", header)
        made = list(rows(operators, number))
        for place, result in enumerate(made):
            writer.append(result, (place, 0, 0))
        writer.finish(count_verdicts(case_verdicts(made).values()), ())


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow
def test_a_whole_site_is_under_its_limit(tmp_path: Path) -> None:
    keep_many(tmp_path / "runs", 14, 181)
    write_site([tmp_path / "runs"], tmp_path / "public")
    pages = [*(tmp_path / "public").rglob("*.html")]
    assert len(pages) > 500
    assert size_of(tmp_path / "public") < MOST_BYTES
    assert max(page.stat().st_size for page in pages) < MOST_BYTES // 20


def test_twice_the_runs_or_operators_make_a_site_twice_as_large(tmp_path: Path) -> None:
    sizes = {}
    for runs, operators in ((4, 6), (8, 6), (4, 12)):
        place = tmp_path / f"{runs}-{operators}"
        keep_many(place / "runs", runs, operators)
        write_site([place / "runs"], place / "public")
        sizes[runs, operators] = size_of(place / "public")
    assert sizes[8, 6] < LINEAR * sizes[4, 6]
    assert sizes[4, 12] < LINEAR * sizes[4, 6]
