"""Names that somebody may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def near_names(text: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Of the known names those that are written most alike, the nearest first; none where none is near."""
    # Imported here, so that who spells rightly does not wait for it.
    from difflib import get_close_matches

    return get_close_matches(text, list(known), n=most, cutoff=0.5)
