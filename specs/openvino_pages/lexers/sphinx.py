"""The current generation: reStructuredText for Sphinx."""

from __future__ import annotations

from collections.abc import Sequence

from specs.documents import Line
from specs.openvino_pages.lexers.restructured import lex_directives
from specs.openvino_pages.tokens import Lexed

_CODE = frozenset(["code-block", "code", "sourcecode", "parsed-literal"])


def lex(lines: Sequence[Line]) -> Lexed:
    """The tokens of a page."""
    return lex_directives(lines, _CODE)
