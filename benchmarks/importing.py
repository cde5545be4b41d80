"""Importing documents: seconds, memory, facts per second, and how time grows when the corpus is doubled.

Usage: uv run python -m benchmarks.importing [--rounds N]

Runs `opcert import` in a process of its own, each time into an empty folder, and takes the shortest of N
rounds. Seconds depend on what else the machine does; processor seconds hardly do, and growth is told by them.
Memory is that of all processes together (resident; what they share counts for each). A doubled corpus is the
documents and copies of them under other names; a doubled document is its text, and once more with every
operator renamed. The limits hold on a machine of two cores; one that is missed gives exit code 1.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.documents.gathering import passing_documents

FAMILIES = ("onnx", "onnxruntime", "openvino", "tensorflow")
MARKDOWN = ("onnx/Operators.md", "onnx/Changelog.md", "onnxruntime/ContribOperators.md")
MARKDOWN_SECONDS, MARKDOWN_MEBIBYTES = 10.0, 500.0
ALL_SECONDS = 60.0
MOST_GROWTH = 2.5
"""Processor time for twice the corpus over that for the corpus; 2 is what a steady pace gives."""

_HEADING = re.compile(r"^(### .*\*\*(?:[\w.]+\.)?)(?=\w+(?:-\d+)?\*\*)", re.MULTILINE)
_TOTAL = re.compile(r"^(?:all|\S+\.\w+|\d+ documents) .*?  +\d+  +\d+  +(\d+)  ", re.MULTILINE)


@dataclass(frozen=True)
class Measured:
    """One import: documents, their bytes, facts, seconds, processor seconds of all processes, peak MiB."""

    documents: int
    size: int
    facts: int
    seconds: float
    processor: float
    mebibytes: float


class _Memory(threading.Thread):
    """Watches the resident memory of all processes of a session."""

    def __init__(self, session: int) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self._session = str(session)
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.02):
            self.peak = max(self.peak, sum(self._sizes()))

    def stop(self) -> float:
        self._ended.set()
        self.join()
        return self.peak * os.sysconf("SC_PAGE_SIZE") / 2**20

    def _sizes(self) -> Iterator[int]:
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                # Behind the name in brackets, which may hold anything: state, parent, group, session, ...
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                if fields[3] == self._session:
                    yield int((folder / "statm").read_text().split()[1])
            except OSError:
                continue


def run_import(paths: Sequence[Path]) -> Measured:
    """Import documents with the command line, into a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "opcert", "import", *map(str, paths), "-o", f"{folder}/specs"]
        begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as child:
            memory = _Memory(child.pid)
            memory.start()
            out, err = child.communicate()
            seconds = time.perf_counter() - begun
            mebibytes = memory.stop()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} answered {child.returncode}:\n{err}")
    files = [
        each for path in paths for each in ([path] if path.is_file() else path.rglob("*")) if each.is_file()
    ]
    facts = [int(each) for each in _TOTAL.findall(out)]
    return Measured(
        len(files), sum(each.stat().st_size for each in files), facts[-1], seconds, processor, mebibytes
    )


def measure(what: str, paths: Sequence[Path], rounds: int) -> Measured:
    """The quickest of several imports, printed as a row."""
    runs = [run_import(paths) for _ in range(rounds)]
    best = min(runs, key=lambda each: each.seconds)
    memory = max(each.mebibytes for each in runs)
    print(
        f"{what:42} {best.documents:6} {best.size / 1e6:8.2f} MB {best.facts:8} facts {best.seconds:7.2f} s"
        f" ({best.processor:6.2f} s of processor) {best.facts / best.seconds:8.0f} facts/s {memory:6.0f} MiB",
        flush=True,
    )
    return Measured(best.documents, best.size, best.facts, best.seconds, best.processor, memory)


@contextmanager
def copies(folder: Path, times: int) -> Iterator[Path]:
    """The documents of a folder so many times, each copy under names of its own."""
    with tempfile.TemporaryDirectory() as place:
        for source in sorted(folder.rglob("*")):
            if source.is_file():
                for number in range(times):
                    name = source.name if number == 0 else f"{source.stem}_{number}{source.suffix}"
                    target = Path(place) / source.relative_to(folder).parent / name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(source.read_bytes())
        yield Path(place)


@contextmanager
def longer(document: Path, times: int) -> Iterator[Path]:
    """A document of ONNX's Markdown so many times in one file, the operators of each copy renamed."""
    text = document.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:
        target = Path(place) / document.name
        parts = [text if number == 0 else _HEADING.sub(rf"\1Copy{number}", text) for number in range(times)]
        target.write_text("\n\n".join(parts), encoding="utf-8")
        yield target


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, help="how often each import runs")
    rounds = parser.parse_args().rounds
    with passing_documents() as documents:
        folder, *_ = [documents.find(each).parent for each in FAMILIES]
        missed = list(measure_all(folder, rounds))
    if missed:
        raise SystemExit(f"over the limit: {'; '.join(missed)}")


def measure_all(folder: Path, rounds: int) -> Iterator[str]:
    """Print every measure; what is over its limit is given back."""
    markdown = measure("three files of Markdown", [folder / each for each in MARKDOWN], rounds)
    if markdown.seconds >= MARKDOWN_SECONDS or markdown.mebibytes >= MARKDOWN_MEBIBYTES:
        yield f"three files of Markdown: {MARKDOWN_SECONDS:g} s and {MARKDOWN_MEBIBYTES:g} MiB"
    whole = measure("all documents", [folder], rounds)
    if whole.seconds >= ALL_SECONDS:
        yield f"all documents: {ALL_SECONDS:g} s"

    print("\ntime as the corpus doubles")
    for what, make, source in (
        ("documents", copies, folder),
        ("length of Changelog.md", longer, folder / "onnx" / "Changelog.md"),
    ):
        before: Measured | None = None
        for times in (1, 2, 4):
            with make(source, times) as place:
                now = measure(f"{times} x {what}", [place], rounds)
            if before is not None:
                growth = now.processor / before.processor
                print(
                    f"{'':42} {growth:.2f} times the processor seconds for"
                    f" {now.facts / before.facts:.2f} times the facts"
                )
                if growth >= MOST_GROWTH:
                    yield f"{times} x {what}: {MOST_GROWTH:g} times the processor time of half of it"
            before = now


if __name__ == "__main__":
    main()
