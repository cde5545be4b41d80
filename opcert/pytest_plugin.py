"""The pytest plugin: a test for each operator version and family of a suite, on one runtime.

`pytest --opcert-runtime onnxruntime [--opcert-suite SUITE] [--opcert-by cause|operator|family|case]`. All the
chosen tests are one run of the harness, begun with the first of them; each tells of its own cases. By cause
each operator version's test tells what passes, and each cause of failures is a test that is found by the run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

GROUPINGS = ("cause", "operator", "family", "case")
_ANSWERS = (sys.executable, "-P", "-m", "opcert.pytest_answers")
"""Started in the user's folders, it imports nothing from there; no other module of ours is imported here."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("opcert", "conformance of a tensor-operator runtime")
    group.addoption(
        "--opcert-runtime", metavar="RUNTIME", help="the runtime to test, as `opcert run` takes it"
    )
    group.addoption("--opcert-suite", metavar="SUITE", default="default",
                    help="the suite: a folder, a zip file, or `default`")  # fmt: skip
    group.addoption("--opcert-by", choices=GROUPINGS, default="family",
                    help="what one test stands for; default: an operator version and family")  # fmt: skip
    group.addoption("--opcert-python", metavar="PYTHON", help="the interpreter of a module:Backend runtime")
    group.addoption("--opcert-record", metavar="FILE", help="where to keep the record of the run")


def pytest_configure(config: pytest.Config) -> None:
    """Processes of pytest-xdist each run the cases of all chosen tests; one record cannot be of them all."""
    kept = (
        config.getoption("--opcert-runtime") is not None and config.getoption("--opcert-record") is not None
    )
    if kept and getattr(config.option, "numprocesses", None):
        raise pytest.UsageError("opcert: --opcert-record is for one process: leave -n out, or say -n 0")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the tests of the suite, before -k and -m choose among all."""
    if config.getoption("--opcert-runtime") is None:
        return
    try:
        run = Run(config)
    except Wrong as error:
        raise pytest.UsageError(f"opcert: {error}") from error
    items += [
        ConformanceItem.from_parent(session, name=name, nodeid=f"opcert::{name}", run=run)
        for name in run.tests
    ]
    if run.by_cause:
        items.append(CausesItem.from_parent(session, name="causes", nodeid="opcert::causes", run=run))
    items.append(FaultsItem.from_parent(session, name="faults", nodeid="opcert::faults", run=run))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Tell a test for each cause in the place of the one that found them."""
    if not isinstance(item, CausesItem):
        return None
    from _pytest.runner import runtestprotocol

    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for each in item.told(runtestprotocol(item, nextitem=nextitem, log=False)):
        item.ihook.pytest_runtest_logreport(report=each)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


class Wrong(Exception):
    """What the cases of a test, or the run as a whole, show to be wrong; or why nothing is known of them."""


class Run:
    """What there is to test, and what came of it once that is known."""

    def __init__(self, config: pytest.Config) -> None:
        by = config.getoption("--opcert-by")
        self.by_cause = by == "cause"
        self._config = config
        self._asked = {
            "runtime": config.getoption("--opcert-runtime"),
            "python": config.getoption("--opcert-python"),
            "suite": config.getoption("--opcert-suite"),
            "by": by,
        }
        told = self._ask("tests", {})
        self.suite = Path(told["suite"])
        self.tests: list[str] = told["tests"]
        self._record: Path | None = None
        self._told: Mapping[str, Any] | Wrong | None = None

    def told(self, item: pytest.Item) -> Mapping[str, Any]:
        """The outcomes of the chosen tests and the faults of their run; runs them where that is not done yet.

        Raises what the run raised, each time.
        """
        if self._told is None:
            try:
                self._told = self._ask("run", self._of(item), item)
            except Wrong as error:
                self._told = error
        if isinstance(self._told, Wrong):
            raise self._told
        return self._told

    def causes(self, item: pytest.Item) -> list[Mapping[str, Any]]:
        """The causes of what fails."""
        self.told(item)
        found: list[Mapping[str, Any]] = self._ask("causes", self._of(item), item)["causes"]
        return found

    def _of(self, item: pytest.Item) -> dict[str, Any]:
        chosen = [
            conformance_item.name
            for conformance_item in item.session.items
            if isinstance(conformance_item, ConformanceItem)
        ]
        return {"record": str(self._path()), "chosen": chosen}

    def _path(self) -> Path:
        if self._record is None:
            kept = self._config.getoption("--opcert-record")
            if kept is not None:
                self._record = Path(kept)
            else:
                factory: pytest.TempPathFactory = self._config._tmp_path_factory  # type: ignore[attr-defined]
                self._record = factory.mktemp("opcert") / "run.jsonl"
        return self._record

    def _ask(self, what: str, of: Mapping[str, Any], item: pytest.Item | None = None) -> dict[str, Any]:
        """What opcert answers in a process of its own; it ends where this one does, or is interrupted.

        What it says on standard error goes where pytest has that of the test now. Raises Wrong.
        """
        question = json.dumps({"ask": what, "of": of, **self._asked}) + "\n"
        with TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            try:
                error = sys.stderr.fileno()
            except (AttributeError, OSError, ValueError):
                error = said.fileno()
            line = ""
            with (
                suppress(BrokenPipeError),
                subprocess.Popen(
                    _ANSWERS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=error, text=True
                ) as process,
            ):
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(question)
                process.stdin.flush()
                line = process.stdout.readline()
                process.wait()
            said.seek(0)
            if item is not None and (text := said.read()):
                item.add_report_section("call", "stderr", text)
        if not line:
            raise Wrong(f"the process that asks the runtime was ended; its exit code is {process.returncode}")
        answer: dict[str, Any] = json.loads(line)
        if "bug" in answer:
            raise RuntimeError(answer["bug"])
        if "error" in answer:
            raise Wrong(answer["error"])
        return answer


class _Item(pytest.Item):
    def __init__(self, *, run: Run, **options: Any) -> None:
        super().__init__(**options)
        self.run = run

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What is wrong in words; only a mistake of ours shows where in the code it came up."""
        if isinstance(excinfo.value, Wrong):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.run.suite, None, self.name


class ConformanceItem(_Item):
    """Some cases of one operator version; where causes have tests of their own, it tells what passes."""

    def runtest(self) -> None:
        outcome, text = self.run.told(self)["outcomes"][self.name]
        if outcome == "failed":
            raise Wrong(text)
        if outcome == "skipped":
            pytest.skip(text)


class CausesItem(_Item):
    """What the failures come from: it stands for as many tests as there are causes."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._causes: list[Mapping[str, Any]] = []

    def runtest(self) -> None:
        found = self.run.causes(self)
        if found and hasattr(self.config, "workerinput"):
            # pytest-xdist takes no report of a test that it does not know.
            raise Wrong("\n\n".join(cause["text"] for cause in found))
        self._causes = found

    def told(self, reports: Sequence[pytest.TestReport]) -> Iterator[pytest.TestReport]:
        """The reports of a failed test for each cause; where there is none, this one's own."""
        if not self._causes:
            yield from reports
            return
        self.session.testscollected += len(self._causes) - 1
        for cause in self._causes:
            name = cause["name"]
            for report in map(copy, reports):
                report.nodeid, report.location = f"opcert::{name}", (self.location[0], None, name)
                if report.when == "call":
                    report.outcome, report.duration = "failed", cause["seconds"]
                    report.longrepr = cause["text"]
                yield report


class FaultsItem(_Item):
    """What only the whole run shows: answers that differ, readings that do not agree."""

    def runtest(self) -> None:
        faults = self.run.told(self)["faults"]
        if faults:
            raise Wrong("\n".join(faults))
