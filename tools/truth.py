"""What ONNX itself says of every call that declarations make: `python -m tools.truth [OPERATOR...]`.

For each modelled version: its covering rows and border calls, how many of them strict shape inference and
the checker accept, and how many of the calls that break one rule they refuse, apart for rules that a document
calls errors and for what it leaves undefined. With `--runtimes` onnx and onnxruntime as well, through
the harness; a runtime is started once for a number of versions. With `--records FOLDER` what each entry
explains is written there, for `tools.entries`. Answers with 1 where a valid call is refused, or with
runtimes an error answered by all, that no `disagreements.yaml` explains.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import process_time

import onnx

from generator.calls.declared.modelled import modelled_operators
from generator.trust.witnesses.truth_runs import Reaction
from generator.trust.witnesses.truth_table import TruthTable
from opcert.commands.truth_summary import told_counts
from opcert.commands.truth_trying import choose_witnesses, try_operators
from opcert.vocabulary.names import OperatorName
from tools.asked import exit_code_of
from tools.explained import Explained, Use, uses_in_table, write_explained

TOGETHER = 20
"""The versions whose calls a runtime is asked about by one worker."""
Counts = dict[str, dict[str, Counter[Reaction]]]


def main(words: Sequence[str]) -> int:
    """Print a line for each witness of each version, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runtimes", action="store_true", help="ask onnx and onnxruntime, too")
    parser.add_argument("--records", type=Path, metavar="FOLDER", help="write there what entries explain")
    parser.add_argument("operators", nargs="*", metavar="OPERATOR")
    asked = parser.parse_args(words)
    witnesses = choose_witnesses(() if asked.runtimes else ("none",))
    sums: Counts = {}
    uses: Counter[Use] = Counter()
    versions: dict[str, str] = {"inference": onnx.__version__, "checker": onnx.__version__}
    unexplained = explained = 0
    chosen = _modelled(asked.operators)
    for first in range(0, len(chosen), TOGETHER):
        started = process_time()
        tables = try_operators(chosen[first : first + TOGETHER], witnesses)
        calls = sum(len(each.calls.valid) for each in tables)
        each_takes = (process_time() - started) / max(calls, 1) * 1000
        for table in tables:
            print(f"{table.operator}: {len(table.calls.valid)} valid calls")
            _show(table.counts)
            _show_unexplained(table)
            _add(sums, table.counts)
            unexplained += table.unexplained
            explained += sum(len(each.calls) for each in table.refusals if each.explanation is not None)
            uses += uses_in_table(table)
            versions.update(table.versions)
        print(f"{calls} valid calls of {len(tables)} versions: {each_takes:.1f} ms each", flush=True)
    print(f"{len(chosen)} versions: {explained} refusals explained, {unexplained} calls unexplained")
    _show(sums)
    if asked.records is not None:
        write_explained(asked.records, Explained("the truth test", ("cases", "calls"), versions, uses))
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
    sys.exit(exit_code_of(main))
