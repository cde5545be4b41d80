"""The pytest plugin: a test for each operator version and family of a suite, on one runtime.

`pytest --opcert-runtime onnxruntime [--opcert-suite SUITE]`. All the chosen tests are one run of the harness,
begun with the first of them; each tells of its own cases.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.harmless import LONGEST, for_shell, for_terminal, one_line

if TYPE_CHECKING:
    from conformance.recording.records import Record
    from conformance.recording.rows import Result
    from conformance.suite.suites import Suite

_SHOWN = 5


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("opcert", "conformance of a tensor-operator runtime")
    group.addoption(
        "--opcert-runtime", metavar="RUNTIME", help="the runtime to test, as `opcert run` takes it"
    )
    group.addoption("--opcert-suite", metavar="SUITE", default="default",
                    help="the suite: a folder, a zip file, or `default`")  # fmt: skip
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
    for (operator, family), case_ids in run.groups():
        name = f"{operator}[{family}]"
        nodeid = f"opcert::{name}"
        items.append(
            ConformanceItem.from_parent(session, name=name, nodeid=nodeid, run=run, case_ids=case_ids)
        )
    items.append(FaultsItem.from_parent(session, name="faults", nodeid="opcert::faults", run=run))


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
        self._record: Record | OpcertError | None = None

    def groups(self) -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
        """The case ids of each operator version and family, in suite order."""
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for case_id in self.suite.case_ids:
            path, family, _ = case_id.rsplit("/", 2)
            found[path.replace("/", "::", 1), family].append(case_id)
        for key, case_ids in found.items():
            yield key, tuple(case_ids)

    def record(self, session: pytest.Session) -> Record:
        """The record of the chosen tests' cases; runs them where that is not done yet.

        Raises what the run raised, each time.
        """
        from conformance.running.harness import run_suite
        from opcert.commands.output_locks import locked_record

        if self._record is None:
            chosen = [
                each for item in session.items if isinstance(item, ConformanceItem) for each in item.case_ids
            ]
            try:
                path = self._path()
                with locked_record(path, "pytest"):
                    self._record = run_suite(self.suite, self._runtime, path, only=frozenset(chosen))
            except OpcertError as error:
                self._record = error
        if isinstance(self._record, OpcertError):
            raise self._record
        return self._record

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
    """The cases of one operator version and family."""

    def __init__(self, *, case_ids: tuple[str, ...], **options: Any) -> None:
        super().__init__(**options)
        self.case_ids = case_ids

    def runtest(self) -> None:
        from conformance.judging.judge import FAILING

        record = self.run.record(self.session)
        wanted = frozenset(self.case_ids)
        rows = [each for each in record.results if each.case in wanted]
        failing = [each for each in rows if each.verdict in FAILING]
        if failing:
            raise Wrong(_describe(failing, len(self.case_ids), self.run))
        lost = [each for each in rows if each.verdict in ("not_run", "harness_error")]
        if lost:
            raise Wrong(f"{len(lost)} cases were not run: {one_line(lost[0].reason or '', LONGEST)}")
        if all(each.verdict == "unsupported" for each in rows):
            pytest.skip(f"unsupported: {one_line(rows[0].reason or '', LONGEST)}")


class FaultsItem(_Item):
    """What only the whole run shows: answers that differ, readings that do not agree."""

    def runtest(self) -> None:
        from reports.followed_readings import fault_text

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
