"""A fact says neither where a document states it nor why it holds."""

from __future__ import annotations

from collections.abc import Iterator

from specs.model.facts import list_facts
from specs.model.spec import Finding, Severity, Source, Spec

CODE = "fact-without-source"
SEVERITY: Severity = "error"


def examine(spec: Spec) -> Iterator[Finding]:
    """One finding for each fact of the effective spec whose origin is empty."""
    for fact in list_facts(spec):
        if not fact.origin.sources and not (fact.origin.why or "").strip():
            yield Finding(
                CODE,
                SEVERITY,
                Source(spec.documents[0].key, 1),
                f"{fact.path} says neither where a document states it nor why it holds",
                f"{fact.path}: {fact.value}",
                "noted",
            )
