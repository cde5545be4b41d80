"""Default values that a description states in words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from specs.documents.prose.described_values import marked_default
from specs.documents.text.documents import Passage
from specs.model.spec import Origin

_STATED = re.compile(
    r"(?:\b[Tt]he default(?: value)? is|\bDefault(?: value)? is|\bby default it is|\b[Dd]efaults? to) "
    r"(?P<value>``[^`]*``|`[^`]*`|\"[^\"]*\"|'[^']*'|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?f?|[A-Za-z_]\w*)"
)
_FORMULA = re.compile(r" ?(?:[/*^]|[-+] ?\w)")
"""What goes on behind a number that is the beginning of a formula: 1/sqrt(n)."""
_NUMBER = re.compile(r"^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?f?$")


@dataclass(frozen=True)
class FoundDefault:
    """A default: its value and origin; `undecodable` is the text that stands where a value should."""

    value: Any
    origin: Origin | None
    undecodable: str | None = None
    offset: int = 0


def find_default(passage: Passage) -> FoundDefault | None:
    """The default that a passage states; None where it states none."""
    undecodable: FoundDefault | None = None
    for match in _STATED.finditer(passage.text):
        raw = match["value"]
        bare = raw.strip("`\"'")
        if not re.search(r"\w", bare):
            undecodable = FoundDefault(None, None, raw, match.start("value"))
            continue
        if not raw.startswith(("`", '"', "'")) and not _NUMBER.match(bare.rstrip(".")):
            continue
        if _FORMULA.match(passage.text, match.end()):
            continue
        origin = Origin("imported", (passage.source(match.start("value")),), None, "stated-default", 1.0)
        return FoundDefault(_decode(bare), origin, None, match.start("value"))
    marked = marked_default(passage)
    if marked is not None:
        value, offset = marked
        origin = Origin("imported", (passage.source(offset),), None, "marked-default", 1.0)
        return FoundDefault(value, origin, undecodable.undecodable if undecodable else None, offset)
    return undecodable


def _decode(text: str) -> Any:
    text = text.rstrip(".") if _NUMBER.match(text.rstrip(".")) and text.endswith(".") else text
    if not _NUMBER.match(text):
        return text
    text = text.rstrip("f")
    return int(text) if re.fullmatch(r"[-+]?[0-9]+", text) else float(text)
