"""What the pytest plugin asks for, answered in a process of its own: `python -P -m opcert.pytest_answers`.

One JSON object in a line comes on standard input, and one goes to standard output: the answer, or an `error`
that is told to people, or a `bug`. The process ends where whoever asks does.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.judging.verdicts import NOT_JUDGED
from opcert.__main__ import take_own_packages
from opcert.vocabulary.errors import ExitCode, NothingRan, OpcertError
from opcert.vocabulary.harmless import LONGEST, for_shell, for_terminal, one_line

if TYPE_CHECKING:
    from conformance.recording.rows import Result
    from conformance.runtimes.runtimes import Runtime
    from conformance.suite.suites import Suite

_SHOWN = 5


@dataclass(frozen=True)
class Asked:
    """What pytest was called with: a runtime, a suite and its name, and what one test stands for."""

    runtime: Runtime
    suite: Suite
    suite_name: str
    by: str

    @cached_property
    def groups(self) -> Mapping[str, Sequence[str]]:
        """The case ids of each test, in suite order."""
        found: dict[str, list[str]] = defaultdict(list)
        for case_id in self.suite.case_ids:
            path, family, name = case_id.rsplit("/", 2)
            operator = path.replace("/", "::", 1)
            part = {"family": f"[{family}]", "case": f"[{family}/{name}]"}.get(self.by, "")
            found[f"{operator}{part}"].append(case_id)
        return found

    def test_of(self, chosen: Sequence[str]) -> Mapping[str, str]:
        """The test of each case of the chosen tests."""
        return {case_id: test for test in chosen for case_id in self.groups[test]}


def tests(asked: Asked) -> dict[str, Any]:
    """The names of the tests, and where the suite lies."""
    return {"suite": str(asked.suite.path), "tests": list(asked.groups)}


def run(asked: Asked, record: str, chosen: Sequence[str]) -> dict[str, Any]:
    """Run the cases of the chosen tests: of each its outcome and what is said of it, and the run's faults."""
    from conformance.running.harness import run_request
    from conformance.running.resuming import RecordPlace
    from conformance.running.run_options import RunRequest
    from opcert.commands.output_locks import locked_record
    from reports.causes.followed_readings import fault_text

    if not chosen:
        raise NothingRan("no test of cases is chosen: this one tells what those show")
    path, test_of = Path(record), asked.test_of(chosen)
    with locked_record(path, "pytest"):
        request = RunRequest(asked.suite, asked.runtime, only=frozenset(test_of))
        made = run_request(request, RecordPlace(path))
    rows: dict[str, list[Result]] = defaultdict(list)
    for row in made.results:
        rows[test_of[row.case]].append(row)
    outcomes = {test: _outcome(asked, len(asked.groups[test]), rows[test]) for test in chosen}
    faults = [for_terminal(one_line(fault_text(fault), LONGEST)) for fault in made.faults]
    return {"outcomes": outcomes, "faults": faults}


def causes(asked: Asked, record: str, chosen: Sequence[str]) -> dict[str, Any]:
    """The causes of what fails: from entries, what the runtime says, and experiments on it."""
    from conformance.processes.worker_limits import Limits
    from conformance.recording.records import read_record
    from opcert.commands.cause_finding import with_experiments, with_known_causes
    from opcert.commands.output_locks import locked_record
    from reports.overview.cause_paragraphs import cause_tests
    from reports.results.case_results import put_together

    made = read_record(Path(record))
    results = put_together(asked.suite, made, asked.suite_name, frozenset(asked.test_of(chosen)))
    with locked_record(made.path, "pytest"):
        found = cause_tests(with_experiments(with_known_causes(results), asked.runtime, Limits()))
        return {
            "causes": [
                {
                    "name": for_terminal(f"cause[{one_line(cause.name, LONGEST)}]"),
                    "text": for_terminal(f"{cause.message}\n{cause.details}"),
                    "seconds": cause.seconds,
                }
                for cause in found
            ]
        }


def _outcome(asked: Asked, cases: int, rows: Sequence[Result]) -> tuple[str, str]:
    """`passed`, `failed` or `skipped`, and why; where causes have tests of their own, what passes is told."""
    from conformance.judging.verdicts import FAILING

    failing = [row for row in rows if row.verdict in FAILING]
    if failing and asked.by != "cause":
        return "failed", for_terminal(_describe(failing, cases, asked.suite_name))
    lost = [row for row in rows if row.verdict in NOT_JUDGED]
    if lost:
        why = one_line(lost[0].reason or "", LONGEST)
        return "failed", for_terminal(f"{len(lost)} cases were not run: {why}")
    if all(row.verdict == "unsupported" for row in rows):
        return "skipped", f"unsupported: {one_line(rows[0].reason or '', LONGEST)}"
    return "passed", ""


def _describe(failing: Sequence[Result], cases: int, suite_name: str) -> str:
    suite = [] if suite_name == "default" else ["-s", suite_name]
    lines = [f"{len({row.case for row in failing})} of {cases} cases fail"]
    for row in failing[:_SHOWN]:
        lines += [
            f"  {row.case}: {row.verdict}: {one_line(row.reason or '', LONGEST)}",
            f"    {for_shell(['opcert', 'repro', row.case, *suite])}",
        ]
    if len(failing) > _SHOWN:
        lines.append(f"  and {len(failing) - _SHOWN} more")
    return "\n".join(lines)


def _answer(question: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        take_own_packages()
        from conformance.runtimes.runtimes import find_runtime
        from opcert.commands import begin_process
        from opcert.commands.suite_argument import resolve_suite

        begin_process()
        runtime = find_runtime(question["runtime"], question["python"])
        with closing(resolve_suite(question["suite"])) as suite:
            asked = Asked(runtime, suite, question["suite"], question["by"])
            return _ANSWERS[question["ask"]](asked, **question["of"])
    except OpcertError as error:
        return {"error": for_terminal(str(error))}
    except Exception:  # noqa: BLE001 - pytest tells it
        return {"bug": for_terminal(traceback.format_exc())}


_ANSWERS: Mapping[str, Callable[..., Mapping[str, Any]]] = {"tests": tests, "run": run, "causes": causes}


def _end_with(source: int) -> None:
    """Interrupt this process where whoever asked is not there any more."""
    while os.read(source, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Answer the one question."""
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what anybody prints is no answer
    question = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with, args=(0,), daemon=True).start()
    try:
        told.write(json.dumps(_answer(question)) + "\n")
        told.flush()
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)


if __name__ == "__main__":
    main()
