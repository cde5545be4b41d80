"""Arrays that the comments of example code print, and of which variable each one is the value."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from specs.documents.text.documents import Line
from specs.documents.worked.printed import Printed, read_printed
from specs.model.spec import Source

_PRINT = re.compile(r"^print\((\w+)\)(?: \w+)?:?$")
_EXPECTED = re.compile(
    r"^expect\w*(?: (?:output|result)s?)?(?: as)?\s*:?\s*(?:(?:np\.)?array\()?$", re.IGNORECASE
)
_NAMED = re.compile(r"^(?:the content of )?(\w+)(?: is)?\s*:\s*$", re.IGNORECASE)
Kind = Literal["named", "expected", "bare"]
MOST_LINES = 2000

_BARE = re.compile(r"^(?:(?:np\.)?array\()?$")


@dataclass(frozen=True)
class Remark:
    """An array printed in a comment.

    `name` is the variable that the comment names; `expected` says that it calls the array an expected output.
    `line` (from 1) counts the lines of the code; `before` is the next line with code, None where the comment
    stands behind code in its own line.
    """

    printed: Printed
    source: Source
    line: int
    name: str | None = None
    expected: bool = False
    before: int | None = None


@dataclass(frozen=True)
class _Comment:
    text: str
    line: int
    source: Source


def read_remarks(text: str, lines: Sequence[Line]) -> list[Remark]:
    """The arrays in the comments of a code, in the order of its lines; `lines` are the document's."""
    if not any("[" in each.partition("#")[2] for each in text.split("\n")):
        return []
    remarks: list[Remark] = []
    block: list[_Comment] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                number = token.start[0]
                line = lines[min(number, len(lines)) - 1]
                comment = _Comment(token.string.lstrip("#"), number, line.source())
                if token.line[: token.start[1]].strip():
                    remarks += _remarks([comment], None)
                else:
                    block.append(comment)
            elif token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
                remarks += _remarks(block, token.start[0])
                block = []
    except (tokenize.TokenError, SyntaxError):
        return remarks
    return remarks


def _remarks(block: Sequence[_Comment], code: int | None) -> Iterator[Remark]:
    """The arrays of comments that follow each other."""
    position = 0
    before = ""
    while position < len(block):
        comment = block[position]
        position += 1
        head, bracket, rest = comment.text.partition("[")
        text = "\n".join(["[" + rest, *(each.text for each in block[position : position + MOST_LINES])])
        found = read_printed(text) if bracket else None
        if found is None:
            before = comment.text.strip()
            continue
        position += text.count("\n", 0, found.end)
        label = _label(head.strip(), before, code is None)
        before = "" if label is not None else comment.text.strip()
        if label is not None and found.data:
            kind, name = label
            yield Remark(found, comment.source, comment.line, name, kind == "expected", code)


def _label(head: str, before: str, trailing: bool) -> tuple[Kind, str | None] | None:
    """What the words before an array say of it: a variable's name, that it is expected, nothing.

    The words stand in the same line, or in the line before where there are none. None: it is something else.
    """
    alone = _BARE.match(head) is not None
    words = before if alone else head
    printed = _PRINT.match(words)
    if printed:
        return "named", printed[1]
    if _EXPECTED.match(words):
        return "expected", None
    named = _NAMED.match(words)
    if named and not trailing:
        return "named", named[1]
    bare = alone and not trailing and "shape" not in words.lower() and not before.startswith("[")
    return ("bare", None) if bare else None
