"""The formulas of one page index the same array by two different letters."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from specs.model import Finding, Severity, Source
from specs.pages import Version

CODE = "index-mismatch"
SEVERITY: Severity = "warning"


def check(version: Version) -> Iterator[Finding]:
    """One finding for each further letter that indexes an array of the formulas."""
    used: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    places: dict[tuple[str, str], Source] = {}
    for formula in version.spec.formulas:
        for name, index in re.findall(r"\b(\w+)\[([a-z])\]", f"{formula.name} = {formula.text}"):
            source = formula.origin.sources[0]
            used[name][index].append(source.line)
            places.setdefault((name, index), source)
    for name, indexes in used.items():
        first, *others = indexes
        for other in others:
            yield Finding(
                CODE,
                SEVERITY,
                places[(name, other)],
                f"the formulas index {name} by {first} in one place and by {other} in another",
                f"{name}[{first}] at lines {_listed(indexes[first])}, "
                f"{name}[{other}] at lines {_listed(indexes[other])}",
                "noted",
            )


def _listed(lines: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(set(lines))))
