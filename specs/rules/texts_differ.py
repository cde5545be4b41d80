"""Two documents of one operator version describe one thing in different words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from specs.model.spec import Finding, Prose, Severity, Spec

CODE = "texts-differ"
SEVERITY: Severity = "hint"


def compare(layers: Sequence[Spec]) -> Iterator[Finding]:
    """One finding for each passage of ONNX pages that two documents have otherwise.

    Passages in which a formula is another are left to `formulas-disagree`. The documents of other families
    mark and wrap their text in ways that the digests of passages do not see through.
    """
    pages = [each for each in layers if each.documents[0].dialect.startswith("onnx")]
    for first, second in combinations(pages, 2):
        others = {each.about: each for each in second.prose}
        known = {(each.name, each.when, each.text) for each in second.formulas}
        for mine in first.prose:
            other = others.get(mine.about)
            if other is None or other.sha256 == mine.sha256 or _has_other_formula(first, mine, known):
                continue
            file = second.documents[0].file
            yield Finding(
                CODE,
                SEVERITY,
                mine.source,
                f"the text about {mine.about} is not the one of {file}",
                f"{mine.lines} lines here; {other.lines} lines from line {other.source.line} of {file}",
                "noted",
            )


def _has_other_formula(layer: Spec, passage: Prose, known: set[tuple[str, str | None, str]]) -> bool:
    first, last = passage.source.line, passage.source.line + passage.lines - 1
    return any(
        (each.name, each.when, each.text) not in known and first <= each.origin.sources[0].line <= last
        for each in layer.formulas
    )
