"""What `opcert import` prints: what each document gave, each operator version, and what was not read."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from opcert.commands.terminal import draw_table, say
from opcert.vocabulary.names import OperatorName
from reports.text.phrasing import plural
from specs.files.layers import merge_layers
from specs.importing.importing import Import
from specs.lint.linting import with_key
from specs.model.facts import list_facts, place
from specs.model.spec import Finding, Spec

_MOST = 20


def print_contradictions(result: Import, every: bool) -> None:
    """One line for each contradiction, the first of them where they are many; then how many there are."""
    found = [
        (spec, finding)
        for _, layers in sorted(result.layers.items())
        if len(layers) > 1
        for spec, finding in _between(layers)
    ]
    if not found:
        return
    shown = found if every else found[:_MOST]
    for spec, finding in shown:
        say(f"{spec.operator}: {place(spec, finding.source)}: {finding.message} ({finding.evidence})")
    if len(found) > len(shown):
        say(f"... {len(found) - len(shown)} more, which --each shows")
    codes = Counter(finding.code for _, finding in found)
    listed = ", ".join(f"{code} {count}" for code, count in codes.most_common())
    say(f"{plural(len(found), 'contradiction')} between documents: {listed}")


def _between(layers: list[Spec]) -> list[tuple[Spec, Finding]]:
    """The findings that no single document has."""
    # Until they are written, documents share one key; their files tell them apart here.
    keyed = [with_key(layer, f"d{number}") for number, layer in enumerate(layers, 1)]
    merged = merge_layers(keyed)
    own = Counter(finding for spec in keyed for finding in spec.findings)
    more = Counter(merged.findings) - own
    return [(merged, finding) for finding in dict.fromkeys(merged.findings) if more[finding]]


_DOCUMENT_HEADINGS = ("document", "dialect", "operators", "versions", "facts", "examples", "findings")
_VERSION_HEADINGS = (
    "operator", "documents", "facts", "attributes", "inputs", "outputs", "examples", "findings"
)  # fmt: skip
_MOST_VERSIONS = 40
_MOST_DOCUMENTS = 12
_MOST_UNREAD = 20

Row = tuple[str, ...]


def print_tables(result: Import, each_version: bool) -> None:
    """Print the tables; the rows of operator versions only where they are few, or asked for."""
    layers = [layer for found in result.layers.values() for layer in found]
    if each_version or len(result.layers) <= _MOST_VERSIONS:
        _print(_VERSION_HEADINGS, [_version_row(result, name) for name in sorted(result.layers)])
        say()
    _print(_DOCUMENT_HEADINGS, _document_rows(layers))
    _print_findings(layers)
    print_contradictions(result, each_version)
    _print_unread(result)


def _version_row(result: Import, name: OperatorName) -> Row:
    layers = result.layers[name]
    spec = merge_layers(layers)
    counts = (len(layers), len(list_facts(spec)), len(spec.attributes), len(spec.inputs), len(spec.outputs))
    return (str(name), *map(str, counts), _examples([spec]), str(len(spec.findings)))


def _document_rows(layers: Sequence[Spec]) -> list[Row]:
    """A row for each document, or for all of a dialect where they are many; then the sum of several."""
    by_dialect: dict[str, dict[str, list[Spec]]] = {}
    for layer in layers:
        document = layer.documents[0]
        by_dialect.setdefault(document.dialect, {}).setdefault(document.file, []).append(layer)
    rows = []
    for dialect, documents in sorted(by_dialect.items()):
        if len(documents) > _MOST_DOCUMENTS:
            found = [layer for each in documents.values() for layer in each]
            rows.append(_row(plural(len(documents), "document"), dialect, found))
        else:
            rows.extend(_row(file, dialect, found) for file, found in sorted(documents.items()))
    if len(rows) > 1:
        count = sum(map(len, by_dialect.values()))
        rows.append(_row(f"all {count}", "", layers))
    return rows


def _row(what: str, dialect: str, layers: Sequence[Spec]) -> Row:
    versions = {layer.operator for layer in layers}
    operators = {(version.domain, version.name) for version in versions}
    facts = sum(len(list_facts(layer)) for layer in layers)
    findings = sum(len(layer.findings) for layer in layers)
    counts = (len(operators), len(versions), facts)
    return (what, dialect, *map(str, counts), _examples(layers), str(findings))


def _examples(specs: Iterable[Spec]) -> str:
    examples = [example for spec in specs for example in spec.examples]
    return f"{len(examples)} ({sum(example.printed for example in examples)} with outputs)"


def _print_findings(layers: Iterable[Spec]) -> None:
    """The findings by code, those apart that say what was left out of a document."""
    findings = [finding for layer in layers for finding in layer.findings]
    for head, some in (
        ("findings", findings),
        ("rejected in documents", [finding for finding in findings if finding.action == "rejected"]),
    ):
        if some:
            codes = Counter(finding.code for finding in some).most_common()
            say(f"{head}: {', '.join(f'{code} {count}' for code, count in codes)}")


def _print_unread(result: Import) -> None:
    """The files that gave nothing, those of one reason together."""
    reasons: dict[str, list[str]] = {}
    for unread in result.unread:
        reasons.setdefault(unread.reason, []).append(unread.file)
    for reason, files in reasons.items():
        say(f"not read, {reason}:")
        for file in files[:_MOST_UNREAD]:
            say(f"  {file}")
        if len(files) > _MOST_UNREAD:
            say(f"  and {len(files) - _MOST_UNREAD} more")


def _print(headings: Row, rows: Sequence[Row]) -> None:
    if sys.stdout.isatty():
        draw_table(headings, rows)
        return
    widths = [max(len(row[column]) for row in [headings, *rows]) for column in range(len(headings))]
    for row in [headings, *rows]:
        cells = [each.ljust(width) for each, width in zip(row, widths, strict=True)]
        say("  ".join(cells).rstrip())
