"""The linter's rules on documents: a function for each code of findings, found by its name.

A rule `example_vs_types` is about the code `example-vs-types`. The first line of its docstring says what is
wrong with a document that has it; its decorator says how serious that is and what the rule is given:

- `check`: one operator version on its page (`Version`), when the page is read; where `dialects` are named,
  those of their pages alone;
- `compare`: the layers of one operator version (`Sequence[Spec]`), when several documents state it;
- `examine`: the effective spec (`Spec`), when `opcert lint` is asked about an operator.

A rule stands here that tells something in three documents that it was not written for, or mistakes that are
planted into such, in the module of what it is about. Those that read the files of several versions stand in
`specs/declaration_rules`, those that need the reference in `reference/rules`, in the same form. Codes that
only reading itself can tell are rows of `codes.yaml`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from opcert.vocabulary.yaml_files import load_file
from specs.documents.pages.pages import DocumentPage, Version
from specs.documents.text.documents import Text
from specs.model.spec import Action, Finding, Severity, Source, Spec

_PACKAGES = (__name__, "specs.declaration_rules")
Subject = TypeVar("Subject")


@dataclass(frozen=True)
class LintRule:
    """One code: what it means, how serious it is, and the functions that find it (None where it has none)."""

    code: str
    meaning: str
    severity: Severity
    check: Callable[[Version], Iterable[Finding]] | None = None
    compare: Callable[[Sequence[Spec]], Iterable[Finding]] | None = None
    examine: Callable[[Spec], Iterable[Finding]] | None = None
    found_by: str | None = None
    """The package, or the file, that finds a code which no rule looks for."""
    convention: bool = False
    """Whether it tells of a convention of a house, or of what importers leave unread on pages that are right:
    `opcert lint` writes one line of it for all places.
    """


@dataclass(frozen=True)
class Told:
    """What a rule tells: the place, what is wrong there, the evidence; a severity where it has its own."""

    source: Source
    message: str
    evidence: str
    action: Action = "noted"
    severity: Severity | None = None


def check(
    severity: Severity, dialects: tuple[str, ...] = ("",), convention: bool = False
) -> Callable[[Callable[[Version], Iterable[Told]]], LintRule]:
    """Make a function a rule on operator versions of pages whose dialects begin so."""

    def make(tell: Callable[[Version], Iterable[Told]]) -> LintRule:
        find = _finder(tell, severity)
        return LintRule(
            *_code_and_meaning(tell),
            severity,
            check=lambda version: find(version) if version.page.dialect.startswith(dialects) else (),
            convention=convention,
        )

    return make


def compare(severity: Severity) -> Callable[[Callable[[Sequence[Spec]], Iterable[Told]]], LintRule]:
    """Make a function a rule on the layers of one operator version."""
    return lambda tell: LintRule(*_code_and_meaning(tell), severity, compare=_finder(tell, severity))


def examine(severity: Severity) -> Callable[[Callable[[Spec], Iterable[Told]]], LintRule]:
    """Make a function a rule on the effective spec."""
    return lambda tell: LintRule(*_code_and_meaning(tell), severity, examine=_finder(tell, severity))


def _code_and_meaning(tell: Callable[..., Any]) -> tuple[str, str]:
    return tell.__name__.replace("_", "-"), (tell.__doc__ or "").strip().splitlines()[0]


def _finder(
    tell: Callable[[Subject], Iterable[Told]], severity: Severity
) -> Callable[[Subject], Iterator[Finding]]:
    code, _ = _code_and_meaning(tell)

    def find(subject: Subject) -> Iterator[Finding]:
        for told in tell(subject):
            yield Finding(
                code, told.severity or severity, told.source, told.message, told.evidence, told.action
            )

    return find


@cache
def rules() -> tuple[LintRule, ...]:
    """Every rule on documents, in the order of the codes."""
    found = [rule for package in _PACKAGES for rule in read_rules(package)]
    for code, row in load_file(Path(__file__).with_name("codes.yaml"))[0].value.items():
        told = row.get("convention", False)
        found.append(
            LintRule(code, row["meaning"], row["severity"], found_by=row["found_by"], convention=told)
        )
    return tuple(sorted(found, key=lambda rule: rule.code))


def read_rules(package: str) -> tuple[LintRule, ...]:
    """The rules that the modules of a package define, in the order of their codes."""
    names = [module.name for module in pkgutil.iter_modules(import_module(package).__path__)]
    found = [vars(import_module(f"{package}.{name}")).values() for name in names]
    listed = (value for values in found for value in values if isinstance(value, LintRule))
    return tuple(sorted(listed, key=lambda rule: rule.code))


def check_page(text: Text, dialect: str, specs: Sequence[Spec]) -> list[Spec]:
    """The operator versions of a page, what the rules find added to the findings of each."""
    page = DocumentPage(text, dialect, specs)
    checks = [rule.check for rule in rules() if rule.check is not None]
    checked = []
    for version in page.versions():
        spec = version.spec
        found = [finding for check in checks for finding in check(version)]
        checked.append(spec.with_findings(dict.fromkeys((*spec.findings, *found))) if found else spec)
    return checked


def compare_layers(layers: Sequence[Spec]) -> list[Finding]:
    """What the rules find between the documents of one operator version; nothing where there is one."""
    if len(layers) < 2:
        return []
    compares = [rule.compare for rule in rules() if rule.compare is not None]
    return [found for compare in compares for found in compare(layers)]


def examine_spec(spec: Spec, among: Iterable[LintRule] | None = None) -> list[Finding]:
    """What the rules find in an effective spec."""
    examines = [rule.examine for rule in (rules() if among is None else among) if rule.examine is not None]
    return [found for examine in examines for found in examine(spec)]
