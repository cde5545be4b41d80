"""Write the report of one run, or of several side by side."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.judging.verdicts import NOT_JUDGED
from opcert.commands import shared_options
from opcert.commands.output_locks import lock_folder
from opcert.commands.terminal import note, say
from opcert.vocabulary.errors import ExitCode, NothingRan, Place, UserError
from opcert.vocabulary.harmless import one_line
from reports.formats import list_formats

if TYPE_CHECKING:
    from conformance.recording.records import Record
    from conformance.suite.suites import Suite
    from reports.results.case_results import Grouping, Results


SIDE_BY_SIDE = Path("out/side-by-side")
_LONGEST = 2_000


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@shared_options.suite_that_was_run
@shared_options.specs
@click.option(
    "--profile",
    "profile_name",
    help="Say which failing cases this profile waives: a name, or a YAML file.",
)
@click.option(
    "--baseline",
    "baseline_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Say which failing cases are known to this file of known failures.",
)
@click.option(
    "--by",
    "grouping",
    type=click.Choice(["cause", "operator", "case"]),
    default="case",
    show_default=True,
    help="What one test stands for in JUnit.",
)
@shared_options.known
@shared_options.beside
@click.option(
    "--documents",
    "documents",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A folder of the documents that the suite was made from: HTML then quotes their passages.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help=f"A folder; default: the folder of the run, of several {SIDE_BY_SIDE}.",
)
@shared_options.formats(list_formats(), "html")
def command(
    runs: tuple[Path, ...],
    suite: str,
    folders: tuple[Path, ...],
    profile_name: str | None,
    baseline_path: Path | None,
    grouping: Grouping,
    known_files: tuple[Path, ...],
    beside_paths: tuple[Path, ...],
    documents: Path | None,
    output: Path | None,
    formats: tuple[str, ...],
) -> int:
    """Write the report of one RUN, or of several side by side.

    A RUN is a record that `opcert run` wrote. Where one of several is of a part of the suite (as of `opcert
    run -k`), the report shows that part of all of them. The HTML report is one page for all runs; a format
    that holds one run gets a folder for each where there are several. Waivers and known failures are said
    beside the cases in HTML; they change no verdict. The exit code is 5 where nothing ran.
    """
    # Imported here, so that --help does not wait for them.
    from conformance.recording.records import read_record
    from opcert.commands.cause_finding import with_known_causes, with_others
    from opcert.commands.met_arithmetics import with_met_arithmetics
    from opcert.commands.operator_facts import with_operator_facts
    from opcert.commands.profile_argument import demanded_profile
    from opcert.commands.suite_argument import suite_name_for_commands
    from reports.formats import write_together
    from reports.gates.baseline import excuse, read_baseline
    from reports.results.case_results import put_together

    profile = demanded_profile(profile_name, folders)
    baseline = read_baseline(baseline_path) if baseline_path is not None else None
    records = [read_record(path) for path in runs]
    folder = output or (records[0].path.parent if len(records) == 1 else SIDE_BY_SIDE)
    lock_folder(folder, "the report")
    opened, records = _of_one_suite(records, suite, folders)
    with opened:
        named = suite_name_for_commands(suite, opened, folders)
        found = []
        for record in records:
            results = with_operator_facts(put_together(opened, record, named), folders)
            results = with_met_arithmetics(results, folders) if "html" in formats else results
            results = with_others(with_known_causes(results, folders, known_files), beside_paths)
            found.append(excuse(replace(results, grouping=grouping), profile, baseline))
        found = _with_further_facts(found, opened, documents, formats)
        for name in formats:
            for path in write_together(name, found, folder):
                say(str(path))
    return _answer(found)


def _of_one_suite(records: list[Record], name: str, folders: tuple[Path, ...]) -> tuple[Suite, list[Record]]:
    """The suite of the records; of several suites that which is a part of the others, and the same of each.

    Raises UserError where none of them is: nothing says then that two cases of one id ask the same.
    """
    from conformance.suite.suites import open_suite
    from opcert.commands.suite_argument import suite_of_record
    from opcert.vocabulary.names import DEFAULT_SUITE
    from reports.overview.headline import runtime_label
    from reports.results.case_results import within
    from reports.text.phrasing import count, plural

    first = {str(record.header.get("suite")): record for record in reversed(records)}
    if len(first) == 1:
        return suite_of_record(records[0], name, folders), records
    with ExitStack() as stack:
        opened: dict[str, Suite] = {}
        for digest, record in first.items():
            suite = suite_of_record(record, name, folders)
            if suite.digest != digest:
                suite.close()
                suite = suite_of_record(record, DEFAULT_SUITE, folders)
            opened[digest] = stack.enter_context(suite)
            if suite.digest != digest:
                # As of `opcert run -k` in another version of opcert, which makes other cases.
                raise UserError(
                    "the suite of a record is not kept here, and what is made in its place is another",
                    got=f"the digest {digest[:12]}, not {suite.digest[:12]}",
                    where=Place(str(record.path)),
                    remedy="Run it again with this version of opcert, or report its record alone with -s.",
                )
        least = min(opened.values(), key=lambda suite: len(suite.case_ids))
        wanted = least.part_digests().items()
        for digest, suite in opened.items():
            if not wanted <= suite.part_digests().items():
                raise UserError(
                    "the records are of suites of which none is a part of the others, with the same cases",
                    got=f"the suites {least.digest[:12]} and {digest[:12]}",
                    where=Place(str(first[digest].path)),
                    remedy="Run both on one suite, or compare two records with `opcert compare --common`.",
                )
        for record in records:
            own, total = opened[str(record.header.get("suite"))], len(least.case_ids)
            if own is not least:
                told = f"{count(total)} of the {plural(len(own.case_ids), 'case')} of its suite"
                label = one_line(runtime_label(record), _LONGEST)
                note(f"{label}: the report shows {told}, which all runs have")
        return open_suite(least.path), [within(record, least) for record in records]


def _with_further_facts(
    found: Sequence[Results], suite: Suite, documents: Path | None, formats: Sequence[str]
) -> list[Results]:
    """The results with the texts of their documents, and with whose suite it is where a badge says that."""
    from opcert.commands.suite_standing import find_standing
    from reports.results.document_texts import find_documents
    from reports.results.told_facts import documents_of

    more: dict[str, Any] = {}
    if documents is not None:
        more["texts"] = find_documents(documents, documents_of(found[0]))
    if "badge" in formats:
        more["standing"] = find_standing(suite)
    return [replace(results, **more) for results in found]


def _answer(found: Sequence[Results]) -> ExitCode:
    """Say what is amiss with the runs; raises NothingRan where nothing ran in one."""
    from reports.overview.headline import list_warnings, runtime_label

    for results in found:
        for warning in list_warnings(results):
            note(one_line(f"{runtime_label(results.record)}: {warning}", _LONGEST))
        if sum(results.counts[verdict] for verdict in NOT_JUDGED) == len(results.cases):
            raise NothingRan("no case of the suite ran", got=str(results.record.path))
    return ExitCode.HOLDS
