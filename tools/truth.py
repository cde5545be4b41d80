"""What ONNX itself says of every call that declarations make: `python -m tools.truth [OPERATOR...]`.

For each modelled version: its covering rows and border calls, how many of them strict shape inference and
the checker accept, and how many of the calls that break one rule they refuse, apart for rules that a document
calls errors and for what it leaves undefined. With `--runtimes` onnx and onnxruntime as well, through
the harness; a runtime is started once for a number of versions. Where all operators are asked, entries of
`disagreements.yaml` about these witnesses are listed that explain nothing. Answers with 1 where a valid call
is refused, or with runtimes an error answered by all, that no entry explains.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from fnmatch import fnmatchcase
from time import process_time

import onnx

from generator.calls.declared.modelled import modelled_operators
from generator.trust.witnesses.truth_runs import Reaction
from generator.trust.witnesses.truth_table import ANYBODY, ExplainedRefusal, TruthTable, explanations_of
from opcert.commands.truth_trying import choose_witnesses, told_counts, try_operators
from opcert.vocabulary.names import OperatorName
from tools.asked import exit_code_of

TOGETHER = 20
"""The versions whose calls a runtime is asked about by one worker."""
Counts = dict[str, dict[str, Counter[Reaction]]]


def main(words: Sequence[str]) -> int:
    """Print a line for each witness of each version, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runtimes", action="store_true", help="ask onnx and onnxruntime, too")
    parser.add_argument("operators", nargs="*", metavar="OPERATOR")
    asked = parser.parse_args(words)
    witnesses = choose_witnesses(() if asked.runtimes else ("none",))
    sums: Counts = {}
    used: set[str] = set()
    versions: dict[str, str] = {"inference": onnx.__version__, "checker": onnx.__version__}
    unexplained = explained = 0
    chosen = _modelled(asked.operators)
    for first in range(0, len(chosen), TOGETHER):
        started = process_time()
        tables = try_operators(chosen[first : first + TOGETHER], witnesses)
        calls = sum(len(table.calls.valid) for table in tables)
        each_takes = (process_time() - started) / max(calls, 1) * 1000
        for table in tables:
            print(f"{table.operator}: {len(table.calls.valid)} valid calls")
            _show(table.counts)
            _show_unexplained(table)
            _add(sums, table.counts)
            unexplained += table.unexplained
            explained += sum(
                len(refusal.calls) for refusal in table.refusals if refusal.explanation is not None
            )
            used.update(
                refusal.explanation.id for refusal in table.refusals if refusal.explanation is not None
            )
            used.update(
                answered_error.explanation.id
                for answered_error in table.answered_errors
                if answered_error.explanation is not None
            )
            versions.update(table.versions)
        print(f"{calls} valid calls of {len(tables)} versions: {each_takes:.1f} ms each", flush=True)
    print(f"{len(chosen)} versions: {explained} refusals explained, {unexplained} calls unexplained")
    _show(sums)
    for entry in [] if asked.operators else _silent(chosen, versions, used):
        print(f"explains nothing: {entry.id}, {entry.against}")
    return 1 if unexplained else 0


def _modelled(words: Sequence[str]) -> list[OperatorName]:
    known = [
        modelled_operator
        for modelled_operator in modelled_operators()
        if modelled_operator.domain.startswith("ai.onnx")
    ]
    return [operator for operator in known if not words or operator.name in words or operator.short in words]


def _silent(
    operators: Sequence[OperatorName], versions: Mapping[str, str], used: Container[str]
) -> list[ExplainedRefusal]:
    """The entries about these operators, and about witnesses of these versions, that explain nothing.

    Whether anybody at all refuses a call that breaks a rule, inference and checker do not say.
    """
    asked = {**versions, ANYBODY: ""} if len(versions) > 2 else versions
    found = {
        entry.id: entry
        for operator in operators
        for entry in explanations_of(operator)
        if entry.against in asked and entry.id not in used and _fits(str(operator), entry.operators)
    }
    return [entry for entry in found.values() if _fits(asked[entry.against], entry.versions)]


def _fits(text: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)


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
