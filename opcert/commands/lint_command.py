"""Report what is wrong in operator documents and specs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands import shared_options
from opcert.commands.terminal import say
from opcert.vocabulary.errors import ExitCode, SeveralErrors, UserError, raise_together
from opcert.vocabulary.near_names import near_names

if TYPE_CHECKING:
    from opcert.vocabulary.names import OperatorName
    from specs.importing.reading import ReadingOutcome
    from specs.lint.linting import Acceptances, Linted
    from specs.model.spec import Finding, Spec
    from specs.rules import LintRule

FORMATS = ("text", "json", "sarif")


@click.command(name="lint")
@click.argument("subjects", nargs=-1, metavar="[DOCUMENT|OPERATOR]...")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How findings are written: for people, as JSON, or as SARIF 2.1.0.",
)
@click.option(
    "--findings",
    "acceptances",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Findings that are known and accepted, with reasons; by default findings.yaml of this folder.",
)
@click.option(
    "--code", "codes", multiple=True, metavar="CODE", help="Only findings of this code (repeatable)."
)
@click.option(
    "--operator",
    "assertions",
    multiple=True,
    metavar="FILE=OPERATOR",
    help="The operator that a fragment describes, where it does not say so itself.",
)
@shared_options.dialect
@shared_options.specs
@shared_options.processes
def command(
    subjects: tuple[str, ...],
    form: str,
    acceptances: Path | None,
    codes: tuple[str, ...],
    assertions: tuple[str, ...],
    dialect: str | None,
    folders: tuple[Path, ...],
    processes: int | None,
) -> int:
    """Print the findings of documents (files, folders, patterns) and of operators whose specs exist.

    Without arguments, of every operator that ships with opcert. Exit code 1 where an error is found that
    findings.yaml does not accept.
    """
    from specs.files.spec_folders import list_operators
    from specs.lint import linting
    from specs.lint.formats import FORMATS as WRITERS

    known = _known(acceptances)
    wanted = _check_codes(codes)
    documents, names = _sort(subjects, folders)
    parts: list[Linted] = []
    if documents:
        parts.append(linting.lint_outcomes(_read(documents, assertions, dialect, processes), _examine))
    if names or not subjects:
        chosen = names or list_operators(folders)
        parts.append(linting.lint_operators(chosen, folders, _examine))
        if folders:
            _check_declarations(chosen, folders)
    linted = linting.accept(linting.join(parts), known)
    linted.rules = _all_rules()
    linted.found = [each for each in linted.found if not wanted or each.finding.code in wanted]
    linted = linting.fold_conventions(linted, wanted)
    say(WRITERS[form](linted), end=False)
    for path_text, reason in linted.unread:
        say(f"not read: {path_text}: {reason}", error=True)
    if not linted.subjects:
        return int(ExitCode.NOTHING_RAN)
    return int(ExitCode.DOES_NOT_HOLD if linted.errors else ExitCode.HOLDS)


def _known(acceptances: Path | None) -> Acceptances:
    """The findings that are accepted: in the file that is named, or in that of this folder."""
    from specs.lint.linting import FILE_NAME, Acceptances, read_acceptances

    if acceptances or Path(FILE_NAME).is_file():
        return read_acceptances(acceptances or Path(FILE_NAME))
    return Acceptances(FILE_NAME)


def _read(
    documents: Sequence[Path], assertions: Sequence[str], dialect: str | None, processes: int | None
) -> Sequence[ReadingOutcome]:
    """Read documents; raises UserError where one that was named is no page of an operator."""
    from opcert.commands.command_progress import import_progress
    from specs.files.spec_folders import OWN_FOLDER
    from specs.importing import importing, reading

    asserted = [importing.Assertion.parse(text) for text in assertions]
    jobs = importing.jobs_of(documents, asserted, dialect, importing.remembered_assertions(OWN_FOLDER))
    with import_progress() as progress:
        outcomes = reading.read_jobs(jobs, processes or reading.PROCESSES, progress)
    errors = [outcome.error for outcome in outcomes if outcome.error is not None and outcome.job.named]
    raise_together(errors)
    return outcomes


def _examine(spec: Spec) -> Iterable[Finding]:
    """What the rules that need the reference find."""
    from reference.rules import rules
    from specs.rules import examine_spec

    return examine_spec(spec, rules())


def _all_rules() -> tuple[LintRule, ...]:
    import reference.rules
    import specs.rules

    return (*specs.rules.rules(), *reference.rules.rules())


def _check_codes(codes: Sequence[str]) -> frozenset[str]:
    known = {rule.code for rule in _all_rules()}
    for code in codes:
        if code not in known:
            near = near_names(code, sorted(known))
            raise UserError(
                "no such code", got=repr(code), expected=" or ".join(near) or "a code of findings"
            )
    return frozenset(codes)


def _sort(subjects: Sequence[str], folders: Sequence[Path]) -> tuple[list[Path], list[OperatorName]]:
    """What was named, as documents and operators: what exists as a file, or looks like one, is a document."""
    import glob

    from specs.files.spec_folders import find_operator_name

    documents: list[Path] = []
    names: list[OperatorName] = []
    for subject in subjects:
        path = Path(subject)
        if path.exists() or glob.has_magic(subject) or path.suffix in (".md", ".rst", ".txt", ".html"):
            documents.append(path)
        else:
            try:
                names.append(find_operator_name(subject, folders))
            except UserError as error:
                error.remedy = error.remedy or "There is no file of this name, either."
                raise
    return documents, names


def _check_declarations(operators: Iterable[OperatorName], folders: Sequence[Path]) -> None:
    """Raise the mistakes in the declarations that folders hold, all together; those that ship are tested.

    They are those that a spec alone does not show: kinds, names, circles.
    """
    from generator.asking.named_operators import calls_are_declared
    from generator.calls.declared.modelled import declaration_ships
    from generator.calls.space.space import open_space
    from specs.files.declarations import find_declaration
    from specs.files.library import load_spec

    errors: list[UserError] = []
    for operator in operators:
        if find_declaration(operator, folders) is None or declaration_ships(operator, folders):
            continue
        spec = load_spec(operator, folders)
        try:
            if calls_are_declared(spec):
                open_space(spec)
        except SeveralErrors as several:
            errors += several.errors
        except UserError as error:
            errors.append(error)
    # One declaration speaks of several versions, each of which has the mistake.
    raise_together(list({str(error): error for error in errors}.values()))
