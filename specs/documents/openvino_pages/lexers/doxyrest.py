"""The generation that doxyrest made out of Markdown in 2022: blocks of code below ref-code-block."""

from __future__ import annotations

from collections.abc import Sequence

from specs.documents.openvino_pages.lexers.restructured import lex_directives
from specs.documents.openvino_pages.tokens import Lexed
from specs.documents.text.documents import Line

_CODE = frozenset(["ref-code-block", "code-block"])


def lex(lines: Sequence[Line]) -> Lexed:
    """The tokens of a page."""
    return lex_directives(lines, _CODE)
