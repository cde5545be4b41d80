"""Whether the scripts of `opcert repro` say of a runtime's cases what a run said of them.

Usage: uv run python -m benchmarks.reproductions RECORD [-s SUITE] [--each 10]

RECORD is of a run on a runtime from Python. Of each verdict in each form as many cases as `--each` says are
chosen (the same ones each time), their scripts run on the newest version of the runtime, and what they answer
is held against the verdict: 1 (reproduced) for a failing one, 0 for a passing or observed one, 2 for what is
unsupported, or 0 where that is a call that must be refused. Scripts that cannot judge a case are counted.
Answers with 1 where one says otherwise, as a runtime does that answers differently from time to time.
"""

from __future__ import annotations

import subprocess
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.asked import exit_code_of, parser_of
from conformance.judging.judge import FAILING
from conformance.models.case_models import has_onnx_form
from conformance.recording.records import read_record
from conformance.recording.rows import Result
from conformance.runtimes.adapter import load_adapter
from conformance.runtimes.environments import prepare
from conformance.suite.cases import Case
from generator.values.draws import Draw
from opcert.commands.suite_argument import resolve_suite
from opcert.vocabulary.names import DEFAULT_SUITE
from reports.single_cases.case_folder import beyond_script
from reports.single_cases.reproduction import write_reproduction
from reports.single_cases.reproduction_script import RUNTIMES, TIME_LIMIT

_SAID = {"pass": (0,), "observed": (0,), "unsupported": (2,)}
"""What a script answers, by verdict; 1 where the verdict is a failing one."""


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__)
    parser.add_argument("record", type=Path)
    parser.add_argument("-s", "--suite", default=DEFAULT_SUITE)
    parser.add_argument("--each", type=int, default=10)
    given = parser.parse_args(words)
    record = read_record(given.record)
    runtime = str(record.header["runtime"]["name"])
    if runtime not in RUNTIMES:
        parser.error(f"a record of {', '.join(sorted(RUNTIMES))} is wanted")
    python = prepare((*load_adapter(runtime).requirements, "onnx")).program
    counts = Counter[str]()
    with resolve_suite(given.suite, str(record.header["suite"])) as suite, TemporaryDirectory() as folder:
        for number, row in enumerate(_chosen(record.results, given.each)):
            case = suite.case(row.case)
            if beyond_script(case) or (row.form != "inputs" and not has_onnx_form(case.operator)):
                counts["that no script can judge"] += 1
                continue
            script = write_reproduction(suite, row.case, Path(folder) / str(number))
            command = [str(python), "-I", str(script), "--runtime", runtime, "--form", row.form]
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=2 * TIME_LIMIT, check=False
            )
            same = done.returncode in _expected(case, row)
            counts["as the run said" if same else "otherwise"] += 1
            if not same:
                last = (done.stdout.strip() or done.stderr.strip() or "nothing").splitlines()[-1]
                print(f"{row.case} as {row.form}: {row.verdict} ({row.reason}), and the script: {last}")
    print(f"{runtime}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return 1 if counts["otherwise"] else 0


def _chosen(rows: Sequence[Result], most: int) -> list[Result]:
    """So many rows of each verdict in each form."""
    kinds: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for row in rows:
        if row.repeat == 0 and row.verdict in (*_SAID, *FAILING) and row.verdict != "timeout":
            kinds[row.verdict, row.form].append(row)
    return [
        kind[place]
        for key, kind in sorted(kinds.items())
        for place in Draw(f"reproductions/{key}").shuffled(range(len(kind)))[:most]
    ]


def _expected(case: Case, row: Result) -> tuple[int, ...]:
    if row.verdict in FAILING:
        return (1,)
    may_be_refused = row.verdict == "unsupported" and case.demand != "answer"
    return (0, 2) if may_be_refused else _SAID[row.verdict]


if __name__ == "__main__":
    raise SystemExit(exit_code_of(main))
