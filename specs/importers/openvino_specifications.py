"""OpenVINO operation specifications: Markdown, what doxyrest made of it, and reStructuredText for Sphinx."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from opcert.vocabulary.names import OperatorName
from specs.documents.openvino_pages.tokens import Lexed, lex_doxyrest, lex_markdown, lex_sphinx
from specs.documents.openvino_pages.whole_page import VERSIONED, read_page
from specs.documents.text.documents import Line, Text
from specs.importers import Importer
from specs.model.spec import Spec


def _importer(
    dialect: str, markup: str, sure: float, unsure: float, lex: Callable[[Sequence[Line]], Lexed]
) -> Importer:
    """A dialect that is `sure` where its markup stands beside a versioned name, and else `unsure`."""
    marked = re.compile(markup, re.MULTILINE)

    def recognise(text: Text) -> float:
        if not VERSIONED.search(text.content):
            return 0.0
        return sure if marked.search(text.content) else unsure

    def read(text: Text, operator: OperatorName | None) -> list[Spec]:
        return [read_page(text, operator, dialect, lex).spec]

    return Importer(dialect, recognise, read)


MARKDOWN = _importer("openvino-markdown", r"^#{1,6} +\S.*$|^[ \t]*```", 0.95, 0.2, lex_markdown)
"""The generation of 2020 to 2022."""
DOXYREST = _importer(
    "openvino-doxyrest",
    r"^[ \t]*\.\. (?:ref-code-block::|_doxid-|index:: pair: page)",
    1.0,
    0.1,
    lex_doxyrest,
)
"""What doxyrest wrote in 2022, with labels of its own."""
SPHINX = _importer("openvino-rst", r"^={3,}[ \t]*$|^[ \t]*\.\. (?:code-block|meta)::", 0.9, 0.3, lex_sphinx)
"""The current generation."""
IMPORTERS = (MARKDOWN, DOXYREST, SPHINX)
