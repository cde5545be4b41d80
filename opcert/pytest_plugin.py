"""The pytest plugin: a test for each operator version and family of a suite, on one runtime.

`pytest --opcert-runtime onnxruntime [--opcert-suite SUITE] [--opcert-by cause|operator|family|case]`. All the
chosen tests are one run of the harness, begun with the first of them; each tells of its own cases. By cause
each operator version's test tells what passes, and each cause of failures is a test that is found by the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from opcert.vocabulary.errors import NothingRan, OpcertError
from opcert.vocabulary.harmless import LONGEST, for_shell, for_terminal, one_line

if TYPE_CHECKING:
    from conformance.recording.records import Record
    from conformance.recording.rows import Result
    from conformance.suite.suites import Suite
    from reports.results.grouped_tests import GroupedTest

GROUPINGS = ("cause", "operator", "family", "case")
_SHOWN = 5


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
    except OpcertError as error:
        raise pytest.UsageError(f"opcert: {error}") from error
    config.add_cleanup(run.close)
    for name, case_ids in run.groups().items():
        nodeid = f"opcert::{name}"
        items.append(
            ConformanceItem.from_parent(session, name=name, nodeid=nodeid, run=run, case_ids=case_ids)
        )
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


class Run:
    """The suite, the runtime, and the record once there is one."""

    def __init__(self, config: pytest.Config) -> None:
        from conformance.runtimes.runtimes import find_runtime
        from opcert.commands.suite_argument import resolve_suite

        self._config = config
        self._runtime = find_runtime(
            config.getoption("--opcert-runtime"), config.getoption("--opcert-python")
        )
        self.suite_name: str = config.getoption("--opcert-suite")
        self.suite: Suite = resolve_suite(self.suite_name)
        self._by: str = config.getoption("--opcert-by")
        self.by_cause = self._by == "cause"
        self._record: Record | OpcertError | None = None

    def groups(self) -> dict[str, list[str]]:
        """The case ids of each test, in suite order."""
        found: dict[str, list[str]] = defaultdict(list)
        for case_id in self.suite.case_ids:
            path, family, name = case_id.rsplit("/", 2)
            operator = path.replace("/", "::", 1)
            part = {"family": f"[{family}]", "case": f"[{family}/{name}]"}.get(self._by, "")
            found[f"{operator}{part}"].append(case_id)
        return found

    def record(self, session: pytest.Session) -> Record:
        """The record of the chosen tests' cases; runs them where that is not done yet.

        Raises what the run raised, each time.
        """
        from conformance.running.harness import run_suite
        from opcert.commands.output_locks import locked_record

        if self._record is None:
            try:
                path, chosen = self._path(), self._chosen(session)
                if not chosen:
                    raise NothingRan("no test of cases is chosen: this one tells what those show")
                with locked_record(path, "pytest"):
                    self._record = run_suite(self.suite, self._runtime, path, only=chosen)
            except OpcertError as error:
                self._record = error
        if isinstance(self._record, OpcertError):
            raise self._record
        return self._record

    def causes(self, session: pytest.Session) -> list[GroupedTest]:
        """The causes of what fails: from entries, what the runtime says, and experiments on it."""
        from conformance.processes.worker_limits import Limits
        from opcert.commands.cause_finding import with_experiments, with_known_causes
        from opcert.commands.output_locks import locked_record
        from reports.results.case_results import put_together
        from reports.results.grouped_tests import cause_tests

        record = self.record(session)
        results = put_together(self.suite, record, self.suite_name, self._chosen(session))
        with locked_record(record.path, "pytest"):
            return list(cause_tests(with_experiments(with_known_causes(results), self._runtime, Limits())))

    def _chosen(self, session: pytest.Session) -> frozenset[str]:
        items = (item for item in session.items if isinstance(item, ConformanceItem))
        return frozenset(each for item in items for each in item.case_ids)

    def _path(self) -> Path:
        kept = self._config.getoption("--opcert-record")
        if kept is not None:
            return Path(kept)
        factory: pytest.TempPathFactory = self._config._tmp_path_factory  # type: ignore[attr-defined]
        return factory.mktemp("opcert") / "run.jsonl"

    def close(self) -> None:
        self.suite.close()


class _Item(pytest.Item):
    def __init__(self, *, run: Run, **options: Any) -> None:
        super().__init__(**options)
        self.run = run

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What is wrong in words; only a mistake of ours shows where in the code it came up."""
        if isinstance(excinfo.value, Wrong | OpcertError):
            return for_terminal(str(excinfo.value))
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.run.suite.path, None, self.name


class Wrong(Exception):
    """What the cases of a test, or the run as a whole, show to be wrong."""


class ConformanceItem(_Item):
    """Some cases of one operator version; where causes have tests of their own, it tells what passes."""

    def __init__(self, *, case_ids: Sequence[str], **options: Any) -> None:
        super().__init__(**options)
        self.case_ids = case_ids

    def runtest(self) -> None:
        from conformance.judging.judge import FAILING

        record = self.run.record(self.session)
        wanted = frozenset(self.case_ids)
        rows = [each for each in record.results if each.case in wanted]
        failing = [each for each in rows if each.verdict in FAILING]
        if failing and not self.run.by_cause:
            raise Wrong(_describe(failing, len(self.case_ids), self.run))
        lost = [each for each in rows if each.verdict in ("not_run", "harness_error")]
        if lost:
            raise Wrong(f"{len(lost)} cases were not run: {one_line(lost[0].reason or '', LONGEST)}")
        if all(each.verdict == "unsupported" for each in rows):
            pytest.skip(f"unsupported: {one_line(rows[0].reason or '', LONGEST)}")


class CausesItem(_Item):
    """What the failures come from: it stands for as many tests as there are causes."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._causes: list[GroupedTest] = []

    def runtest(self) -> None:
        found = self.run.causes(self.session)
        if found and hasattr(self.config, "workerinput"):
            # pytest-xdist takes no report of a test that it does not know.
            raise Wrong("\n\n".join(f"{each.message}\n{each.details}" for each in found))
        self._causes = found

    def told(self, reports: Sequence[pytest.TestReport]) -> Iterator[pytest.TestReport]:
        """The reports of a failed test for each cause; where there is none, this one's own."""
        if not self._causes:
            yield from reports
            return
        self.session.testscollected += len(self._causes) - 1
        for each in self._causes:
            name = for_terminal(f"cause[{one_line(each.name, LONGEST)}]")
            for report in map(copy, reports):
                report.nodeid, report.location = f"opcert::{name}", (self.location[0], None, name)
                if report.when == "call":
                    report.outcome, report.duration = "failed", each.seconds
                    report.longrepr = for_terminal(f"{each.message}\n{each.details}")
                yield report


class FaultsItem(_Item):
    """What only the whole run shows: answers that differ, readings that do not agree."""

    def runtest(self) -> None:
        from reports.causes.followed_readings import fault_text

        faults = self.run.record(self.session).faults
        if faults:
            raise Wrong("\n".join(one_line(fault_text(each), LONGEST) for each in faults))


def _describe(failing: Sequence[Result], cases: int, run: Run) -> str:
    words, suite = ["opcert", "repro"], [] if run.suite_name == "default" else ["-s", run.suite_name]
    wrong = len({each.case for each in failing})
    lines = [f"{wrong} of {cases} cases fail"]
    for each in failing[:_SHOWN]:
        lines += [
            f"  {each.case}: {each.verdict}: {one_line(each.reason or '', LONGEST)}",
            f"    {for_shell([*words, each.case, *suite])}",
        ]
    if len(failing) > _SHOWN:
        lines.append(f"  and {len(failing) - _SHOWN} more")
    return "\n".join(lines)
