"""OpenVINO operation specifications as doxyrest wrote them in 2022: reStructuredText with own labels."""

from __future__ import annotations

import re

from opcert.vocabulary.names import OperatorName
from specs.documents.openvino_pages.lexers import doxyrest
from specs.documents.openvino_pages.whole_page import VERSIONED, read_page
from specs.documents.text.documents import Text
from specs.model.spec import Spec

DIALECT = "openvino-doxyrest"

_MARKUP = re.compile(r"^[ \t]*\.\. (?:ref-code-block::|_doxid-|index:: pair: page)", re.MULTILINE)


def recognise(text: Text) -> float:
    """Sure where the versioned name stands beside doxyrest's own labels or directives."""
    if not VERSIONED.search(text.content):
        return 0.0
    return 1.0 if _MARKUP.search(text.content) else 0.1


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """The facts of one page; raises UserError where the user named another operator than the page does."""
    return [read_page(text, operator, DIALECT, doxyrest.lex).spec]
