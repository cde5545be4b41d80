"""The linter's precision: how many findings of each code a reader found right, in samples of thirty.

Usage: uv run python -m tools.findings [--write] [--unseen [CODE...]] [--keep WRONG...] [FOLDER...]

Lints the documents (by default those of tests/documents) and prints the
table of docs/import-documents.md: for each code its findings, how many were looked at, how many were right.
With --write puts it there. What readers found stands in tests/specs/finding_samples.yaml. With --unseen
prints the findings of the samples that nobody has looked at, each with its digest and the lines around it;
with --keep takes those into the file, wrong where a given digest (or `digest=the reason`) names them, else
right.
"""

from __future__ import annotations

import argparse
import hashlib
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

import reference.rules
from opcert.vocabulary.yaml_files import load_file
from specs.files.spec_folders import OWN_FOLDER
from specs.importing.importing import remembered_assertions
from specs.importing.reading import PROCESSES, Job, find_files, read_jobs
from specs.lint.formats import visible
from specs.lint.linting import Linted, Reported, lint_outcomes
from specs.rules import examine_spec
from tests.documents.gathering import passing_documents

SAMPLE = 30
PAGE = Path(__file__).parents[1] / "docs" / "import-documents.md"
SEVERITIES = ("error", "warning", "hint")
BEGIN, END = "<!-- documents: begin -->", "<!-- documents: end -->"
FILE = Path(__file__).parents[1] / "tests" / "specs" / "finding_samples.yaml"
CONTEXT = 1
WIDTH = 200


@dataclass(frozen=True)
class Look:
    """What a reader found of one finding: where it stands, whether it is right, and why not."""

    at: str
    operator: str
    right: bool
    note: str | None = None


def digest(reported: Reported) -> str:
    """What tells a finding from all others, and stays the same as long as it does."""
    finding = reported.finding
    parts = (finding.code, PurePath(reported.document).name, str(reported.operator), str(finding.source.line),
             str(finding.source.column), finding.message)  # fmt: skip
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def lint_documents(places: Sequence[Path]) -> Linted:
    """The findings of files, and of every document in folders, those included that need the reference."""
    remembered = remembered_assertions(OWN_FOLDER)
    jobs = []
    for path, named in find_files(places):
        asserted = (remembered[path.name],) if path.name in remembered else ()
        jobs.append(Job(path, named, asserted))
    rules = reference.rules.rules()
    return lint_outcomes(read_jobs(jobs, PROCESSES), lambda spec: examine_spec(spec, rules))


def sample(found: Iterable[Reported]) -> Mapping[str, Sequence[Reported]]:
    """The findings of each code that are to be looked at: those with the least digests."""
    by_code: dict[str, dict[str, Reported]] = defaultdict(dict)
    for reported in found:
        by_code[reported.finding.code][digest(reported)] = reported
    return {code: [these[key] for key in sorted(these)[:SAMPLE]] for code, these in sorted(by_code.items())}


def read_looks(path: Path = FILE) -> dict[str, dict[str, Look]]:
    """What readers found, by code and digest."""
    if not path.is_file():
        return {}
    return {
        code: {
            key: Look(look["at"], look["operator"], look["right"], look.get("note"))
            for key, look in looks.items()
        }
        for code, looks in (load_file(path)[0].value or {}).items()
    }


def write_looks(looks: Mapping[str, Mapping[str, Look]], path: Path = FILE) -> None:
    """Write what readers found."""
    lines = ["# What a reader found of the linter's findings: see tools/findings.py."]
    for code, these in sorted(looks.items()):
        lines.append(f"{code}:")
        for key, look in sorted(these.items()):
            note = f", note: {_quoted(look.note)}" if look.note else ""
            right = "true" if look.right else "false"
            place = f"at: {_quoted(look.at)}, operator: {_quoted(look.operator)}"
            lines.append(f"  '{key}': {{{place}, right: {right}{note}}}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def table(found: Sequence[Reported], looks: Mapping[str, Mapping[str, Look]]) -> str:
    """The figures of docs/import-documents.md: every code that the documents have."""
    counts = Counter(reported.finding.code for reported in found)
    severities: dict[str, set[str]] = defaultdict(set)
    for reported in found:
        severities[reported.finding.code].add(reported.finding.severity)
    figures = []
    for code, chosen in sample(found).items():
        known = [looks.get(code, {}).get(digest(reported)) for reported in chosen]
        seen = [look for look in known if look is not None]
        severity = ", ".join(each for each in SEVERITIES if each in severities[code])
        figures.append(Figures(code, severity, counts[code], len(seen), sum(look.right for look in seen)))
    return figures_text(figures)


@dataclass(frozen=True)
class Figures:
    """How many findings a code has, how many of them were looked at, and how many of these were right."""

    code: str
    severity: str
    findings: int
    seen: int
    right: int


def figures_text(figures: Sequence[Figures]) -> str:
    """Codes of which all was right in a line each severity, the others and the sum as a table."""
    lines = ["Of these codes all that was looked at is right (looked at, of how many findings):", ""]
    order = {each.severity: SEVERITIES.index(each.severity.split(",")[0]) for each in figures}
    for severity in sorted(order, key=lambda each: (order[each], each)):
        whole = [each for each in figures if each.severity == severity and each.seen == each.right]
        if whole:
            listed = ", ".join(f"`{each.code}` {each.seen} of {each.findings}" for each in whole)
            lines += textwrap.wrap(
                f"- {severity}: {listed}", 140, subsequent_indent="  ", break_on_hyphens=False
            )
    lines += ["", "| code | severity | findings | looked at | right | precision |",
              "| --- | --- | ---: | ---: | ---: | ---: |"]  # fmt: skip
    findings, seen, right = (
        sum(getattr(each, name) for each in figures) for name in ("findings", "seen", "right")
    )
    rest = [each for each in figures if each.seen != each.right]
    for each in (*rest, Figures("all", "", findings, seen, right)):
        severity = f"{each.severity} |" if each.severity else "|"
        lines.append(
            f"| {each.code} | {severity} {each.findings} | {each.seen} | {each.right} "
            f"| {_percent(each.right, each.seen)} |"
        )
    return "\n".join(lines)


def write_section(begin: str, text: str, end: str) -> None:
    """Put a text between two marks of docs/import-documents.md."""
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    tail = rest.partition(end)[2]
    PAGE.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")


def _percent(part: int, whole: int) -> str:
    """Rounded down, so that only a whole is 100 %."""
    return f"{part * 100 // whole} %" if whole else "-"


def _show(reported: Reported, lines: Sequence[str]) -> str:
    finding = reported.finding
    column = finding.source.column or 0
    parts = [
        f"{digest(reported)} {PurePath(reported.document).name}:{finding.source.line} {finding.severity} "
        f"[{reported.operator}] {finding.message} ({finding.evidence[:WIDTH]})"
    ]
    line = finding.source.line
    around = lines[max(line - 1 - CONTEXT, 0) : line + CONTEXT]
    parts += [f"    | {visible(each[max(column - WIDTH // 2, 0) :][:WIDTH])}" for each in around]
    return "\n".join(parts)


def main() -> None:
    """Print the table, or what is still to be looked at."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--unseen", nargs="*", metavar="CODE")
    parser.add_argument("--keep", nargs="*", metavar="WRONG")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.folders:
        linted = lint_documents(options.folders)
    else:
        with passing_documents() as documents:
            linted = lint_documents([documents.find(".")])
    looks = read_looks()
    unseen = [
        reported
        for code, chosen in sample(linted.found).items()
        for reported in chosen
        if digest(reported) not in looks.get(code, {}) and (not options.unseen or code in options.unseen)
    ]
    if options.keep is not None:
        _keep(unseen, options.keep, looks, linted)
    elif options.unseen is not None:
        for reported in unseen:
            print(f"{reported.finding.code} {_show(reported, linted.texts.get(reported.document, ()))}")
    elif options.write:
        write_section(BEGIN, table(linted.found, looks), END)
    else:
        print(table(linted.found, looks))


def _keep(
    unseen: Iterable[Reported], wrong: Sequence[str], looks: dict[str, dict[str, Look]], linted: Linted
) -> None:
    """Take what was looked at into the file; entries of findings that are made no more are dropped."""
    reasons = {each.partition("=")[0]: each.partition("=")[2] for each in wrong}
    for reported in unseen:
        key = digest(reported)
        reason = next((reasons[start] for start in reasons if key.startswith(start)), None)
        at = f"{PurePath(reported.document).name}:{reported.finding.source.line}"
        looks.setdefault(reported.finding.code, {})[key] = Look(
            at, str(reported.operator), reason is None, reason or None
        )
    made = {digest(reported) for reported in linted.found}
    write_looks(
        {
            code: kept
            for code, these in looks.items()
            if (kept := {key: look for key, look in these.items() if key in made})
        }
    )


if __name__ == "__main__":
    main()
