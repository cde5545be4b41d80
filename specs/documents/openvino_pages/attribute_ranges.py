"""The range of an attribute: bounds or allowed values, and whether its default lies inside of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from opcert.vocabulary.attributes import AttributeKind
from specs.documents.openvino_pages.attribute_words import Stated, StatedRange, read_bounds
from specs.documents.openvino_pages.items import Bullet, KeyedItem, Notes
from specs.documents.openvino_pages.tokens import bare, plain
from specs.documents.text.documents import Line
from specs.model.spec import AllowedValues, Origin

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
    r"^(?:(?:any|an?) (?:non-empty )?string|any|.* equation format .*|.*described above.*)$", re.IGNORECASE
)
"""Ranges of strings that leave them free."""


_SURE, _DOUBTFUL = 1.0, 0.7
_TRUTH: dict[str, int] = {"true": 1, "false": 0}


@dataclass(frozen=True)
class RangeReader:
    """Reads ranges, and notes those that it does not understand."""

    notes: Notes

    def read(
        self, name: str, bullet: Bullet, kind: AttributeKind | None, boolean: bool
    ) -> tuple[StatedRange, AllowedValues | None]:
        part, described = bullet.part("range of values"), bullet.part("description")
        listed = list_values(part, described, kind, boolean)
        if listed is not None:
            if listed.slip:
                message = f"the range of {name} is misspelt"
                self.notes.find("text-slip", "hint", listed.line, message, listed.slip, "repaired")
            values: tuple[str | int | float, ...] = listed.values
            if boolean:
                values = tuple(sorted(_TRUTH.get(each.lower(), -1) for each in listed.values))
            sure = not boolean or set(values) == {0, 1}
            origin = Origin(
                "imported", (listed.line.source(),), None, listed.rule, _SURE if sure else _DOUBTFUL
            )
            proposed = not sure or len(values) < 2
            if part:
                self._note(name, part, sure)
            return StatedRange(), AllowedValues(
                values, listed.rule, origin.confidence or _SURE, proposed, origin
            )
        if part is None:
            return StatedRange(), None
        bounds = read_bounds(part.text, kind)
        understood = bounds is not None or (
            kind in ("string", "strings") and bool(FREE.match(bare(part.text)))
        )
        self._note(name, part, understood)
        if not understood:
            message = f"the range of {name} is not understood"
            self.notes.find("range-unread", "hint", part.line, message, shorten(part.text))
        return bounds or StatedRange(), None

    def settle(
        self,
        name: str,
        bullet: Bullet,
        default: Stated | None,
        bounds: StatedRange,
        values: AllowedValues | None,
    ) -> AllowedValues | None:
        """The values, in doubt where the default is none of them; one outside of its range is a finding."""
        if default is None or default.none:
            return values
        items = default.value if isinstance(default.value, list) else [default.value]
        part = bullet.part("default value") or bullet.part("default")
        line = part.line if part else bullet.lines[0]
        if values is not None and not all(each in values.values for each in items):
            message = f"the default of {name} is none of its values"
            evidence = f"{default.value!r}; {', '.join(map(str, values.values))}"
            self.notes.find("default-outside-values", "warning", line, message, evidence)
            origin = Origin("imported", values.origin.sources, None, values.rule, _DOUBTFUL)
            return AllowedValues(values.values, values.rule, _DOUBTFUL, True, origin)
        outside = [each for each in items if isinstance(each, int | float) and not _inside(each, bounds)]
        if outside:
            ranged = bullet.part("range of values")
            message = f"the default of {name} is outside of its range"
            evidence = f"{outside[0]}; {shorten(ranged.text) if ranged else ''}"
            self.notes.find("default-outside-range", "warning", line, message, evidence)
        return values

    def _note(self, name: str, part: KeyedItem, understood: bool) -> None:
        self.notes.field("attribute range", name, part.line, part.text, "read" if understood else "unread")


def _inside(value: int | float, bounds: StatedRange) -> bool:
    if bounds.at_least is not None and value < bounds.at_least:
        return False
    if bounds.more_than is not None and value <= bounds.more_than:
        return False
    return bounds.at_most is None or value <= bounds.at_most


def shorten(text: str) -> str:
    """The text, cut behind some sixty letters."""
    return text if len(text) <= 60 else f"{text[:56].rstrip()} ..."
