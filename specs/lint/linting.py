"""Linting: the findings of documents and of specs that exist, and which of them are accepted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from opcert.vocabulary.names import OperatorName
from specs.files.layers import merge_layers
from specs.files.library import load_spec
from specs.importing.reading import ReadingOutcome
from specs.lint.acceptances import Acceptances
from specs.model.spec import Finding, Source, Spec
from specs.rules import LintRule, examine_spec, rules

Examine = Callable[[Spec], Iterable[Finding]]
Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Reported:
    """A finding with the document that it is about (a path, or a name), and why it is accepted, if it is."""

    finding: Finding
    document: str
    operator: OperatorName | None
    accepted: str | None = None


@dataclass
class Linted:
    """What linting found, what was linted, the lines of the documents at hand, what could not be read."""

    found: list[Reported] = field(default_factory=list)
    subjects: list[tuple[str, OperatorName | None]] = field(default_factory=list)
    texts: dict[str, Sequence[str]] = field(default_factory=dict)
    unread: list[tuple[str, str]] = field(default_factory=list)
    rules: Sequence[LintRule] = field(default_factory=rules)
    """The rules that were applied: those on documents, and those that the caller added."""

    @property
    def errors(self) -> int:
        """How many errors are not accepted."""
        return sum(each.finding.severity == "error" and each.accepted is None for each in self.found)


def lint_outcomes(outcomes: Sequence[ReadingOutcome], examine: Examine) -> Linted:
    """The findings of documents: of each alone, between them, and what `examine` says of their specs."""
    linted = Linted()
    layers: dict[OperatorName, list[tuple[str, Spec]]] = {}
    for outcome in outcomes:
        if outcome.text is None:
            linted.unread.append((str(outcome.job.path), outcome.error.problem if outcome.error else ""))
            continue
        path = str(outcome.job.path)
        linted.texts[path] = outcome.text.content.split("\n")
        for layer in outcome.layers:
            linted.subjects.append((path, layer.operator))
            layers.setdefault(layer.operator, []).append((path, layer))
    for operator, stated in sorted(layers.items()):
        linted.found += _of_layers(operator, stated, examine)
    linted.found = _sorted(linted.found)
    return linted


def _of_layers(
    operator: OperatorName, stated: Sequence[tuple[str, Spec]], examine: Examine
) -> list[Reported]:
    if len(stated) == 1:
        path, spec = stated[0]
        findings = dict.fromkeys((*spec.findings, *examine_spec(spec), *examine(spec)))
        return [Reported(each, path, operator) for each in findings]
    spec = merge_layers([with_key(layer, path) for path, layer in stated])
    findings = dict.fromkeys((*spec.findings, *examine_spec(spec), *examine(spec)))
    return [Reported(each, each.source.document, operator) for each in findings]


def lint_operators(names: Iterable[OperatorName], folders: Sequence[Path], examine: Examine) -> Linted:
    """The findings of specs: what their files hold, and what the rules say of the effective spec."""
    linted = Linted()
    for name in names:
        spec = load_spec(name, folders)
        files = {each.key: each.file for each in spec.documents}
        linted.subjects += [(file, name) for file in files.values()]
        for each in dict.fromkeys((*spec.findings, *examine_spec(spec), *examine(spec))):
            linted.found.append(Reported(each, files.get(each.source.document, str(name)), name))
    linted.found = _sorted(linted.found)
    return linted


def accept(linted: Linted, acceptances: Acceptances) -> Linted:
    """The same, each finding that an entry fits accepted by its reason; stale entries are findings."""
    used = set()
    found = []
    for each in linted.found:
        reason = acceptances.reason(each.finding, each.document, each.operator)
        if reason is not None:
            used.add(reason[0])
            each = replace(each, accepted=reason[1])
        found.append(each)
    for stale in acceptances.stale(used, linted.subjects):
        finding = Finding(
            "stale-acceptance",
            "warning",
            Source(acceptances.file, stale.line),
            f"the entry accepts {', '.join(stale.entry.code)}, and nothing that was linted has it",
            f"its reason: {stale.entry.reason}",
            "noted",
        )
        found.append(Reported(finding, acceptances.file, None))
    return replace(linted, found=found)


def join(parts: Sequence[Linted]) -> Linted:
    """Several results as one."""
    joined = Linted()
    for each in parts:
        joined.found += each.found
        joined.subjects += each.subjects
        joined.texts.update(each.texts)
        joined.unread += each.unread
    return joined


def _sorted(found: Iterable[Reported]) -> list[Reported]:
    return sorted(
        found,
        key=lambda each: (
            each.document,
            each.finding.source.line,
            each.finding.source.column or 0,
            each.finding.code,
            str(each.operator),
        ),
    )


def with_key(value: Kept, key: str) -> Kept:
    """The same facts with every place under another document key."""
    result: Any = value
    if isinstance(value, Source):
        result = replace(value, document=key)
    elif isinstance(value, tuple):
        result = tuple(with_key(each, key) for each in value)
    elif isinstance(value, Mapping):
        result = {name: with_key(each, key) for name, each in value.items()}
    elif is_dataclass(value) and not isinstance(value, type | OperatorName):
        changed = {each.name: with_key(getattr(value, each.name), key) for each in fields(value)}
        if isinstance(value, Spec):
            changed["documents"] = tuple(replace(each, key=key) for each in value.documents)
        result = replace(value, **changed)
    kept: Kept = result
    return kept
