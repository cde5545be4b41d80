"""Types, defaults and ranges of attributes in the words of OpenVINO's pages."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from opcert.vocabulary.attributes import AttributeKind
from specs.documents.openvino_pages.tokens import bare, plain
from specs.documents.openvino_pages.type_words import FLOATS, SIGNED, UNSIGNED, read_types

_KINDS: dict[str, tuple[AttributeKind, str | None]] = {
    "int": ("int", None),
    "integer": ("int", None),
    "float": ("float", None),
    "double": ("float", "double"),
    "string": ("string", None),
    "boolean": ("int", "boolean"),
    "bool": ("int", "boolean"),
    **{
        each: ("int", each) for each in ("int32", "int64", "i32", "i64", "s32", "s64", "u32", "u64", "size_t")
    },
    **{each: ("int", each) for each in ("uint32", "uint64", "unsigned int", "unsigned int 64-bit")},
    **{each: ("float", each) for each in ("float32", "float64", "f32", "f64")},
}
_LISTS: dict[AttributeKind, AttributeKind] = {"int": "ints", "float": "floats", "string": "strings"}
_LIST = re.compile(r"^(?:a )?(?:list|array) of (?P<item>\w+?)s?$")
_NOTHING_LISTED = ("empty list", "an empty list")
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_WORD = r"[A-Za-z_][\w.]*"
_BOOLEANS = {"true": 1, "false": 0, "1": 1, "0": 0}
_FILLED = re.compile(
    r"^[`*]*(?:(?:(?:all|a? ?list of) )?(?:zeros|ones|[01]s)|(?:all|a? ?list of) [01]"
    r"|\[(?P<item>[01])(?:, ?(?P=item)){0,9}, ?\.\.\.\])[`*]*"
    r"(?: ?\([\w ]{1,60}\)| along (?:each|every|all)[\w ]{1,40})?$",
    re.IGNORECASE,
)
"""A list of one number again and again: how many there are is up to the call."""
_EMPTY = re.compile(r"^[`*]*(?:\"\"|'')[`*]*(?: ?\(empty string\))?$")


@dataclass(frozen=True)
class Stated:
    """What a field says: a value, or (`none`) that there is none."""

    value: Any = None
    none: bool = False


@dataclass(frozen=True)
class StatedRange:
    """What a range says of numbers; all None where it says that anything of the type may stand there."""

    at_least: int | float | None = None
    more_than: int | float | None = None
    at_most: int | float | None = None


def read_kind(text: str) -> tuple[AttributeKind, str | None] | None:
    """The kind of an attribute, and the document's narrower word; None where the words are not known."""
    word = bare(text).lower().replace(" ", " ")
    found = _KINDS.get(word)
    if found is not None:
        return found
    item = word.removesuffix("[]").strip() if word.endswith("[]") else None
    listed = _LIST.match(word)
    if listed:
        item = listed["item"]
    single = _KINDS.get(item or "")
    if single is None:
        return _of_class(text)
    kind, other = single
    return _LISTS[kind], None if other is None else f"{other}[]"


def _of_class(text: str) -> tuple[AttributeKind, str | None] | None:
    """The kind of an attribute whose type is a class of element types, all of one kind."""
    named = read_types(text) if "type" in text else None
    types = set(named.types) if named else set()
    if not types:
        return None
    return ("float", None) if types <= {*FLOATS} else ("int", None) if types <= {*SIGNED, *UNSIGNED} else None


def read_default(text: str, kind: AttributeKind, other: str | None) -> Stated | None:
    """The default of an attribute of this kind; None where the words are not understood."""
    written = plain(text).strip().rstrip(".").strip()
    if re.fullmatch(r"[`*]?None[`*]?", written) or (written.lower() == "none" and kind != "string"):
        return Stated(none=True)
    if kind == "string":
        return _string(written)
    if kind == "strings":
        return _strings(written)
    if kind in ("ints", "floats"):
        return _numbers(written, kind)
    return _number(written, kind, other)


def _number(written: str, kind: AttributeKind, other: str | None) -> Stated | None:
    head = re.match(
        rf"^[`*\"]*(?P<value>{_NUMBER}|\w+)[`*\"]*(?:$| (?:that )?mean(?:s|ing)\b| ?\(|,? which)", written
    )
    if head is None:
        return None
    value = head["value"].lower()
    if other == "boolean":
        return Stated(_BOOLEANS[value]) if value in _BOOLEANS else None
    if kind == "float" and value in ("infinity", "inf"):
        return Stated(math.inf)
    try:
        return Stated(int(value) if kind == "int" else float(value))
    except ValueError:
        return None


def _numbers(written: str, kind: AttributeKind) -> Stated | None:
    if _FILLED.match(written):
        return Stated(none=True)
    if written.lower() in _NOTHING_LISTED:
        return Stated([])
    listed = re.fullmatch(r"[`*]*\[(?P<items>[^\[\]]*)\][`*]*", written)
    if listed is None:
        return None
    items = [word.strip() for word in listed["items"].split(",") if word.strip()]
    if not all(re.fullmatch(_NUMBER, item) for item in items):
        return None
    try:
        return Stated([int(item) if kind == "ints" else float(item) for item in items])
    except ValueError:
        return None


def _string(written: str) -> Stated | None:
    if _EMPTY.match(written):
        return Stated("")
    quoted = re.fullmatch(rf"[`*\"']+(?P<value>{_WORD})[`*\"']+|(?P<word>{_WORD})", written)
    return Stated(quoted["value"] or quoted["word"]) if quoted else None


def _strings(written: str) -> Stated | None:
    if written.lower() in _NOTHING_LISTED:
        return Stated([])
    """`*sigmoid,tanh*`, `*sigmoid* for f, *tanh* for g`, `[]`."""
    if re.fullmatch(r"[`*]*\[\s*\][`*]*", written):
        return Stated([])
    items = []
    for part in written.split(","):
        head = re.fullmatch(rf"[`*\"']*(?P<value>{_WORD})[`*\"']*(?: for \w+)?", part.strip())
        if head is None:
            return None
        items.append(head["value"])
    return Stated(items)


_ARTICLE = r"(?:an? |the )?"
_LISTED = r"(?:list of |set of )?"
_NOUN = (
    r"(?:(?:arbitrary |valid |close )*(?:non-negative |positive )?"
    r"(?:integers?|floating[- ]point|float|numeric|[fsiu]\d{1,2}(?= ))?"
    r"(?: (?:numbers?|values?|types?))?"
    r"(?: (?:non-negative|positive) (?:numbers?|values?))?)"
)


def read_bounds(text: str, kind: AttributeKind | None) -> StatedRange | None:
    """The bounds that a range states for numbers (of a list: for each); None where it is not understood."""
    words = plain(text).lower().replace("`", "").replace("*", "").strip().rstrip(".")
    words = words.replace("floating point", "floating-point")
    single = {"ints": "int", "floats": "float"}.get(kind or "", kind)
    if single not in ("int", "float"):
        return None
    interval = re.fullmatch(rf".*?(?:range|between|interval)?\s*\[({_NUMBER})[,;] ?({_NUMBER})\]", words)
    if interval and re.fullmatch(r"[a-z -]*", words[: words.index("[")]):
        return StatedRange(at_least=_value(interval[1], single), at_most=_value(interval[2], single))
    start = re.fullmatch(
        rf"{_ARTICLE}{_LISTED}[a-z -]*?(?:starting from|greater than or equal to|not less than|>=) "
        rf"(?P<value>{_NUMBER}|zero)",
        words,
    )
    if start:
        return StatedRange(at_least=_value(start["value"].replace("zero", "0"), single))
    above = re.fullmatch(
        rf"{_ARTICLE}{_LISTED}[a-z -]*?(?:bigger|greater) than (?P<value>{_NUMBER}|zero)", words
    )
    if above:
        return _strict(_value(above["value"].replace("zero", "0"), single), single)
    if re.fullmatch(r"a list of 0s and 1s?(?:\. only one non-zero bit is allowed)?", words):
        return StatedRange(at_least=0, at_most=1)
    words = re.sub(r"(?:\. negative value means counting [a-z ]*|, empty list is allowed.*)$", "", words)
    sentence = rf"{_ARTICLE}{_LISTED}(?P<sign>non-negative |positive )?{_NOUN}"
    match = re.fullmatch(sentence, words)
    if match is None or not words:
        return None
    if "non-negative" in words:
        return StatedRange(at_least=0 if single == "int" else 0.0)
    return _strict(0, single) if "positive" in words else StatedRange()


def _strict(limit: int | float, kind: str) -> StatedRange:
    """Beyond a limit: for whole numbers, from the next one on."""
    return StatedRange(at_least=int(limit) + 1) if kind == "int" else StatedRange(more_than=float(limit))


def _value(text: str, kind: str) -> int | float:
    number = float(text)
    return int(number) if kind == "int" and number.is_integer() else number
