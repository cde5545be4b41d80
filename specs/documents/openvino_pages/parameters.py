"""Inputs and outputs of a page: number, name, type, rank, shape, and whether they may be omitted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from specs.documents.openvino_pages.field_outcomes import Notes
from specs.documents.openvino_pages.items import Bullet
from specs.documents.openvino_pages.parameter_types import SYMBOL, TypeFinder
from specs.documents.openvino_pages.tokens import plain
from specs.documents.text.documents import Line
from specs.model.spec import Option, Origin, ParameterSpec

_NUMBERED = re.compile(
    r"^\*\*(?P<first>\d+)(?P<more>(?:\*\*)?(?:\.\.|,? ?\.\.\.,? ?| ?- ?)(?:\*\*)?\w+)?\*\*"
    r"[ \t]*:?[ \t]*(?P<text>.*)$"
)
_SEVERAL = re.compile(r"^\*\*Multiple (?P<what>[\w ]+)\*\*[ \t]*:?[ \t]*(?P<text>.*)$", re.IGNORECASE)
_TITLED = re.compile(r"^\*\*(?P<name>[A-Za-z]\w*(?: \w+)?)\*\*[ \t]*:[ \t]*(?P<text>.*)$")
_NOTE = re.compile(r"^\*\*(?:note|important)", re.IGNORECASE)
_NAME = re.compile(
    r"^(?:an? |the )?(?:`(?P<code>[A-Za-z_]\w*)`|"
    r"\"(?P<quoted>[A-Za-z_]\w*)\"(?= -)|\*(?P<star>[A-Za-z_]\w*)\*(?= --? ))"
)
_OPTIONAL = re.compile(
    r"\*{1,2}Optional\.?\*{1,2}|(?:^|[.)] )Optional\.?$"
    r"|(?:^|[.)] )Optional(?:ly)?,? (?:with )?(?:the )?default\b|\binput is optional\b",
    re.IGNORECASE,
)
_REQUIRED = re.compile(r"\*{1,2}Required\.?\*{1,2}|(?:^|[.)`] )Required\.?$", re.IGNORECASE)
_RANK = re.compile(r"\b(?P<rank>\d+|N)(?:-?D|[- ]dimensional)\b|\brank (?P<number>\d+)\b(?!,| or)")
_DEFAULT = re.compile(
    r"\b[Dd]efault(?: value)?(?: is| equal to|:)? `?(?P<value>[-+]?\d+(?:\.\d+)?)`?"
    r"(?=$|\.(?:\s|$)|[,;)]|\s(?![-+*/]))"
)
_SHAPE = re.compile(r"\bshape `\[(?P<shape>[^`]*)\]`(?! or|, `)")


@dataclass
class ParameterGroup:
    """The inputs or the outputs as they are read, and the lines that describe each."""

    noun: str
    parameters: list[ParameterSpec] = field(default_factory=list)
    descriptions: dict[str, list[Line]] = field(default_factory=dict)


class ParameterReader:
    """Reads the bullets of a section into parameters."""

    def __init__(self, notes: Notes, types: TypeFinder) -> None:
        self._notes = notes
        self._types = types
        self.inputs = ParameterGroup("input")
        self.outputs = ParameterGroup("output")

    def read(self, group: ParameterGroup, bullets: Sequence[Bullet]) -> None:
        """Read one section. A bullet that is neither a parameter nor a note is a finding."""
        variants: list[list[Bullet]] = []
        for bullet in bullets:
            text = bullet.lines[0].text
            head = None if _NOTE.match(text) else _head(text)
            numbered = [each for each in bullet.children if _NUMBERED.match(each.lines[0].text)]
            if head is not None:
                self._parameter(group, bullet, head)
            elif numbered:
                variants.append(numbered)
            elif not _NOTE.match(text):
                self._notes.find(
                    "item-unread",
                    "warning",
                    bullet.lines[0],
                    f"an item among the {group.noun}s has no number",
                    text[:60],
                )
        if variants:
            self._variants(group, variants)

    def _variants(self, group: ParameterGroup, variants: list[list[Bullet]]) -> None:
        """Alternative lists of parameters: the longest, whose rest may be omitted."""
        longest = max(variants, key=len)
        for bullet in longest:
            head = _head(bullet.lines[0].text)
            if head is not None:
                self._parameter(group, bullet, head)
        least = min(map(len, variants))
        self._notes.find(
            "alternative-signatures",
            "hint",
            longest[0].lines[0],
            f"the {group.noun}s are listed in alternatives",
            " or ".join(str(len(each)) for each in variants),
        )
        group.parameters[least:] = [replace(each, option="optional") for each in group.parameters[least:]]

    def _parameter(self, group: ParameterGroup, bullet: Bullet, head: re.Match[str]) -> None:
        line = bullet.lines[0]
        named = head.groupdict()
        lines = [line.after(head.start("text")), *bullet.lines[1:]]
        text = plain(" ".join(each.text for each in lines))
        below = plain(" ".join(each.text for child in bullet.children for each in child.lines))
        number = len(group.parameters) + 1
        if named.get("first") is not None and int(named["first"]) != number:
            self._notes.find(
                "sequence-break",
                "error",
                line,
                f"the {group.noun}s are not numbered one after the other",
                f"{named['first']} where {number} is due",
            )
            number = int(named["first"])
        several = "what" in named or bool(named.get("more"))
        name = self._name(group, text, number, named, several)
        if name in group.descriptions:
            self._notes.find(
                "duplicate-name", "warning", line, f"a second {group.noun} is called {name}", name
            )
            name = f"{name}_{number}"
            if name in group.descriptions:
                return
        group.descriptions[name] = lines
        option = self._option(group, name, line, text, below, several)
        rank = _rank(text)
        group.parameters.append(
            ParameterSpec(
                name=name,
                option=option,
                type=self._types.find(group.noun, name, line, text, self.inputs.parameters),
                origin=Origin("imported", (line.source(),)),
                rank=rank,
                shape=_shape(text),
                default=_default(text) if option == "optional" else None,
            )
        )

    def _name(
        self, group: ParameterGroup, text: str, number: int, named: dict[str, str | None], several: bool
    ) -> str:
        found = _NAME.match(text)
        written = (found["code"] or found["quoted"] or found["star"]) if found else None
        if written and not SYMBOL.match(written):
            return written
        if named.get("name"):
            return re.sub(r"(?<=[a-z])(?=[A-Z])|\s+", "_", named["name"] or "").lower()
        if several:
            return f"{group.noun}s"
        return group.noun if number == 1 else f"{group.noun}_{number}"

    def _option(
        self, group: ParameterGroup, name: str, line: Line, text: str, below: str, several: bool
    ) -> Option:
        if group.noun == "output":
            return "variadic" if several else "optional" if _OPTIONAL.search(text) else "single"
        optional, required = (
            _OPTIONAL.search(f"{text} {below}".strip()),
            _REQUIRED.search(f"{text} {below}".strip()),
        )
        stated = bool(optional) != bool(required)
        self._notes.field("input optionality", name, line, text, "read" if stated or several else "unread")
        if not stated and not several:
            self._notes.find(
                "optionality-unstated",
                "hint",
                line,
                f"the page does not say whether {name} may be omitted",
                text[:60],
            )
        if several:
            return "variadic"
        return "optional" if optional else "single"


def _head(text: str) -> re.Match[str] | None:
    return _NUMBERED.match(text) or _SEVERAL.match(text) or _TITLED.match(text)


def _default(text: str) -> int | float | None:
    """The number that an omitted input stands for, where the text gives one alone."""
    found = {match["value"] for match in _DEFAULT.finditer(text)}
    if len(found) != 1:
        return None
    number = found.pop()
    return float(number) if "." in number else int(number)


def _rank(text: str) -> str | None:
    """The rank that the first sentence states, where it states one alone."""
    sentence = re.split(r"\.(?:\s|$)", text)[0]
    ranks = {match["rank"] or match["number"] for match in _RANK.finditer(sentence)}
    if re.search(
        r"\bscalar\b|\bor more\b|[<>]=?|\bat least\b|\bgreater\b|, or \d|\brank [\d, ]+ or\b", sentence
    ):
        return None
    return ranks.pop() if len(ranks) == 1 else None


def _shape(text: str) -> tuple[str, ...] | None:
    """The extents of the one shape that the text gives."""
    sentence = re.split(r"\.(?:\s|$)(?!\.)", text)[0]
    shapes = _SHAPE.findall(text if len(_SHAPE.findall(sentence)) == 0 else sentence)
    if len(shapes) != 1 or "..." in shapes[0]:
        return None
    extents = tuple(each.strip() for each in re.split(r",(?![^(\[]*[)\]])", shapes[0]))
    return extents if all(extents) else None
