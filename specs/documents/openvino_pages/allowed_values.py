"""Allowed values of attributes: bullets below a range, or one line that lists them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from opcert.vocabulary.attributes import AttributeKind
from specs.documents.openvino_pages.items import Bullet, KeyedItem
from specs.documents.openvino_pages.tokens import plain
from specs.documents.text.documents import Line

_MARK = "[`*\"']"
_WORD = r"[A-Za-z_][\w.]*"
_ITEM = re.compile(rf"^(?:(?P<open>{_MARK}+)(?P<marked>{_WORD}(?: \({_WORD}\))?){_MARK}+|(?P<bare>{_WORD}))$")
_HEAD = re.compile(
    rf"^(?:{_MARK}+(?P<marked>{_WORD}(?: \({_WORD}\))?){_MARK}+(?:$|[\s:-])"
    rf"|(?P<empty>\"\"|'') ?(?:\(empty string\))?|(?P<bare>{_WORD})(?: or \d+)?\s*(?:$|-\s|:\s))"
)
_INTRODUCTION = re.compile(r"^(?:one of|any combination of|either|a combination of):? ", re.IGNORECASE)
_BOOLEAN = re.compile(r"^(?:an? )?boolean(?: values?)?$", re.IGNORECASE)
_TYPOS = {"true of false": "true or false", "false of true": "false or true"}


@dataclass(frozen=True)
class Listed:
    """Values as they are written, the rule that found them, where they stand, and a slip that was mended."""

    values: tuple[str, ...]
    rule: str
    line: Line
    slip: str | None = None


def list_values(
    bounds: KeyedItem | None, described: KeyedItem | None, kind: AttributeKind | None, boolean: bool
) -> Listed | None:
    """The values that an attribute may take; None where neither bullets nor one line list them.

    Only strings and booleans have such lists; one value alone counts where it stands in a bullet.
    """
    if kind not in ("string", "strings") and not boolean:
        return None
    for part in (bounds, described):
        found = _bulleted(part.bullet.children) if part else None
        if found:
            return found
    return _inline(bounds, boolean) if bounds else None


def _bulleted(bullets: Sequence[Bullet]) -> Listed | None:
    values: list[str] = []
    for bullet in bullets:
        head = _HEAD.match(plain(bullet.lines[0].text))
        if head is None:
            return None
        if head["empty"]:
            values.append("")
        else:
            values += re.findall(_WORD, head["marked"] or head["bare"])
    if not values:
        return None
    return Listed(tuple(dict.fromkeys(values)), "bulleted-list", bullets[0].lines[0])


def _inline(part: KeyedItem, boolean: bool) -> Listed | None:
    text = re.sub(r" ?\([^()]*\)(?=,|$| or\b| and\b)", "", part.text.strip().rstrip("."))
    if boolean and _BOOLEAN.match(text):
        return Listed(("false", "true"), "boolean", part.line)
    slip = text if text.lower() in _TYPOS else None
    text = _INTRODUCTION.sub("", _TYPOS.get(text.lower(), text))
    pieces = [each.strip() for each in re.split(r",|\bor\b|\band\b", text)]
    items = [_ITEM.match(each) for each in pieces if each]
    if len(items) < 2 or not all(items):
        return None
    values = [word for item in items if item for word in re.findall(_WORD, item["marked"] or item["bare"])]
    return Listed(tuple(dict.fromkeys(values)), "inline-list", part.line, slip)


FREE = re.compile(
    r"^(?:(?:any|an?) (?:non-empty )?string|any|.* equation format .*|.*described above.*)$",
    re.IGNORECASE,
)
"""Ranges of strings that leave them free."""
