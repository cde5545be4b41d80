"""Regular expressions of RE2 in a subset of its syntax, read into trees.

The subset: texts, `.`, classes with ranges, `d`, `s` and `w` behind a backslash, POSIX classes, groups
(plain, named, that capture nothing, with the flags `i s m U`), alternatives, repetitions, also lazy ones, the
places `b B ^ $ A z`, quotes from `Q` to `E` and escapes of characters. Not read: classes of Unicode and
single bytes. What RE2 refuses is refused: references to groups, sights ahead and behind, a repetition of a
repetition, more than 1000 times. Source: RE2's wiki page on its syntax.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

_MOST_REPEATS = 1000
_LAST = 0x10FFFF
_DEEPEST = 200
_LONGEST = 2000

Range = tuple[int, int]


@dataclass(frozen=True)
class Characters:
    """One character out of ranges of code points; where `folded`, in either case."""

    ranges: tuple[Range, ...]
    folded: bool = False


@dataclass(frozen=True)
class PatternPlace:
    """Between characters: `begin`, `end` (of all), `begin_line`, `end_line`, `edge`, `inside` (a word)."""

    word: str


@dataclass(frozen=True)
class Sequence:
    """One part after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Alternatives:
    """One of the parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class RepeatedPattern:
    """A part at least so often, and at most (None: any number of times)."""

    part: Node
    least: int
    most: int | None


Node = Characters | PatternPlace | Sequence | Alternatives | RepeatedPattern

_DIGITS: tuple[Range, ...] = ((48, 57),)
_UPPER, _LOWER = (65, 90), (97, 122)
_SPACES: tuple[Range, ...] = ((9, 10), (12, 13), (32, 32))
_WORDS: tuple[Range, ...] = (*_DIGITS, _UPPER, (95, 95), _LOWER)
_PERL = {"d": _DIGITS, "s": _SPACES, "w": _WORDS}
_POSIX: dict[str, tuple[Range, ...]] = {
    "alnum": (*_DIGITS, _UPPER, _LOWER),
    "alpha": (_UPPER, _LOWER),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": _DIGITS,
    "graph": ((33, 126),),
    "lower": (_LOWER,),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": (_UPPER,),
    "word": _WORDS,
    "xdigit": (*_DIGITS, (65, 70), (97, 102)),
}
_ESCAPED = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_PLACES = {"A": "begin", "z": "end", "b": "edge", "B": "inside"}


def is_re2(pattern: str) -> bool:
    """Whether a text is a regular expression of the subset of RE2's syntax that is read here."""
    try:
        read_pattern(pattern)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=256)
def read_pattern(pattern: str) -> Node:
    """The tree of a regular expression; ValueError where it is none of the subset."""
    if len(pattern) > _LONGEST:
        raise ValueError("a regular expression of thousands of characters")
    reader = _Reader(pattern)
    found = reader.alternatives(frozenset())
    if reader.rest:
        raise ValueError("a bracket that nothing opened")
    return found


def _without(ranges: tuple[Range, ...]) -> tuple[Range, ...]:
    """All other characters."""
    found, start = [], 0
    for low, high in sorted(ranges):
        if low > start:
            found.append((start, low - 1))
        start = max(start, high + 1)
    return (*found, (start, _LAST)) if start <= _LAST else tuple(found)


def _times(node: Node) -> int:
    """How often a part of it is repeated at most, by counted repetitions within each other."""
    if isinstance(node, RepeatedPattern):
        own = node.least if node.most is None else node.most
        return max(own, 1) * _times(node.part)
    if isinstance(node, Sequence | Alternatives):
        return max((_times(part) for part in node.parts), default=1)
    return 1


class _Reader:
    """Reads a pattern from its front."""

    def __init__(self, pattern: str) -> None:
        self.rest = pattern
        self.depth = 0

    def _take(self, count: int = 1) -> str:
        taken, self.rest = self.rest[:count], self.rest[count:]
        if len(taken) < count:
            raise ValueError("the end of a pattern in its midst")
        return taken

    def _until(self, end: str) -> str:
        taken, found, self.rest = self.rest.partition(end)
        if not found:
            raise ValueError(f"no {end} behind what opened")
        return taken

    def alternatives(self, flags: frozenset[str]) -> Node:
        """Up to the bracket that closes, or the end."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ValueError("groups too deep in each other")
        listed: list[list[Node]] = [[]]
        while self.rest and self.rest[0] != ")":
            if self.rest[0] == "|":
                self._take()
                listed.append([])
            elif self.rest.startswith("(?") and (changed := self._flags(flags)) is not None:
                flags = changed
            else:
                listed[-1].extend(self._repeated(self._atom(flags)))
        self.depth -= 1
        parts: list[Node] = [Sequence(tuple(each)) for each in listed]
        return parts[0] if len(parts) == 1 else Alternatives(tuple(parts))

    def _flags(self, flags: frozenset[str]) -> frozenset[str] | None:
        """The flags that `(?i)` leaves for what stands behind it; None where this is a group."""
        head, _, _ = self.rest[2:].partition(")")
        if not head or set(head) - set("ismU-") or not set(head) - {"-"}:
            return None
        self._take(3 + len(head))
        return _changed(flags, head)

    def _atom(self, flags: frozenset[str]) -> list[Node]:
        """What stands next; several characters of `\\Q...\\E`."""
        first = self._take()
        folded = "i" in flags
        if first == "(":
            return [self._group(flags)]
        if first == "[":
            return [Characters(self._class(), folded)]
        if first == ".":
            return [Characters(((0, _LAST),) if "s" in flags else _without(((10, 10),)))]
        if first == "^":
            return [PatternPlace("begin_line" if "m" in flags else "begin")]
        if first == "$":
            return [PatternPlace("end_line" if "m" in flags else "end")]
        if first in "*+?":
            raise ValueError("a repetition of nothing")
        if first == "\\":
            if self.rest[:1] == "Q":
                self._take()
                text, _, self.rest = self.rest.partition("\\E")
                return [Characters(((ord(each), ord(each)),), folded) for each in text]
            if self.rest[:1] in _PLACES:
                return [PatternPlace(_PLACES[self._take()])]
            return [Characters(self._escape(), folded)]
        return [Characters(((ord(first), ord(first)),), folded)]

    def _group(self, flags: frozenset[str]) -> Node:
        if self.rest.startswith("?"):
            self._take()
            if self.rest.startswith(("P<", "<")) and self.rest[:2] not in ("<=", "<!"):
                self._until("<")
                name = self._until(">")
                if not name.isidentifier() or not name.isascii():
                    raise ValueError("a group of no name")
            else:
                head = self._until(":")
                if set(head) - set("ismU-"):
                    raise ValueError("a group of a form that RE2 does not have")
                flags = _changed(flags, head)
        found = self.alternatives(flags)
        if self._take() != ")":
            raise ValueError("a bracket that nothing closes")
        return found

    def _repeated(self, atoms: list[Node]) -> list[Node]:
        """With the repetition behind it, which is of the last one."""
        repeats = 0
        while atoms and (ends := self._ends()) is not None:
            if repeats:
                raise ValueError("a repetition of a repetition")
            repeats += 1
            least, most = ends
            if max(least, most or 0) > _MOST_REPEATS or (most is not None and most < least):
                raise ValueError("a repetition of more than 1000 times, or of more than most")
            repeated = RepeatedPattern(atoms[-1], least, most)
            if _times(repeated) > _MOST_REPEATS:
                raise ValueError("repetitions within each other of more than 1000 times")
            atoms = [*atoms[:-1], repeated]
            if self.rest.startswith("?"):
                self._take()
        return atoms

    def _ends(self) -> tuple[int, int | None] | None:
        """How often, where a repetition stands next."""
        plain: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if self.rest[:1] in plain:
            return plain[self._take()]
        inside, closed, behind = self.rest[1:].partition("}")
        low, comma, high = inside.partition(",")
        if not self.rest.startswith("{") or not closed or not _counts(low) or (high and not _counts(high)):
            return None  # a brace as it is
        self.rest = behind
        return int(low), int(high) if high else None if comma else int(low)

    def _escape(self) -> tuple[Range, ...]:
        """What stands behind a backslash."""
        letter = self._take()
        if letter.lower() in _PERL:
            ranges = _PERL[letter.lower()]
            return _without(ranges) if letter.isupper() else ranges
        if letter == "x":
            digits = self._until("}") if self.rest.startswith("{") else self._take(2)
            code = int(digits.lstrip("{"), 16)
            if code > _LAST:
                raise ValueError("a code point that there is not")
            return ((code, code),)
        if letter in _ESCAPED:
            return ((_ESCAPED[letter], _ESCAPED[letter]),)
        if letter.isalnum() or ord(letter) > 127:
            raise ValueError(f"\\{letter} is nothing of the subset")
        return ((ord(letter), ord(letter)),)

    def _class(self) -> tuple[Range, ...]:
        """The ranges between brackets."""
        negated = self.rest.startswith("^")
        if negated:
            self._take()
        found: list[Range] = []
        first = True
        while first or not self.rest.startswith("]"):
            first = False
            if self.rest.startswith("[:"):
                self._take(2)
                name = self._until(":]")
                ranges = _POSIX.get(name.removeprefix("^"))
                if ranges is None:
                    raise ValueError("a class of no name that POSIX has")
                found.extend(_without(ranges) if name.startswith("^") else ranges)
                continue
            low = self._member()
            if len(low) == 1 and low[0][0] == low[0][1] and self.rest[:1] == "-" and self.rest[1:2] != "]":
                self._take()
                high = self._member()
                if len(high) != 1 or high[0][0] != high[0][1] or high[0][0] < low[0][0]:
                    raise ValueError("a range that is none")
                low = ((low[0][0], high[0][0]),)
            found.extend(low)
        self._take()
        return _without(tuple(found)) if negated else tuple(found)

    def _member(self) -> tuple[Range, ...]:
        first = self._take()
        return self._escape() if first == "\\" else ((ord(first), ord(first)),)


def _counts(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _changed(flags: frozenset[str], head: str) -> frozenset[str]:
    added, minus, taken = head.partition("-")
    if "-" in taken or (minus and not taken):
        raise ValueError("flags of a form that RE2 does not have")
    return (flags | set(added)) - set(taken)
