"""What `opcert import` prints of documents, and packages, that contradict each other."""

from __future__ import annotations

from collections import Counter

from opcert.commands.terminal import say
from reports.text.phrasing import plural
from specs.files.layers import merge_layers
from specs.importing.importing import Import
from specs.lint.linting import with_key
from specs.model.facts import place
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
    keyed = [with_key(each, f"d{number}") for number, each in enumerate(layers, 1)]
    merged = merge_layers(keyed)
    own = Counter(finding for each in keyed for finding in each.findings)
    more = Counter(merged.findings) - own
    return [(merged, finding) for finding in dict.fromkeys(merged.findings) if more[finding]]
