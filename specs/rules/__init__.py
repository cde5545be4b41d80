"""The linter's rules on documents: one module for each code of findings, found by its name.

A module `arity_vs_example.py` is about the code `arity-vs-example`. Its docstring's first line says what is
wrong with a document that has it; `SEVERITY` is how serious that is. It finds by one or more of these
functions, each of which yields findings of its own code alone:

- `check(version: Version)`: one operator version on its page, when the page is read;
- `compare(layers: Sequence[Spec])`: the layers of one operator version, when several documents state it;
- `examine(spec: Spec)`: the effective spec, when `opcert lint` is asked about an operator.

A rule stands here that tells something in three documents that it was not written for, or mistakes that are
planted into such. Those that read the files of several versions stand in `specs/declaration_rules`, those
that need the reference in `reference/rules`, in the same form. Codes that only reading itself can tell are
rows of `codes.yaml`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from opcert.vocabulary.yaml_files import load_file
from specs.documents.pages.pages import DocumentPage, Version
from specs.documents.text.documents import Text
from specs.model.spec import Finding, Severity, Spec

_PACKAGES = (__name__, "specs.declaration_rules")


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


@cache
def rules() -> tuple[LintRule, ...]:
    """Every rule on documents, in the order of the codes."""
    packages = (import_module(name) for name in _PACKAGES)
    found = (
        *(rule for package in packages for rule in read_rules(package.__name__, package.__path__)),
        *_told(load_file(Path(__file__).with_name("codes.yaml"))[0].value),
    )
    return tuple(sorted(found, key=lambda each: each.code))


def _told(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[LintRule]:
    """The codes that reading itself tells: severity, meaning and who finds them, without a function."""
    for code, row in rows.items():
        yield LintRule(code, row["meaning"], row["severity"], found_by=row["found_by"])


def read_rules(package: str, folders: Iterable[str]) -> tuple[LintRule, ...]:
    """The rules of a package of modules, in the order of their codes."""
    names = sorted(each.name for each in pkgutil.iter_modules(folders) if not each.ispkg)
    return tuple(_rule(name, import_module(f"{package}.{name}")) for name in names)


def _rule(name: str, module: ModuleType) -> LintRule:
    return LintRule(
        code=name.replace("_", "-"),
        meaning=(module.__doc__ or "").strip().splitlines()[0],
        severity=module.SEVERITY,
        check=getattr(module, "check", None),
        compare=getattr(module, "compare", None),
        examine=getattr(module, "examine", None),
    )


def check_page(text: Text, dialect: str, specs: Sequence[Spec]) -> list[Spec]:
    """The operator versions of a page, what the rules find added to the findings of each."""
    page = DocumentPage(text, dialect, specs)
    checks = [each.check for each in rules() if each.check is not None]
    return [
        _with(version.spec, [found for check in checks for found in check(version)])
        for version in page.versions()
    ]


def compare_layers(layers: Sequence[Spec]) -> list[Finding]:
    """What the rules find between the documents of one operator version; nothing where there is one."""
    if len(layers) < 2:
        return []
    compares = [each.compare for each in rules() if each.compare is not None]
    return [found for compare in compares for found in compare(layers)]


def examine_spec(spec: Spec, among: Iterable[LintRule] | None = None) -> list[Finding]:
    """What the rules find in an effective spec."""
    examines = [each.examine for each in (rules() if among is None else among) if each.examine is not None]
    return [found for examine in examines for found in examine(spec)]


def _with(spec: Spec, found: Sequence[Finding]) -> Spec:
    if not found:
        return spec
    merged = list(dict.fromkeys((*spec.findings, *found)))
    merged.sort(key=lambda each: (each.source.line, each.source.column or 0, each.code))
    return replace(spec, findings=tuple(merged))
