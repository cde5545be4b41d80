"""Why nothing is known of a call, one sentence for each reason."""

from __future__ import annotations

from collections.abc import Mapping

REASONS: Mapping[str, str] = {
    "unknown": "the model names no operator version that there is",
    "unspecified": "no declaration speaks of the operator",
    "no_reference": "no reference says what is right",
    "unread": "an attribute of the node could not be read",
    "no_tensors": "what it takes or gives is no tensor",
    "not_valid": "the documents do not allow the node",
    "no_call": "no valid call with what the node says was found",
    "too_costly": "every such call is too large for exact arithmetic",
    "too_slow": "making its cases takes longer than is waited",
    "refused": "the reference defines no result",
    "failed": "cases could not be made, which is a mistake in opcert",
    "random": "nothing but its distribution could be held against a document",
}
"""By the word that programs read."""


def reason_text(word: str, why: str) -> str:
    """The sentence of a reason; of a word that has none, what was said of the call itself."""
    return REASONS.get(word) or why or "nobody said why"
