"""Text for people: counts, ratios, durations."""

from __future__ import annotations

from datetime import datetime


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


def first_line(error: Exception) -> str:
    """What an error says first, without the places and remedies below."""
    return str(error).splitlines()[0]


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
