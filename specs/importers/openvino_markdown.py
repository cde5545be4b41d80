"""OpenVINO operation specifications in Markdown (the generation of 2020 to 2022)."""

from __future__ import annotations

import re

from opcert.vocabulary.names import OperatorName
from specs.documents.openvino_pages.lexers import markdown
from specs.documents.openvino_pages.whole_page import VERSIONED, read_page
from specs.documents.text.documents import Text
from specs.model.spec import Spec

DIALECT = "openvino-markdown"

_MARKUP = re.compile(r"^#{1,6} +\S.*$|^[ \t]*```", re.MULTILINE)


def recognise(text: Text) -> float:
    """Sure where the versioned name stands below a heading of Markdown or beside fenced code."""
    if not VERSIONED.search(text.content):
        return 0.0
    return 0.95 if _MARKUP.search(text.content) else 0.2


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """The facts of one page; raises UserError where the user named another operator than the page does."""
    return [read_page(text, operator, DIALECT, markdown.lex).spec]
