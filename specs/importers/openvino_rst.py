"""OpenVINO operation specifications in reStructuredText (the current generation)."""

from __future__ import annotations

import re

from opcert.vocabulary.names import OperatorName
from specs.documents.openvino_pages.lexers import sphinx
from specs.documents.openvino_pages.whole_page import VERSIONED, read_page
from specs.documents.text.documents import Text
from specs.model.spec import Spec

DIALECT = "openvino-rst"

_MARKUP = re.compile(r"^={3,}[ \t]*$|^[ \t]*\.\. (?:code-block|meta)::", re.MULTILINE)


def recognise(text: Text) -> float:
    """Sure where the versioned name and reStructuredText's title line or directives stand."""
    if not VERSIONED.search(text.content):
        return 0.0
    return 0.9 if _MARKUP.search(text.content) else 0.3


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """The facts of one page; raises UserError where the user named another operator than the page does."""
    return [read_page(text, operator, DIALECT, sphinx.lex).spec]
