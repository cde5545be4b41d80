"""Allowed values of an attribute, found in its description; each rule has a name and a confidence."""

from __future__ import annotations

from specs.documents.prose.value_rules import Candidate, candidates, introduced_values, stated_default
from specs.documents.text.documents import Passage
from specs.model.spec import AllowedValues, Origin

ACCEPTED_FROM = 0.75
"""Values below this confidence are proposed; they count when `spec.yaml` confirms them."""


def find_values(
    passage: Passage, name: str, default: object = None, required: bool = False
) -> AllowedValues | None:
    """The values that a description allows its string attribute; None where no rule finds at least two.

    Two rules that disagree leave the first one's answer as a proposal. A `required` attribute has no default
    that could speak for its values; there a list that the text closes counts instead.
    """
    found = [each for each in candidates(passage.text, name) if len(set(each.values)) >= 2]
    if not found:
        return None
    first = found[0]
    stated = stated_default(passage.text, first) if default is None else default
    confidence = _confidence(first, stated, required)
    agreed = all(set(each.values) <= set(first.values) for each in found)
    origin = Origin("imported", (passage.source(first.offset),), rule=first.rule, confidence=confidence)
    proposed = confidence < ACCEPTED_FROM or not agreed
    return AllowedValues(first.values, first.rule, confidence, proposed, origin)


def marked_default(passage: Passage) -> tuple[str, int] | None:
    """The value that a list of values marks with "(default)", and its offset."""
    for each in introduced_values(passage.text):
        if each.default is not None:
            return each.default, passage.text.find(each.default, each.offset)
    return None


def _confidence(found: Candidate, default: object, required: bool) -> float:
    confidence = 0.5
    if default is not None:
        confidence += 0.25 if default in found.values else -0.2
    elif required and found.closed:
        confidence += 0.25
    if found.count == len(found.values):
        confidence += 0.25
    return min(confidence, 1.0)
