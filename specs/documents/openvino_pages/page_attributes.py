"""The attributes of a page: head, type, default, whether they are required, and their ranges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opcert.vocabulary.attributes import AttributeKind
from specs.documents.openvino_pages.attribute_words import (
    Stated,
    StatedRange,
    read_bounds,
    read_default,
    read_kind,
)
from specs.documents.openvino_pages.items import Bullet, KeyedItem, Notes
from specs.documents.openvino_pages.tokens import bare, plain
from specs.documents.text.documents import Line
from specs.model.spec import AllowedValues, AttributeSpec, Origin

_MARK = "[`*\"']"
_WORD = r"[A-Za-z_][\w.]*"
_ITEM = re.compile(rf"^(?:(?P<open>{_MARK}+)(?P<marked>{_WORD}(?: \({_WORD}\))?){_MARK}+|(?P<bare>{_WORD}))$")
_VALUE_HEAD = re.compile(
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
        head = _VALUE_HEAD.match(plain(bullet.lines[0].text))
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
    pieces = [word.strip() for word in re.split(r",|\bor\b|\band\b", text)]
    items = [_ITEM.match(piece) for piece in pieces if piece]
    if len(items) < 2 or not all(items):
        return None
    values = [word for item in items if item for word in re.findall(_WORD, item["marked"] or item["bare"])]
    return Listed(tuple(dict.fromkeys(values)), "inline-list", part.line, slip)


FREE = re.compile(
    r"^(?:(?:any|an?) (?:non-empty )?string|any|.* equation format .*|.*described above.*)$", re.IGNORECASE
)
"""Ranges of strings that leave them free."""


_LONGEST_RANGE = 200
_UP_TO_FORMULA = re.compile(r"[^,;]{1,100}[,;] ?-?[A-Za-z]\w{0,40}(?: ?[-+] ?\w|[.(\[])")


def _depends_on_call(text: str) -> bool:
    """Whether a range ends at what a formula gives: `[-r, r-1]`, `[0; min(data.rank, 3)]`."""
    inside = text.partition("[")[2][:_LONGEST_RANGE]
    return _UP_TO_FORMULA.match(inside) is not None


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
                values = tuple(sorted(_TRUTH.get(value.lower(), -1) for value in listed.values))
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
        if not understood and not _depends_on_call(part.text):
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
        if values is not None and not all(item in values.values for item in items):
            message = f"the default of {name} is none of its values"
            evidence = f"{default.value!r}; {', '.join(map(str, values.values))}"
            self.notes.find("default-outside-values", "warning", line, message, evidence)
            origin = Origin("imported", values.origin.sources, None, values.rule, _DOUBTFUL)
            return AllowedValues(values.values, values.rule, _DOUBTFUL, True, origin)
        outside = [item for item in items if isinstance(item, int | float) and not _inside(item, bounds)]
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


_NAME = r"[A-Za-z_][\w-]*"
_HEAD = re.compile(rf"^(?:\*\*\w+\*\*\s*:\s*)?[*`]+(?P<names>{_NAME}(?:(?:, ?| ?\(){_NAME}\)?)*)[*`]+\s*:?$")
_KEYS = frozenset(["description", "range of values", "type", "default value", "required"])


@dataclass(frozen=True)
class Attributes:
    """The attributes of a page; the origin of each default; the descriptions' bullets."""

    specs: dict[str, AttributeSpec]
    defaults: dict[str, Origin]
    descriptions: dict[str, Bullet]


class AttributeReader:
    """Reads bullets into attributes, and notes what it does not understand."""

    def __init__(self, notes: Notes, integers: frozenset[str]) -> None:
        self._notes = notes
        self._ranges = RangeReader(notes)
        self._integers = integers
        """The type variables that stand for integers: an attribute of such a type is one."""
        self.found = Attributes({}, {}, {})

    def read(self, bullets: Sequence[Bullet]) -> None:
        for bullet in self._mended(bullets):
            head = _HEAD.match(plain(bullet.lines[0].text).strip())
            if head and len(bullet.lines) == 1:
                for position, name in enumerate(re.findall(_NAME, head["names"])):
                    self._attribute(name, bullet, position == 0)
            elif nested := list(_nested(bullet)):
                self._below(bullet, nested)
            elif not re.match(r"^\*\*(?:note|important)", bullet.lines[0].text, re.IGNORECASE):
                self._unread(bullet)

    def _mended(self, bullets: Sequence[Bullet]) -> list[Bullet]:
        """The bullets, where fields that stand beside their attribute belong below it."""
        mended: list[Bullet] = []
        for bullet in bullets:
            key = bullet.key
            if key and key[0] in _KEYS and mended and _HEAD.match(plain(mended[-1].lines[0].text).strip()):
                message = f"the field {key[0]} stands beside its attribute instead of below it"
                evidence = bare(mended[-1].lines[0].text)
                self._notes.find("markup-damage", "warning", bullet.lines[0], message, evidence, "repaired")
                above = mended[-1]
                mended[-1] = Bullet(above.indent, above.lines, [*above.children, bullet, *bullet.children])
            else:
                mended.append(bullet)
        return mended

    def _unread(self, bullet: Bullet) -> None:
        line = bullet.lines[0]
        self._notes.find(
            "item-unread", "warning", line, "an item among the attributes names none", shorten(bullet.text)
        )

    def _below(self, bullet: Bullet, nested: list[tuple[str, Bullet]]) -> None:
        """Attributes of what stands inside of the operation (a body, its map of ports) are not its own."""
        line = bullet.lines[0]
        names = ", ".join(name for name, _ in nested)
        message = f"{bare(line.text).strip(':* ')} has attributes that are not the operation's own"
        self._notes.find("nested-attributes", "hint", line, message, names)
        for name, each in nested:
            for key, part in each.parts():
                if key in _KEYS - {"description"}:
                    field = f"attribute {key.removesuffix(' of values').removesuffix(' value')}"
                    self._notes.field(field, name, part.line, part.text, "unread")

    def _attribute(self, name: str, bullet: Bullet, first: bool) -> None:
        line = bullet.lines[0]
        if name in self.found.specs:
            self._notes.find("duplicate-name", "warning", line, f"a second attribute is called {name}", name)
            return
        keys = [key for key, _ in bullet.parts()]
        for key in sorted({key for key in keys if key in _KEYS and keys.count(key) > 1}):
            self._notes.find("duplicate-name", "warning", line, f"{name} states its {key} twice", key)
        if first:
            self._expected(name, bullet)
        kind, other = self._kind(name, bullet)
        bounds, values = self._ranges.read(name, bullet, kind, other == "boolean")
        required = self._required(name, bullet)
        default, origin = self._default(name, bullet, kind, other)
        values = self._ranges.settle(name, bullet, default, bounds, values)
        if required and origin is not None and default is not None:
            message = f"{name} is required, and has a default all the same"
            self._notes.find("required-with-default", "warning", line, message, str(default.value))
        self.found.descriptions[name] = bullet
        if origin is not None:
            self.found.defaults[name] = origin
        self.found.specs[name] = AttributeSpec(
            name=name,
            kind=kind,
            required=required,
            default=default.value if default else None,
            has_default=origin is not None,
            values=values,
            origin=Origin("imported", (line.source(),)),
            at_least=bounds.at_least,
            other_type=other,
            more_than=bounds.more_than,
            at_most=bounds.at_most,
        )

    def _expected(self, name: str, bullet: Bullet) -> None:
        """What every attribute of these pages has, and this one lacks."""
        line = bullet.lines[0]
        if not bullet.part("type"):
            self._notes.find("attribute-type-missing", "warning", line, f"{name} has no type", name)
        if not bullet.part("range of values"):
            message = f"{name} has no range of values"
            self._notes.find("range-missing", "hint", line, message, "every attribute of these pages has one")
        if not bullet.part("description"):
            self._notes.find("description-missing", "hint", line, f"{name} has no description", name)
        described = bullet.part("description")
        if not bullet.part("required") and not (described and "**Required" in described.text):
            self._notes.find(
                "required-missing", "warning", line, f"the page does not say whether {name} is required", name
            )

    def _kind(self, name: str, bullet: Bullet) -> tuple[AttributeKind | None, str | None]:
        part = bullet.part("type")
        if part is None:
            return None, None
        kind, other = read_kind(part.text) or (None, bare(part.text) or None)
        if kind is None and other in self._integers:
            kind = "int"
        self._note("attribute type", name, part.line, part.text, kind is not None)
        if kind is None:
            self._notes.find(
                "type-unread", "warning", part.line, f"the type of {name} is no known one", part.text
            )
        return kind, other

    def _required(self, name: str, bullet: Bullet) -> bool:
        part = bullet.part("required")
        if part is None:
            described = bullet.part("description")
            return bool(described and "**Required" in described.text)
        word = bare(part.text.partition("**Note**")[0]).lower()
        self._note("attribute required", name, part.line, part.text, word in ("yes", "no"))
        if word not in ("yes", "no"):
            message = f"the page does not say whether {name} is required"
            self._notes.find("required-missing", "warning", part.line, message, part.text)
        return word == "yes"

    def _default(
        self, name: str, bullet: Bullet, kind: AttributeKind | None, other: str | None
    ) -> tuple[Stated | None, Origin | None]:
        part = bullet.part("default value") or bullet.part("default")
        if part is None:
            return None, None
        stated = read_default(part.text, kind, other) if kind else None
        if stated is None:
            self._note("attribute default", name, part.line, part.text, False)
            message = f"the default of {name} is no value of its type"
            self._notes.find("default-undecodable", "warning", part.line, message, part.text)
            return None, None
        self._notes.field("attribute default", name, part.line, part.text, "none" if stated.none else "read")
        origin = Origin("imported", (part.line.source(),), rule="stated", confidence=1.0)
        return stated, None if stated.none else origin

    def _note(self, field: str, name: str, line: Line, text: str, understood: bool) -> None:
        self._notes.field(field, name, line, text, "read" if understood else "unread")


def _nested(bullet: Bullet) -> Iterator[tuple[str, Bullet]]:
    """The items below a bullet that are written as attributes are."""
    for child in bullet.children:
        head = _HEAD.match(plain(child.lines[0].text).strip())
        if head and any(key in _KEYS for key, _ in child.parts()):
            yield head["names"], child
        yield from _nested(child)
