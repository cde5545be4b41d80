"""The truth test of a declared operator: its calls, asked of ONNX and of runtimes; and what is told of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from conformance.judging.refusals import shorten
from conformance.processes.scratch_folders import scratch_folder
from conformance.running.progress import Silent
from conformance.runtimes.runtimes import Runtime, find_installed, find_runtime
from generator.asking.calls import Call
from generator.asking.questions import describe
from generator.calls.declared.declared_levels import levels_without_call, rules_broken_together
from generator.calls.declared.modelled import declaration_ships, kept_cores_of
from generator.calls.rows.covering_rows import learn_cores
from generator.calls.space.space import open_space
from generator.trust.witnesses.truth_runs import (
    Answers,
    Reaction,
    TypedCall,
    Witnessed,
    ask_onnx,
    ask_runtime,
    is_known_to_onnx,
)
from generator.trust.witnesses.truth_table import (
    IN_PROCESS,
    REFUSING,
    AnsweredErrors,
    FailureEntries,
    RefusalGroup,
    TruthCalls,
    TruthTable,
    TruthTableMaker,
    explanations_of,
    make_truth_calls,
)
from opcert.commands.runtime_argument import choose_runtime
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from reference.readings.disagreements import load_disagreements
from reports.text.phrasing import plural
from specs.files.library import load_for_calls
from specs.files.spec_folders import OWN_FOLDER
from specs.model.spec import Refusable, Spec

BY_DEFAULT = ("onnx", "onnxruntime")
NOBODY = "none"
_OTHERWISE: tuple[Reaction, ...] = ("refused", "not offered", "crashed", "timed out")
_LONGEST_CALL = 300


def choose_witnesses(names: Sequence[str]) -> list[Runtime]:
    """The runtimes to ask: those named, or of the usual ones those that are installed already.

    Raises UserError where one is named that there is not.
    """
    if names:
        return [choose_runtime(name, None, False) for name in names if name != NOBODY]
    return [runtime for runtime in map(find_runtime, BY_DEFAULT) if find_installed(runtime) is not None]


def try_operator(
    operator: OperatorName, witnesses: Sequence[Runtime], strength: int = 2, folders: Sequence[Path] = ()
) -> TruthTable:
    """What everybody says of an operator's calls; RuntimeUnavailable where a runtime does not start."""
    (table,) = try_operators([operator], witnesses, strength, folders)
    return table


def try_operators(
    operators: Sequence[OperatorName],
    witnesses: Sequence[Runtime],
    strength: int = 2,
    folders: Sequence[Path] = (),
) -> list[TruthTable]:
    """The tables of several operators; a runtime is started once, and asked about them all."""
    makers: list[TruthTableMaker] = []
    asked: list[tuple[Spec, list[TypedCall]]] = []
    entries = [
        disagreement for folder in (*folders, OWN_FOLDER) for disagreement in load_disagreements(folder)
    ]
    for operator in operators:
        spec = load_for_calls(operator, folders)
        calls = make_truth_calls(open_space(spec), kept_cores_of(operator, folders), strength)
        known = explanations_of(operator, folders)
        failures = [entry for entry in entries if entry.concerns(str(operator))]
        maker = TruthTableMaker(operator, calls, known, FailureEntries(spec, failures))
        if is_known_to_onnx(operator):
            told, maker.said = _ask_onnx(spec, calls)
        else:
            told = [TypedCall(call) for call in _every_call(calls)]
        makers.append(maker)
        asked.append((spec, told))
    for runtime in witnesses:
        with scratch_folder("truth") as folder:
            version, answers = ask_runtime(asked, runtime, folder, Silent())
        for maker in makers:
            maker.said[runtime.text] = answers[maker.operator]
            maker.versions[runtime.text] = version
    return [maker.make() for maker in makers]


def find_faults(operator: OperatorName, folders: Sequence[Path] = ()) -> list[UserError]:
    """What is wrong in its declaration that only calls show; raises UserError where there is no call at all.

    Of a declaration that ships the cores are kept; of another one, or where none are, they are learned.
    """
    space = open_space(load_for_calls(operator, folders))
    kept = kept_cores_of(operator, folders)
    cores = kept if kept and declaration_ships(operator, folders) else learn_cores(space, known=kept)
    return [*levels_without_call(space, cores), *rules_broken_together(space)]


def _every_call(calls: TruthCalls) -> list[Call]:
    return [*calls.valid, *(error.call for error in (*calls.errors, *calls.undefined))]


def _ask_onnx(spec: Spec, calls: TruthCalls) -> tuple[list[TypedCall], dict[str, Answers]]:
    asked: list[TypedCall] = []
    said: dict[str, dict[str, Witnessed]] = {"inference": {}, "checker": {}}
    pairs: list[tuple[Call, Call | None]] = [(call, None) for call in calls.valid]
    pairs += [(error.call, error.valid) for error in (*calls.errors, *calls.undefined)]
    for call, near in pairs:
        found, answers = ask_onnx(spec, call, near)
        asked.append(found)
        for witness, answer in answers.items():
            said[witness][call.digest(spec.operator)] = answer
    return asked, dict(said)


def summarise_truth(table: TruthTable) -> str:
    """The counts of every witness, and each group of refusals with its first call."""
    calls = table.calls
    valid, broken = plural(len(calls.valid), "valid call"), f"{len(calls.errors)} that a text calls errors"
    lines = [f"{table.operator}: {valid}, {broken}, {len(calls.undefined)} of which no text says what comes"]
    width = max(map(len, table.counts), default=0)
    for witness, counts in table.counts.items():
        lines.append(f"  {witness.ljust(width)}  {told_counts(counts)}")
    if not table.counts.keys() & IN_PROCESS:
        lines.append("  ONNX knows no such operator: its shape inference and checker were not run")
    for group in table.refusals:
        lines.extend(_group(group))
    for answered in table.answered_errors:
        lines.extend(_answered(answered))
    lines.append(f"  {_conclusion(table)}")
    return "\n".join(lines)


def told_counts(counts: Mapping[str, Counter[Reaction]]) -> str:
    """What one witness does with the calls of each kind that it was asked about."""
    valid = counts["valid"]
    said = [f"computes {valid['answered']} of {valid.total()} valid"]
    said += [f"{valid[each]} {each}" for each in _OTHERWISE if valid[each]]
    for kind, name in (("errors", "errors"), ("undefined", "others")):
        refused = sum(counts[kind][each] for each in REFUSING)
        said.append(f"rejects {refused} of {counts[kind].total()} {name}")
    return ", ".join(said)


def _group(group: RefusalGroup) -> Iterator[str]:
    known = "unexplained" if group.explanation is None else f"explained: {group.explanation.id}"
    if isinstance(group.explanation, Refusable):
        known = f"left open: {group.explanation.id}"
    said = shorten(group.message) or "(it says nothing)"
    yield f"  {group.witness}: {plural(len(group.calls), 'valid call')} {group.reaction} ({known}): {said}"
    if group.explanation is None:
        yield f"    for example {describe(group.calls[0])[:_LONGEST_CALL]}"


def _answered(answered: AnsweredErrors) -> Iterator[str]:
    known = f"explained: {answered.explanation.id}" if answered.explanation is not None else "unexplained"
    count = plural(len(answered.calls), "call")
    yield f"  nobody rejects {count} that break {answered.rule}, an error by the text ({known})"
    if answered.explanation is None:
        yield f"    for example {describe(answered.calls[0])[:_LONGEST_CALL]}"


def _conclusion(table: TruthTable) -> str:
    if not table.unexplained:
        asked = table.counts.keys() - IN_PROCESS or not table.calls.errors
        return "nothing is unexplained" + ("" if asked else "; whether errors are rejected, runtimes say")
    waiting = plural(table.unexplained, "call")
    return f"{waiting} unexplained: mend the declaration, or say why in disagreements.yaml of its room"
