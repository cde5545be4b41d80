"""What a process that was lost said of why: an exception that nobody caught, or a panic."""

from __future__ import annotations

import re
from dataclasses import dataclass

# A panic says where it was, with what was said below it (since Rust 1.73), or in quotes before it.
_SAID = re.compile(
    r"^(?:\s*what\(\):\s*(?P<thrown>.+)"
    r"|thread .* panicked at (?P<place>.+:\d+:\d+):\n(?P<below>.+)"
    r"|thread .* panicked at '(?P<quoted>.+)', (?P<where>.+:\d+:\d+))$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class LastWords:
    """The lines as they were printed, and their sense: the place in the source, if told, and the text."""

    printed: str
    sense: str


def find_last_words(stderr: str) -> LastWords | None:
    """The first of them in what was printed on standard error; None where there are none."""
    found = _SAID.search(stderr)
    if found is None:
        return None
    place = found["place"] or found["where"]
    text = found["thrown"] or found["below"] or found["quoted"]
    return LastWords(found[0], f"{place}: {text}" if place else text)
