"""Element types in the words of OpenVINO's pages, and the type variables that stand for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.documents.openvino_pages.items import Bullet, Notes, State
from specs.documents.openvino_pages.tokens import plain
from specs.model.spec import Origin, TypeConstraint

_HEAD = re.compile(
    r"^(?!\*\*note)(?P<names>[*`]+\w+[*`]+(?:, ?[*`]+\w+[*`]+)*)\s*(?::|-)\s*(?P<text>.*)$", re.IGNORECASE
)


@dataclass
class TypeReader:
    """Reads the bullets of the types' section; `names` are all that it defines, understood or not."""

    notes: Notes
    constraints: dict[str, TypeConstraint] = field(default_factory=dict)
    names: dict[str, Bullet] = field(default_factory=dict)

    def read(self, bullets: Sequence[Bullet]) -> None:
        for bullet in bullets:
            head = _HEAD.match(plain(bullet.lines[0].text))
            if head is None:
                if not re.match(r"^\*\*note", bullet.lines[0].text.strip(), re.IGNORECASE):
                    message = "an item among the types names none"
                    evidence = bullet.lines[0].text[:60]
                    self.notes.find("item-unread", "warning", bullet.lines[0], message, evidence)
                continue
            rest = [head["text"], *(plain(line.text) for line in bullet.lines[1:])]
            phrase = " ".join(rest).strip()
            for name in re.findall(r"\w+", head["names"]):
                self._variable(name, bullet, phrase)

    def _variable(self, name: str, bullet: Bullet, phrase: str) -> None:
        line = bullet.lines[0]
        if name in self.names:
            self.notes.find("duplicate-name", "warning", line, f"{name} is defined twice", name)
            return
        self.names[name] = bullet
        types = read_types(phrase)
        state: State = "unread" if types is None else "open" if types.open else "read"
        self.notes.field("type variable", name, line, phrase, state)
        if types is None:
            message = f"the phrase that says what {name} stands for is no known one"
            self.notes.find("type-unread", "warning", line, message, phrase[:60])
        elif types.types:
            origin = Origin("imported", (line.source(),))
            self.constraints[name] = TypeConstraint(name, types.types, origin)
        elif types.open:
            message = f"the page leaves open which types {name} stands for"
            evidence = "it names none and refers to what is supported"
            self.notes.find("types-unstated", "warning", line, message, evidence)

    @property
    def integers(self) -> frozenset[str]:
        """The variables that stand for integers alone."""
        every = {*SIGNED, *UNSIGNED}
        return frozenset(
            name for name, constraint in self.constraints.items() if set(constraint.types) <= every
        )


FLOATS = ("float16", "bfloat16", "float", "double")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
NUMERIC = (*FLOATS, *SIGNED, *UNSIGNED)
EVERY = ("bool", *NUMERIC)

_CLASSES: dict[str, tuple[str, ...]] = {
    "numeric": NUMERIC,
    "numerical": NUMERIC,
    "number": NUMERIC,
    "signed numeric": (*FLOATS, *SIGNED),
    "floating-point": FLOATS,
    "floating point": FLOATS,
    "float-point": FLOATS,
    "integer": (*SIGNED, *UNSIGNED),
    "integral": (*SIGNED, *UNSIGNED),
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "boolean": ("bool",),
    "every": EVERY,
}
_PRECISIONS = {
    "f8e4m3": "float8e4m3fn",
    "f8e5m2": "float8e5m2",
    "bf16": "bfloat16",
    "f16": "float16",
    "f32": "float",
    "f64": "double",
    "float32": "float",
    "float64": "double",
    **{f"i{bits}": f"int{bits}" for bits in (4, 8, 16, 32, 64)},
    **{f"s{bits}": f"int{bits}" for bits in (4, 8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (4, 8, 16, 32, 64)},
}
_FILLER = re.compile(
    r"\b(?:any|arbitrary|supported|types?|of|the|data|tensors?|either|element|elements|values?|an?|one of)\b"
)
_NARROWED = re.compile(r"(?<=integer) numeric$|(?<=point) numeric$")
"""What says nothing beside a class: integers are numeric."""
_DEPENDS = re.compile(
    r"(?:,? ?(?:and )?depend(?:s|ing) on (?:the )?[`*]\w+[`*] attribute(?: value)?(?:,? ?can be)?)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Types:
    """What a phrase says: the types; none where it refers to what is supported and names no class."""

    types: tuple[str, ...]

    @property
    def open(self) -> bool:
        return not self.types


def find_precision(word: str) -> str | None:
    """Our name of an element type as OpenVINO writes it (`f32`, `FP32`, `boolean`); None if there is none."""
    name = word.lower()
    if name in ("boolean", "bool"):
        return "bool"
    name = re.sub(r"^fp(?=\d)", "f", name)
    name = _PRECISIONS.get(name, name)
    return name if name in ELEMENT_TYPES else None


def read_types(phrase: str) -> Types | None:
    """The types that a phrase names; None where any word of it is not understood.

    "any numeric type", "`int32` or `int64`", "`uint8` or any supported floating-point type", ...
    """
    text = _DEPENDS.sub("", phrase).lower()
    text = " ".join(re.sub(r"[`*]", "", text).split()).rstrip(".")
    if re.fullmatch(r"(?:any|all)(?: \w+)? types?|any data type", text) and not re.search(
        "supported|arbitrary", text
    ):
        rest = re.sub(r"\b(?:any|all|data|types?|element)\b", "", text).strip()
        return Types(EVERY) if not rest else _read(rest)
    return _read(text)


def _read(text: str) -> Types | None:
    parts = [_FILLER.sub(" ", word) for word in re.split(r",|\bor\b|\band\b|/", text)]
    words = [each for each in (" ".join(part.split()) for part in parts) if each]
    if not words:
        return Types(()) if re.search(r"\b(?:supported|arbitrary)\b", text) else None
    found: list[str] = []
    for word in words:
        word = _NARROWED.sub("", word)
        precision = find_precision(word) if word not in _CLASSES else None
        types = _CLASSES.get(word) or ((precision,) if precision else None)
        if types is None:
            return None
        found += types
    return Types(tuple(dict.fromkeys(found)))
