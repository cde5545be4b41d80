"""What a fuzzing run found that a run of the suite on the same runtime does not show.

Usage: uv run python -m benchmarks.fuzz_beyond RECORD CALLS... [-s SUITE]

RECORD is of a run of the suite (default: the default suite), CALLS are folders or files of calls that `opcert
fuzz` kept. A find is shown by the suite where a case of the record fails in the same way and shares every
value that matters to the find. For each other find: the smallest call, what matters, the entry of
specs/*/*/disagreements.yaml that explains it, if one does, and how many cases fail in that way otherwise.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from conformance.judging.judge import FAILING
from conformance.judging.signatures import signature
from conformance.recording.records import Record, read_record
from conformance.recording.rows import Result
from conformance.suite.suites import Suite
from generator.asking.calls import Call
from generator.asking.calls_files import KeptCall, read_call, read_calls
from generator.diagnosis.explainer import Scopes
from generator.fuzzing.finds import call_lines
from generator.fuzzing.judged_calls import SLIGHTLY, case_of
from generator.fuzzing.known_space import Attempt, Space, open_space
from generator.fuzzing.matters import Matter
from opcert.commands.suite_argument import resolve_suite
from opcert.vocabulary.names import DEFAULT_SUITE, OperatorName
from reference.disagreements import Disagreement, explain, load_disagreements

_space = cache(open_space)
_SCOPES = Scopes(strict=True)


@dataclass(frozen=True)
class Failing:
    """A row of the record that fails, in the words of a find."""

    verdict: str
    how: str
    call: Call


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("record", type=Path)
    parser.add_argument("calls", type=Path, nargs="+")
    parser.add_argument("-s", "--suite", default=DEFAULT_SUITE)
    given = parser.parse_args()
    record, entries = read_record(given.record), load_disagreements()
    kept = [
        each for path in given.calls for each in (read_calls(path) if path.is_dir() else [read_call(path)])
    ]
    with resolve_suite(given.suite, str(record.header["suite"])) as suite:
        failing: dict[OperatorName, list[Failing]] = {}
        for operator in sorted({each.operator for each in kept}):
            failing[operator] = list(_failing(suite, record, operator))
    shown = 0
    for each in kept:
        alike = [one for one in failing[each.operator] if _same_way(each, one)]
        if any(_shares(each, one) for one in alike):
            shown += 1
        else:
            print(_describe(each, len(alike), entries))
    print(f"{len(kept)} finds: {shown} shown by the suite, {len(kept) - shown} beyond it")


def _failing(suite: Suite, record: Record, operator: OperatorName) -> Iterator[Failing]:
    for row in record.results:
        if row.operator == str(operator) and row.verdict in FAILING:
            case = suite.case(row.case)
            yield Failing(row.verdict, _how(row), Call(dict(case.attributes), case.inputs))


def _how(row: Result) -> str:
    """How a row fails, as `generator.fuzzing.judged_calls` says it."""
    if row.verdict == "crash":
        return row.signal or signature("crash", row.reason or "")
    if row.verdict == "rejected_valid":
        return signature(str(row.error), row.message or "")
    if row.verdict == "mismatch" and row.difference == "value":
        ratio = (row.worst or {}).get("ratio")
        return "slightly" if isinstance(ratio, int | float) and ratio <= SLIGHTLY else "value"
    return str({"mismatch": row.difference, "timeout": row.stage}.get(row.verdict, row.constraint))


def _same_way(kept: KeptCall, row: Failing) -> bool:
    return (kept.found["verdict"], kept.found["how"]) == (row.verdict, row.how)


def _shares(kept: KeptCall, row: Failing) -> bool:
    space = _space(kept.operator)
    return all(each.covers(space, row.call) for each in _matters(kept) if each.decides)


def _matters(kept: KeptCall) -> Sequence[Matter]:
    return [
        Matter(each["name"], each["value"], tuple(each["fails"]), tuple(each["holds"]))
        for each in kept.found["matters"]
    ]


def _describe(kept: KeptCall, alike: int, entries: Sequence[Disagreement]) -> str:
    entry = _entry(_space(kept.operator), kept, entries)
    lines = [f"{kept.operator}: {kept.found['verdict']}: {kept.found['reason']}", *call_lines(kept.call)]
    lines += [str(each) for each in _matters(kept) if each.decides]
    lines.append(
        f"entry: {entry.id if entry is not None else 'none'}; {alike} cases fail in this way otherwise"
    )
    lines.append(f"file: {kept.path}")
    return "\n    ".join(lines) + "\n"


def _entry(space: Space, kept: KeptCall, entries: Sequence[Disagreement]) -> Disagreement | None:
    broken = kept.found.get("breaks")
    rule = next((each for each in space.spec.constraints if each.id == broken), None)
    case = case_of(space, Attempt(kept.call, rule, kept.made_from))
    levels = {"element_type": case.element_type.name} | {
        name: str(each.value) for name, each in kept.call.attributes.items()
    }
    case_id = f"{case.operator.path}/{case.family}/{broken or 'found'}-{case.id.digest}"
    runtime, verdict, reason = (str(kept.found[key]) for key in ("runtime", "verdict", "reason"))
    names = _SCOPES.names_of(case)
    return explain(entries, str(kept.operator), case_id, runtime, verdict, levels, reason, names)


if __name__ == "__main__":
    main()
