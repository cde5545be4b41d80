"""What ONNX itself says of every call that declarations make: `python -m benchmarks.truth [OPERATOR...]`.

For each modelled version: its covering rows and border calls, how many of them strict shape inference and
the checker accept, and how many of the calls that break one rule they refuse, apart for rules that a document
calls errors and for what it leaves undefined. With `--runtimes` onnx and onnxruntime as well, through
the harness. Answers with 1 where a valid call is refused, or with runtimes an error answered by all, that no
`disagreements.yaml` explains.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from time import process_time

from generator.modelled import modelled_operators
from generator.truth_runs import Reaction
from generator.truth_table import TruthTable
from opcert.commands.truth_summary import told_counts
from opcert.commands.truth_trying import choose_witnesses, try_operator
from opcert.vocabulary.names import OperatorName

RUNTIMES = "--runtimes"
Counts = dict[str, dict[str, Counter[Reaction]]]


def main(words: Sequence[str]) -> int:
    """Print a line for each witness of each version, and the sums."""
    witnesses = choose_witnesses(() if RUNTIMES in words else ("none",))
    sums: Counts = {}
    tables = 0
    unexplained = explained = 0
    for operator in _modelled([each for each in words if each != RUNTIMES]):
        started = process_time()
        table = try_operator(operator, witnesses)
        seconds = process_time() - started
        valid = len(table.calls.valid)
        print(f"{operator}: {valid} valid calls, {seconds / max(valid, 1) * 1000:.1f} ms each", flush=True)
        _show(table.counts)
        _show_unexplained(table)
        _add(sums, table.counts)
        tables += 1
        unexplained += table.unexplained
        explained += sum(len(each.calls) for each in table.refusals if each.explanation is not None)
    print(f"{tables} versions: {explained} refusals explained, {unexplained} calls unexplained")
    _show(sums)
    return 1 if unexplained else 0


def _modelled(words: Sequence[str]) -> list[OperatorName]:
    known = [each for each in modelled_operators() if each.domain.startswith("ai.onnx")]
    return [each for each in known if not words or each.name in words or each.short in words]


def _show(counts: Mapping[str, Mapping[str, Counter[Reaction]]]) -> None:
    for witness, found in counts.items():
        print(f"    {witness}: {told_counts(found)}", flush=True)


def _show_unexplained(table: TruthTable) -> None:
    for group in table.refusals:
        if group.explanation is None:
            told = f"{group.witness} {group.reaction}: {group.message[:200]}"
            print(f"    unexplained, {len(group.calls)} calls: {told}", flush=True)
    for answered in table.answered_errors:
        if answered.explanation is None:
            print(f"    unexplained, {len(answered.calls)} errors answered: {answered.rule}", flush=True)


def _add(sums: Counts, counts: Mapping[str, Mapping[str, Counter[Reaction]]]) -> None:
    for witness, kinds in counts.items():
        for kind, found in kinds.items():
            sums.setdefault(witness, {}).setdefault(kind, Counter()).update(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
