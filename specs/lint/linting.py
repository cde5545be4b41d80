"""Linting: the findings of documents and of specs, and what `findings.yaml` says is accepted of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.yaml_files import YamlDocument, load_file
from opcert.vocabulary.yaml_schemas import validate
from specs.files.layers import merge_layers
from specs.files.library import load_spec
from specs.files.schemas import Entry
from specs.importing.reading import ReadingOutcome
from specs.model.spec import Finding, Source, Spec
from specs.rules import LintRule, examine_spec, rules

FILE_NAME = "findings.yaml"


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


Texts = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Lines = Annotated[tuple[int, ...], BeforeValidator(_listed)]


class AcceptanceEntry(Entry):
    """Findings that are accepted: those of a code, in documents and operators that globs fit, at lines.

    `document` fits the document's path or its file name, `message` the finding's message. What is left out
    asks nothing.
    """

    code: Texts
    reason: str = Field(min_length=1)
    document: Texts = ("*",)
    operator: Texts = ("*",)
    message: Texts = ("*",)
    line: Lines = ()

    def names(self, document: str, operator: OperatorName | None) -> bool:
        """Whether it speaks of this document and operator at all."""
        names = (document, PurePath(document).name)
        return any(fnmatchcase(name, glob) for glob in self.document for name in names) and any(
            fnmatchcase(str(operator or ""), glob) for glob in self.operator
        )

    def fits(self, finding: Finding, document: str, operator: OperatorName | None) -> bool:
        """Whether it accepts a finding."""
        return (
            any(fnmatchcase(finding.code, glob) for glob in self.code)
            and self.names(document, operator)
            and (not self.line or finding.source.line in self.line)
            and any(fnmatchcase(finding.message, glob) for glob in self.message)
        )


class AcceptancesFile(Entry):
    """The whole of a `findings.yaml`."""

    accepted: list[AcceptanceEntry] = Field(default_factory=list)


@dataclass(frozen=True)
class AcceptanceAt:
    """An entry and the line in which it stands."""

    entry: AcceptanceEntry
    line: int


@dataclass(frozen=True)
class Acceptances:
    """The entries of a file, in order."""

    file: str
    entries: Sequence[AcceptanceAt] = ()

    def reason(
        self, finding: Finding, document: str, operator: OperatorName | None
    ) -> tuple[int, str] | None:
        """The position and reason of the first entry that accepts a finding; None where none does."""
        for position, entry in enumerate(self.entries):
            if entry.entry.fits(finding, document, operator):
                return position, entry.entry.reason
        return None

    def stale(
        self, used: Iterable[int], linted: Sequence[tuple[str, OperatorName | None]]
    ) -> list[AcceptanceAt]:
        """The entries that speak of something that was linted, and accept nothing in it."""
        positions = set(used)
        return [
            entry
            for position, entry in enumerate(self.entries)
            if position not in positions and any(entry.entry.names(*pair) for pair in linted)
        ]


def read_acceptances(path: Path) -> Acceptances:
    """The entries of a file; raises SeveralErrors with everything that is wrong in it."""
    documents: list[YamlDocument] = load_file(path)
    entries = []
    for document in documents:
        file = validate(AcceptancesFile, document)
        for position, entry in enumerate(file.accepted):
            entries.append(AcceptanceAt(entry, document.place(("accepted", position)).line or 1))
    return Acceptances(str(path), entries)


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
    linted.found += _unknown_versions(outcomes)
    linted.found = _sorted(linted.found)
    return linted


def _of_layers(
    operator: OperatorName, stated: Sequence[tuple[str, Spec]], examine: Examine
) -> list[Reported]:
    if len(stated) == 1:
        path, spec = stated[0]
        findings = dict.fromkeys((*spec.findings, *examine_spec(spec), *examine(spec)))
        return [Reported(finding, path, operator) for finding in findings]
    spec = merge_layers([with_key(layer, path) for path, layer in stated])
    findings = dict.fromkeys((*spec.findings, *examine_spec(spec), *examine(spec)))
    return [Reported(finding, finding.source.document, operator) for finding in findings]


def _unknown_versions(outcomes: Sequence[ReadingOutcome]) -> Iterator[Reported]:
    """Versions of operators that a document with the history of its domain does not have.

    A document is as new as its newest operator: one of before that version says nothing of it.
    """
    known: dict[str, dict[tuple[str, str], set[int]]] = {}
    for outcome in outcomes:
        versions = known.setdefault(str(outcome.job.path), {})
        for layer in outcome.layers:
            name = (layer.operator.domain, layer.operator.name)
            versions.setdefault(name, set()).add(layer.operator.since_version)
    histories = {
        path: versions for path, versions in known.items() if any(len(v) > 1 for v in versions.values())
    }
    for outcome in outcomes:
        path = str(outcome.job.path)
        for layer in outcome.layers if path not in histories else ():
            operator = layer.operator
            for other, versions in histories.items():
                stated = versions.get((operator.domain, operator.name), {operator.since_version})
                newest = max(
                    (max(v) for (domain, _), v in versions.items() if domain == operator.domain), default=0
                )
                if operator.since_version in stated or newest < operator.since_version:
                    continue
                message = (
                    f"the operator is of version {operator.since_version} here, and {other} has no such one"
                )
                evidence = f"it has {', '.join(map(str, sorted(stated)))}"
                place = Source(layer.documents[0].key, _version_line(outcome, layer))
                found = Finding("version-disagrees", "error", place, message, evidence, "noted")
                yield Reported(found, path, operator)


def _version_line(outcome: ReadingOutcome, layer: Spec) -> int:
    """The line that states the version: the last such one above the operator's inputs and outputs."""
    places = [
        parameter.origin.sources[0].line
        for parameter in (*layer.inputs, *layer.outputs)
        if parameter.origin.sources
    ]
    lines = outcome.text.content.split("\n")[: min(places, default=1)] if outcome.text else []
    stated = f"since version {layer.operator.since_version} "
    return next((number for number in range(len(lines), 0, -1) if stated in lines[number - 1]), 1)


def lint_operators(names: Iterable[OperatorName], folders: Sequence[Path], examine: Examine) -> Linted:
    """The findings of specs: what their files hold, and what the rules say of the effective spec."""
    linted = Linted()
    for name in names:
        spec = load_spec(name, folders)
        files = {document.key: document.file for document in spec.documents}
        linted.subjects += [(file, name) for file in files.values()]
        for finding in dict.fromkeys((*spec.findings, *examine_spec(spec), *examine(spec))):
            linted.found.append(Reported(finding, files.get(finding.source.document, str(name)), name))
    linted.found = _sorted(linted.found)
    return linted


def accept(linted: Linted, acceptances: Acceptances) -> Linted:
    """The same, each finding that an entry fits accepted by its reason; stale entries are findings."""
    used = set()
    found = []
    for reported in linted.found:
        reason = acceptances.reason(reported.finding, reported.document, reported.operator)
        if reason is not None:
            used.add(reason[0])
            reported = replace(reported, accepted=reason[1])
        found.append(reported)
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
    for part in parts:
        joined.found += part.found
        joined.subjects += part.subjects
        joined.texts.update(part.texts)
        joined.unread += part.unread
    return joined


def fold_conventions(linted: Linted, asked: Iterable[str] = ()) -> Linted:
    """The same, of each convention of a house only the first place, with the number of the others.

    Codes that were asked for, and findings that are accepted, keep all their places.
    """
    folded = {rule.code for rule in linted.rules if rule.convention} - set(asked)
    of_code: dict[str, list[Reported]] = {}
    for reported in linted.found:
        if reported.finding.code in folded and reported.accepted is None:
            of_code.setdefault(reported.finding.code, []).append(reported)
    found = []
    for reported in linted.found:
        same = of_code.get(reported.finding.code, []) if reported.accepted is None else []
        if len(same) < 2:
            found.append(reported)
        elif reported is same[0]:
            documents = len({other.document for other in same})
            message = f"{reported.finding.message}; {len(same) - 1} more in {documents} documents"
            found.append(replace(reported, finding=replace(reported.finding, message=message)))
    return replace(linted, found=found)


def _sorted(found: Iterable[Reported]) -> list[Reported]:
    return sorted(
        found,
        key=lambda reported: (
            reported.document,
            reported.finding.source.line,
            reported.finding.source.column or 0,
            reported.finding.code,
            str(reported.operator),
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
            changed["documents"] = tuple(replace(document, key=key) for document in value.documents)
        result = replace(value, **changed)
    kept: Kept = result
    return kept
