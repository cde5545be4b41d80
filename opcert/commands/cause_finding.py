"""Puts what is known of causes beside a run: from entries, from other runs, and from experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.judging.kept_diagnosis import FILE, read_diagnosis
from conformance.recording.records import read_record
from opcert.commands.entry_claims import claimed, failures_to_ask_about
from opcert.vocabulary.errors import Place, UserError

if TYPE_CHECKING:
    from conformance.processes.worker_limits import Limits
    from conformance.runtimes.runtimes import Runtime
    from reference.readings.disagreements import Disagreement
    from reports.results.case_results import Results


def with_known_causes(
    results: Results, folders: tuple[Path, ...] = (), files: tuple[Path, ...] = ()
) -> Results:
    """The results with the entries that explain failures of theirs, those of the user's files first,
    those that came with the suite last.

    A wrong answer is explained by what was shown of it: by the recorded answer, or by the runtime when it was
    asked (`diagnosis.json` beside the record).
    Raises UserError, or SeveralErrors with every mistake in a file.
    """
    # Imported here and below: a run in which nothing fails has no use for most of it.
    from generator.exploring.diagnosis.claims import point

    footer = results.record.footer or {}
    pointing = point(results.suite, results.record, known_entries(results, folders, files), folders)
    kept = read_diagnosis(results.record.path.with_name(FILE), results.suite.digest, footer.get("digest"))
    return claimed(results, pointing, () if kept is None else kept.trials, folders)


def known_entries(results: Results, folders: tuple[Path, ...], files: tuple[Path, ...]) -> list[Disagreement]:
    """The entries of the user's files and folders, then those that ship, then those of the suite alone."""
    from reference.readings.disagreements import load_disagreements, parse_disagreements, read_disagreements

    entries = [entry for file in files for entry in read_disagreements(file)]
    entries += [entry for folder in folders for entry in load_disagreements(folder)]
    entries += load_disagreements()
    # Those that are here are newer than what a suite was made with.
    here = {entry.id for entry in entries}
    carried = parse_disagreements(results.suite.known_entries(), results.suite.path)
    return [*entries, *(disagreement for disagreement in carried if disagreement.id not in here)]


def check_named(files: Sequence[Path], paths: Sequence[Path]) -> None:
    """Read files of known causes and records that are named, before anything runs; raises UserError."""
    from reference.readings.disagreements import read_disagreements

    for file in files:
        read_disagreements(file)
    for path in paths:
        read_record(path)


def with_others(results: Results, paths: tuple[Path, ...] = (), kept: Path = Path("out")) -> Results:
    """The results with runs of other runtimes on the same suite: those named, and those kept in `out/`.

    A run of the same runtime that optimises less is there as well.

    Raises UserError where a record that was named cannot be read, or is of another suite.
    """
    from reports.causes.optimisation import OPTION, level_of, optimises_less
    from reports.overview.headline import runtime_label
    from reports.results.others import OtherRun

    own, digest = results.record.path.resolve(), results.suite.digest
    found: dict[str, OtherRun] = {}
    for path in (*paths, *_kept_records(kept, digest)):
        if path.resolve() == own:
            continue
        record = read_record(path)
        if record.header.get("suite") != digest:
            raise UserError(
                "the record beside is of another suite",
                got=str(record.header.get("suite")),
                expected=digest,
                where=Place(str(path)),
            )
        label = runtime_label(record)
        if optimises_less(record, results.record):
            label = f"{label} with {OPTION}={level_of(record)}"
            found.setdefault(label, OtherRun(label, record.verdicts, optimises_less=True))
        elif label != runtime_label(results.record):
            found.setdefault(label, OtherRun(label, record.verdicts))
    return replace(results, others=tuple(found.values()))


def _kept_records(folder: Path, digest: str) -> list[Path]:
    """The records of a suite that runs have left there; what cannot be read is none."""
    found = []
    for path in sorted(folder.glob("*/run.jsonl")):
        try:
            with path.open("rb") as file:
                if digest.encode() in file.readline(1 << 20):
                    found.append(path)
        except OSError:
            continue
    return found


def with_experiments(
    results: Results,
    runtime: Runtime,
    limits: Limits,
    folders: tuple[Path, ...] = (),
    seconds: float | None = None,
    resume: bool = False,
    *,
    files: tuple[Path, ...] = (),
    keep_calls: bool = True,
) -> Results:
    """The results with experiments on the runtime, which `diagnosis.json` beside the record keeps.

    First the entries that may be about wrong answers are tried, then causes are looked for of what none of
    them explains. Without `seconds` this takes at most 30 % of the run's own time and 90 s, and may take 5 s;
    where every cause is told, 10 %. Then the calls that are shown of causes are made smaller, for at most
    45 s. With `keep_calls` those that the same build of the runtime was asked behind earlier runs are not
    asked again, and their seconds count. Where no footer ends the record, nothing fails that they could tell
    of, or the runtime does not start again, there are none. With `resume` those that came to no end go on
    from the calls that the file holds.
    Raises UserError where the file cannot be read or written.
    """
    if results.record.footer is None or (not any(failures_to_ask_about(results)) and not results.suspected):
        return results
    # Imported here: much, and most runs have nothing to ask.
    from opcert.commands.experiments import Experiments

    experiments = Experiments(
        results, runtime, folders, known_entries(results, folders, files), seconds, resume, keep_calls
    )
    return experiments.results_with(limits)
