"""Values that XML comments state beside ports: `<!-- start: [1] -->`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from specs.documents.worked.printed import read_printed

_LABELLED = re.compile(
    r"^(?P<label>[A-Za-z_][\w ]*?)(?:\s+values?)?\s*(?:\bis\b\s*)?[:=]?\s*"
    r"(?P<value>[\[{(].*[\]})]|[-+]?\d[\w.+-]*|true|false)\s*\.?$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?f?")


@dataclass(frozen=True)
class Commented:
    """A value: what it is said to be of, its shape (None for one number), elements, printed digits."""

    label: str
    shape: tuple[int, ...] | None
    data: tuple[Any, ...]
    decimals: int | None


def read_comment(text: str) -> Commented | None:
    """The value of a comment that is nothing but a name and a value; None where it is anything else."""
    match = _LABELLED.match(text)
    if match is None:
        match = re.match(r"^(?P<label>)(?P<value>\[.*\])$", text)
    if match is None:
        return None
    value = re.sub(r"\btrue\b", "True", re.sub(r"\bfalse\b", "False", match["value"], flags=re.I), flags=re.I)
    label = re.sub(r"(?: input)? contains?$", "", match["label"].strip().lower()).replace(" ", "_")
    if not value.startswith("["):
        return _single(label, value)
    printed = read_printed(value)
    if printed is None or printed.shape is None or value[printed.end :].strip():
        return None
    return Commented(label, printed.shape, printed.data, printed.decimals)


def _single(label: str, value: str) -> Commented | None:
    if value in ("True", "False"):
        return Commented(label, None, (value == "True",), None)
    if not _NUMBER.fullmatch(value):
        return None
    digits = value.rstrip("f")
    if "." not in digits and "e" not in digits.lower():
        return Commented(label, None, (int(digits),), None)
    fraction = digits.lower().partition("e")[0].partition(".")[2]
    return Commented(label, None, (float(digits),), len(fraction))


def fits_shape(value: Commented, shape: tuple[int, ...]) -> bool:
    """Whether the value has the shape that the port states; one number fits every shape of one element."""
    if value.shape is None:
        return math.prod(shape) == 1
    return value.shape == shape
