"""Both generations of reStructuredText: directives, whose content is indented below them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from specs.documents.openvino_pages.tokens import CodeBlock, Lexed, width
from specs.documents.text.documents import Line

_DIRECTIVE = re.compile(r"^[ \t]*\.\. +(?P<name>[\w-]+)::[ \t]*(?P<argument>.*)$")
_COMMENT = re.compile(r"^[ \t]*\.\.(?:\s|$)")
_OPTION = re.compile(r"^[ \t]+:\w[\w-]*:")
_LITERAL = re.compile(r"::$")
_UNREAD = frozenset(["meta", "index", "image", "figure", "toctree"])


def lex_doxyrest(lines: Sequence[Line]) -> Lexed:
    """The tokens of a page that doxyrest made out of Markdown in 2022."""
    return _lex(lines, frozenset(["ref-code-block", "code-block"]))


def lex_sphinx(lines: Sequence[Line]) -> Lexed:
    """The tokens of a page of the current generation, for Sphinx."""
    return _lex(lines, frozenset(["code-block", "code", "sourcecode", "parsed-literal"]))


def _lex(lines: Sequence[Line], code: frozenset[str]) -> Lexed:
    """The tokens of a page whose blocks of code are the directives named, or follow a double colon."""
    page = Lexed()
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        directive = _DIRECTIVE.match(line.text)
        if directive is None:
            if not _COMMENT.match(line.text):
                page.prose(line)
            if not _LITERAL.search(line.text):
                continue
            name, argument = "", ""
        else:
            name, argument = directive["name"], directive["argument"].strip()
        end = _end(lines, position, width(line.text))
        body = lines[position:end]
        if directive is None or name in code or name == "math":
            page.blocks.append(CodeBlock(argument if name in code else name, line))
            if len(argument.split()) > 1 and name in code:
                page.damaged("collapsed-lines", line, "text stands in the line that opens a block of code")
            for each in body:
                if not _OPTION.match(each.text):
                    page.code(each)
            position = end
        elif name in _UNREAD:
            position = end
    return page


def _end(lines: Sequence[Line], start: int, indent: int) -> int:
    """The first line behind `start` that is neither empty nor indented further than `indent`."""
    for position in range(start, len(lines)):
        if lines[position].text.strip() and width(lines[position].text) <= indent:
            return position
    return len(lines)
