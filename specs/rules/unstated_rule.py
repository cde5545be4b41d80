"""The text needs a rule that it never states."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents.pages.pages import Version
from specs.model.spec import Finding, Severity, Source, Spec

CODE = "unstated-rule"
SEVERITY: Severity = "warning"
MOST_WORDS = 6

_NEAREST = re.compile(r"\binterpolation modes?\b.{0,200}\bnearest\b", re.IGNORECASE)
_ROUNDING = re.compile(r"\bround|\bfloor, ceil|nearest_mode", re.IGNORECASE)
_AVERAGE = re.compile(r"\bweighted average\b|\binterpolation\b")
_STRINGS = re.compile(r"\bstring (?:tensors?|types?|elements?|data)\b|\b(?:of|for) strings?\b")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each rule that a version lacks: of rounding to the nearest, of averages of strings."""
    spec = version.spec
    whole = "\n".join(passage.text for passage in version.passages.values())
    for about, passage in version.passages.items():
        match = _NEAREST.search(passage.text) if re.search(r"attributes\.mode$", about) else None
        if match and not _ROUNDING.search(whole):
            what = "how nearest rounds a place between two elements"
            yield _finding(passage.source(match.start()), what, f"{about}: {_quote(match[0])}")
            break
    averaged = _find_averaged_words(spec, whole)
    if averaged is not None:
        name, word = averaged
        place = spec.type_constraints[name].origin.sources[0]
        yield _finding(place, f"what the {word} of strings is", f"{name} lets string in")


def _find_averaged_words(spec: Spec, text: str) -> tuple[str, str] | None:
    """A type variable that lets strings in, and the word of the text that computes with its elements."""
    match = _AVERAGE.search(text)
    if match is None or _STRINGS.search(text):
        return None
    kinds = {each.type for each in spec.inputs} & {each.type for each in spec.outputs}
    for name, constraint in spec.type_constraints.items():
        if name in kinds and "string" in constraint.types:
            return name, match[0]
    return None


def _quote(words: str) -> str:
    """The words that ask for the rule; of many the first and the last."""
    parts = words.split()
    return words if len(parts) <= MOST_WORDS else " ".join([*parts[:3], "...", *parts[-3:]])


def _finding(source: Source, what: str, evidence: str) -> Finding:
    return Finding(CODE, SEVERITY, source, f"the text does not say {what}", evidence, "noted")
