"""Two documents of one operator version state different formulas for one thing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from specs.model.spec import Finding, Formula, Severity, Spec

CODE = "formulas-disagree"
SEVERITY: Severity = "warning"


def compare(layers: Sequence[Spec]) -> Iterator[Finding]:
    """One finding for each formula that another document has otherwise under the same condition."""
    for first, second in combinations(layers, 2):
        others = _single(second)
        for key, mine in _single(first).items():
            other = others.get(key)
            if other is None or _plain(mine.text) == _plain(other.text):
                continue
            condition = f" where {mine.when}" if mine.when else ""
            file = second.documents[0].file
            yield Finding(
                CODE,
                SEVERITY,
                mine.origin.sources[0],
                f"the formula of {mine.name}{condition} differs from that of {file}",
                f"{mine.text} here; {other.text} in line {other.origin.sources[0].line} of {file}",
                "noted",
            )


def _single(layer: Spec) -> dict[tuple[str, str | None], Formula]:
    """The formulas by name and condition, without those of which a document states several."""
    found: dict[tuple[str, str | None], list[Formula]] = {}
    for each in layer.formulas:
        found.setdefault((each.name, each.when), []).append(each)
    return {key: formulas[0] for key, formulas in found.items() if len(formulas) == 1}


def _plain(text: str) -> str:
    return "".join(text.split())
