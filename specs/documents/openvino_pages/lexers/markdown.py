"""The Markdown generation: fenced blocks of code, headings with anchors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from specs.documents.openvino_pages.tokens import CodeBlock, Lexed
from specs.documents.text.documents import Line

_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)$")
_HEADING = re.compile(r"^#{1,6}\s")


def lex(lines: Sequence[Line]) -> Lexed:
    """The tokens of a page; a fence that never ends is a finding."""
    page = Lexed()
    mark: str | None = None
    for line in lines:
        fence = _FENCE.match(line.text)
        if mark is not None:
            if fence and fence["mark"].startswith(mark) and not fence["info"].strip():
                mark = None
                page.blocks[-1].closed = True
            else:
                page.code(line)
        elif fence:
            mark = fence["mark"]
            page.blocks.append(CodeBlock(fence["info"].strip(), line, closed=False))
            if len(fence["info"].split()) > 1:
                page.damaged("collapsed-lines", line, "text stands in the line that opens a block of code")
        elif not _HEADING.match(line.text):
            page.prose(line)
    if page.blocks and not page.blocks[-1].closed:
        page.damaged("markup-damage", page.blocks[-1].start, "a block of code never ends")
    return page
