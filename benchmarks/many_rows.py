"""How reports, comparisons, sites, certificates and merging grow with the rows of a run.

Usage: uv run python -m benchmarks.many_rows [--rows 20000 200000 1000000] [--suite SUITE] [--only WORD...]

Makes a suite and records of so many rows of a real suite's cases (`benchmarks/made_suite.py`), and runs the
installed program on them. Prints for each command wall seconds, processor seconds, MiB of its largest process
and the bytes that it wrote, and what a row takes beside the run of fewer rows: x1.00 grows in proportion.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.made_suite import MadeSuite, make_records, make_suite
from benchmarks.measured import Measured, run_measured
from opcert.commands.suite_argument import resolve_suite
from reports.formats import list_formats

PROGRAM = str(Path(sys.executable).with_name("opcert"))
SHARDS = 4


@dataclass(frozen=True)
class Files:
    """What commands are run on: a suite, records of two versions of a runtime, and shards of the first."""

    folder: Path
    suite: MadeSuite
    before: Path
    after: Path
    shards: tuple[Path, ...]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 200_000, 1_000_000])
    parser.add_argument("--suite", default="default", help="the suite whose cases are copied")
    parser.add_argument("--only", nargs="+", default=[""], help="commands whose names begin so, alone")
    parser.add_argument("--keep", type=Path, help="a folder in which what was made is left")
    asked = parser.parse_args()
    fewer: dict[str, tuple[int, Measured]] = {}
    for rows in asked.rows:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) if asked.keep is None else asked.keep / str(rows)
            begun = time.perf_counter()
            files = _make(folder, asked.suite, rows)
            operators, seconds = (
                len({copy.operator for copy, _ in files.suite.copies}),
                time.perf_counter() - begun,
            )
            print(f"{rows:,} rows of {operators:,} operator versions, made in {seconds:.0f} s", flush=True)
            for what, command, written in _commands(files):
                if not what.startswith(tuple(asked.only)):
                    continue
                measured = run_measured(command, answers=(0, 1))
                _print(what, measured, rows, _size(written), fewer.get(what))
                fewer[what] = rows, measured
    return 0


def _make(folder: Path, named: str, rows: int) -> Files:
    before, after = folder / "runs" / "before" / "run.jsonl", folder / "runs" / "after" / "run.jsonl"
    shards = tuple(folder / f"shard{number}.jsonl" for number in range(1, SHARDS + 1))
    with resolve_suite(named) as source:
        made = make_suite(source, folder / "suite", rows)
    make_records(made, before, 1, shards)
    make_records(made, after, 2, version="1.21.0")
    return Files(folder, made, before, after, shards)


def _commands(files: Files) -> Iterator[tuple[str, list[str], Path]]:
    """What each command is called, its words, and the file or folder that it writes."""
    folder, suite = files.folder, ["-s", str(files.suite.path)]
    shards = [str(shard) for shard in files.shards]
    yield "merge", [PROGRAM, "merge", *shards, "-o", str(folder / "merged.jsonl")], folder / "merged.jsonl"
    for form in ("text", "html", "json"):
        compared = folder / f"compared.{form}"
        words = [PROGRAM, "compare", str(files.before), str(files.after), *suite, "--format", form]
        yield f"compare {form}", [*words, "-o", str(compared)], compared
    for form in ("html", *(each for each in list_formats() if each != "html")):
        report = folder / f"report-{form}"
        words = [PROGRAM, "report", str(files.before), *suite, "--format", form, "-o", str(report)]
        yield f"report {form}", words, report
    site = folder / "site"
    yield "site", [PROGRAM, "site", str(folder / "runs"), *suite, "-o", str(site)], site
    certified = folder / "certified"
    words = ["certify", "onnxruntime==1.20.1", *suite, "--run", str(files.before), "-o", str(certified)]
    yield "certificate made", [PROGRAM, *words], certified
    words = ["verify", str(certified / "certificate.json"), *suite, "--run", str(files.before)]
    yield "certificate verified", [PROGRAM, *words], certified / "certificate.json"


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    return path.stat().st_size if path.exists() else 0


def _print(what: str, found: Measured, rows: int, size: int, fewer: tuple[int, Measured] | None) -> None:
    """One line, and beside fewer rows what a row takes of what it took there."""
    seconds = f"{found.seconds:7.1f} s {found.processor:7.1f} s"
    line = f"{what:20} {seconds} {found.mebibytes:6.0f} MiB {size / 1e6:9.2f} MB"
    if fewer is not None:
        part, before = rows / fewer[0], fewer[1]
        grown, memory = found.processor / before.processor, found.mebibytes / before.mebibytes
        line += f"   a row x{grown / part:.2f} processor, x{memory / part:.2f} memory"
    print(line, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
