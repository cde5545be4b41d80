"""Text for people: counts, ratios, durations, and hostile text made harmless to read."""

from __future__ import annotations

import re
from datetime import datetime

LONGEST = 2000
"""Characters of one piece of text that a page shows; what is longer is cut, and says so."""

# Controls, direction marks and other characters that change how the text around them is read.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufffe\uffff\U000e0000-\U000e0fff]"
)


def shown(text: str, longest: int = LONGEST) -> str:
    """The text with every invisible or direction-changing character written out, cut after `longest`.

    A NUL becomes `\\x00`, a right-to-left override `\\u202e`; tabs and line feeds stay.
    """
    head = text[:longest].replace("\r\n", "\n")
    visible = _HIDDEN.sub(_written_out, head)
    return f"{visible} … (cut, {count(len(text))} characters)" if len(text) > longest else visible


def _written_out(match: re.Match[str]) -> str:
    point = ord(match[0])
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def one_line(text: str, longest: int = 160) -> str:
    """The text on one line, with each run of white space made one space, cut after `longest`."""
    flat = " ".join(text[: 4 * longest].split())
    return flat if len(flat) <= longest and len(text) <= 4 * longest else f"{flat[:longest]} …"


def count(number: int) -> str:
    """A count with commas between groups of three digits."""
    return f"{number:,}"


def plural(number: int, noun: str, many: str | None = None) -> str:
    """A count and its noun: `1 case`, `2,692 cases`."""
    return f"{count(number)} {noun if number == 1 else many or noun + 's'}"


def listed(words: list[str], last: str = "and") -> str:
    """Words in a sentence: `a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def ratio_text(ratio: float | None) -> str:
    """Error over allowed error: `0.42`, `1.6 ×`; never rounded down to 1.0 when above, nor up when below."""
    if ratio is None:
        return "not equal"
    if ratio != ratio or ratio == float("inf"):
        return "beyond any limit"
    if ratio == 0:
        return "0"
    if ratio <= 1:
        return f"{min(ratio, 0.99):.2f}" if ratio < 1 else "1.00"
    if ratio < 1.05:
        return f"{max(ratio, 1.0001):.5g} ×"
    if ratio < 100:
        return f"{ratio:.1f} ×"
    return f"{ratio:,.0f} ×" if ratio < 1e7 else f"{ratio:.1e} ×"


def duration(seconds: float) -> str:
    """A duration: `4 ms`, `2.3 s`, `2 min 51 s`, `1 h 4 min`."""
    if seconds < 0.01:
        return f"{seconds * 1000:.2g} ms"
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{int(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def moment(text: str) -> str:
    """An ISO 8601 moment to the minute, `2026-11-18 06:40 UTC`; other text unchanged."""
    found = parse_moment(text)
    if found is None:
        return text
    zone = " UTC" if found.utcoffset() is not None and not found.utcoffset() else ""
    return found.strftime("%Y-%m-%d %H:%M") + zone


def parse_moment(text: str) -> datetime | None:
    """An ISO 8601 moment, or None where the text is none."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
