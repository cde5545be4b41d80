"""Damage to documents, and what it may do: change no fact, or be reported.

Every damage is a function of the document's bytes and a source of random choices; the same seed gives the
same damage. `HARMLESS` changes nothing that a reader would notice: every fact must stay. `HARMFUL` may take
facts away, but only loudly. `VIOLENT` can leave a whole document that says something else: it must not crash
an importer. `silent_changes` compares what an importer read before and after.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from specs.files.imported_files import plain_layer
from specs.model.spec import Spec

Damage = Callable[[bytes, Random], bytes]

_ENTITIES = {
    '"': ("&#34;", "&quot;", "&#x22;"),
    "'": ("&#39;", "&apos;", "&#x27;"),
    "&": ("&amp;",),
    ">": ("&gt;", "&#62;"),
    "<": ("&lt;", "&#60;"),
}


def crlf(raw: bytes, choices: Random) -> bytes:
    """Line ends of another system."""
    return raw.replace(b"\n", b"\r\n")


def old_mac(raw: bytes, choices: Random) -> bytes:
    """Line ends of a system long gone."""
    return raw.replace(b"\n", b"\r")


def mixed_line_ends(raw: bytes, choices: Random) -> bytes:
    """Each line with a line end of its own choice."""
    return re.sub(rb"\n", lambda _: choices.choice([b"\n", b"\r\n"]), raw)


def byte_order_mark(raw: bytes, choices: Random) -> bytes:
    return b"\xef\xbb\xbf" + raw


def trailing_spaces(raw: bytes, choices: Random) -> bytes:
    """Spaces and tabs behind some lines."""
    ends = [b"", b" ", b"   ", b"\t"]
    return re.sub(rb"\n", lambda _: choices.choice(ends) + b"\n", raw)


def empty_end(raw: bytes, choices: Random) -> bytes:
    """Empty lines behind the last one."""
    return raw + b"\n" * choices.randint(1, 4)


def tab_indentation(raw: bytes, choices: Random) -> bytes:
    """Every four spaces that lead a line become a tab; what is left of them stays."""
    return re.sub(rb"(?m)^(?: {4})+", lambda found: b"\t" * (len(found[0]) // 4), raw)


HARMLESS: Mapping[str, Damage] = {
    each.__name__: each
    for each in (
        crlf,
        old_mac,
        mixed_line_ends,
        byte_order_mark,
        trailing_spaces,
        empty_end,
        tab_indentation,
    )
}


def tabs_between_words(raw: bytes, choices: Random) -> bytes:
    """Some spaces inside of lines become tabs."""
    return re.sub(rb"(?<=\S) (?=\S)", lambda _: choices.choice([b" ", b" ", b" ", b"\t"]), raw)


def entities(raw: bytes, choices: Random) -> bytes:
    """Some quotation marks, angle brackets and ampersands as HTML entities, from one place to another."""
    text = raw.decode()
    start, end = sorted(choices.randint(0, len(text)) for _ in range(2))
    wanted = choices.sample(sorted(_ENTITIES), choices.randint(1, len(_ENTITIES)))
    pattern = "[" + re.escape("".join(wanted)) + "]"
    middle = re.sub(pattern, lambda found: choices.choice(_ENTITIES[found[0]]), text[start:end])
    return (text[:start] + middle + text[end:]).encode()


def collapse(raw: bytes, choices: Random) -> bytes:
    """The whole document on one line."""
    return b" ".join(raw.split())


def collapse_some(raw: bytes, choices: Random) -> bytes:
    """A few lines joined with those behind them."""
    lines = raw.split(b"\n")
    for _ in range(choices.randint(1, 6)):
        position = choices.randrange(len(lines))
        until = position + choices.randint(2, 12)
        lines[position:until] = [b" ".join(line.strip() for line in lines[position:until] if line.strip())]
    return b"\n".join(lines)


def rewrap(raw: bytes, choices: Random) -> bytes:
    """Paragraphs of indented or plain prose wrapped to another width; markup, tables and code stay.

    Prose is what begins with a letter, below a line of its kind, and holds no tag.
    """
    width = choices.choice([20, 40, 60, 79, 100, 120, 400])
    fenced = in_code = False
    result: list[str] = []
    block: list[str] = []

    def flush() -> None:
        if block:
            indent = block[0][: len(block[0]) - len(block[0].lstrip())]
            words = " ".join(each.strip() for each in block)
            result.extend(textwrap.wrap(words, max(width, len(indent) + 12), initial_indent=indent,
                                        subsequent_indent=indent, break_long_words=False,
                                        break_on_hyphens=False))  # fmt: skip
            block.clear()

    for line in raw.decode().split("\n"):
        fenced ^= line.lstrip().startswith("```")
        if line and not line.startswith(" "):
            in_code = line.rstrip().endswith("::")
        prose = re.fullmatch(r" {0,2}[A-Za-z][^<>`|*=]*", line) and not (fenced or in_code)
        if prose and (not block or _indent(line) == _indent(block[0])):
            block.append(line)
            continue
        flush()
        result.append(line)
    flush()
    return "\n".join(result).encode()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def truncate(raw: bytes, choices: Random) -> bytes:
    """The document up to any byte."""
    return raw[: choices.randint(0, len(raw))]


def truncate_behind_line(raw: bytes, choices: Random) -> bytes:
    """The document up to the end of any line."""
    ends = [match.end() for match in re.finditer(rb"\n", raw)]
    return raw[: choices.choice(ends)] if ends else raw


def drop_lines(raw: bytes, choices: Random) -> bytes:
    """Some neighbouring lines gone."""
    lines = raw.split(b"\n")
    start = choices.randrange(len(lines))
    del lines[start : start + choices.randint(1, 8)]
    return b"\n".join(lines)


def double_lines(raw: bytes, choices: Random) -> bytes:
    """Some neighbouring lines twice."""
    lines = raw.split(b"\n")
    start = choices.randrange(len(lines))
    end = start + choices.randint(1, 8)
    lines[start:end] = lines[start:end] * 2
    return b"\n".join(lines)


HARMFUL: Mapping[str, Damage] = {
    each.__name__: each
    for each in (
        tabs_between_words,
        entities,
        collapse,
        collapse_some,
        rewrap,
        truncate,
        truncate_behind_line,
    )
}
VIOLENT: Mapping[str, Damage] = {each.__name__: each for each in (drop_lines, double_lines)}


def section_dropper(title: str, heading: str | None = None) -> Damage:
    """A damage that takes one section away: from a line that matches the title to the next heading.

    Both are regular expressions for the beginning of a line; without a `heading`, the next line that matches
    the title ends the section.
    """

    def drop_section(raw: bytes, choices: Random) -> bytes:
        text = raw.decode()
        starts = [match.start() for match in re.finditer(rf"(?m)^(?:{title}).*$", text)]
        if not starts:
            return raw
        start = choices.choice(starts)
        end = re.compile(rf"(?m)^(?:{heading or title})").search(text, start + 1)
        return (text[:start] + text[end.start() if end else len(text) :]).encode()

    return drop_section


@dataclass(frozen=True)
class Change:
    """A fact that damage changed (`before`, `after`; None where it is absent) and nobody reported."""

    operator: str
    path: str
    before: Any
    after: Any


def facts(spec: Spec) -> dict[str, Any]:
    """The facts of a layer by path, without their places."""
    plain = plain_layer(spec, "d1")
    for each in ("documents", "findings", "operator"):
        plain.pop(each, None)
    return dict(_flatten("", plain))


def _flatten(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            if key not in ("src", "lines"):
                yield from _flatten(f"{path}.{key}" if path else str(key), each)
    elif isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        keys = ("name", "id", "about", "word")
        names = [next((str(each[key]) for key in keys if each.get(key)), "") for each in value]
        repeated: Counter[str] = Counter()
        for name, each in zip(names, value, strict=True):
            repeated[name] += 1
            label = name if repeated[name] == 1 else f"{name}#{repeated[name]}"
            yield from _flatten(f"{path}.{label}", each)
        yield f"{path}.order", names
    else:
        yield path, value


def silent_changes(
    whole: Iterable[Spec], damaged: Iterable[Spec], ignored: Callable[[str], bool] = lambda _path: False
) -> list[Change]:
    """Facts that differ after damage, of operators that have no finding more than before.

    An operator version that is gone counts as reported where any layer of the document has a new finding.
    `ignored` says of a path that its facts do not count (prose at a cut, say).
    """
    before = {str(spec.operator): spec for spec in whole}
    after: dict[str, Spec] = {}
    doubled = []
    for spec in damaged:
        name = str(spec.operator)
        if name in after:
            doubled.append(Change(name, "operator", "described once", "described twice"))
        after[name] = spec
    reported = {name for name, spec in after.items() if _new_findings(before.get(name), spec)}
    changes = [] if reported else doubled
    for name in before.keys() - after.keys():
        if not reported:
            changes.append(Change(name, "operator", "described", None))
    for name, spec in after.items():
        if name in reported:
            continue
        if name not in before:
            changes.append(Change(name, "operator", None, "described"))
            continue
        old, new = facts(before[name]), facts(spec)
        changes += [
            Change(name, path, old.get(path), new.get(path))
            for path in sorted(old.keys() | new.keys())
            if old.get(path) != new.get(path) and not ignored(path)
        ]
    return changes


def _new_findings(before: Spec | None, after: Spec) -> bool:
    old = Counter((finding.code, finding.message) for finding in before.findings) if before else Counter()
    new = Counter((finding.code, finding.message) for finding in after.findings)
    return bool(new - old)
