"""The ends of intervals as documents write them, as expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping

from opcert.vocabulary.errors import UserError
from specs.language.expressions import parse

_MARKS = re.compile(r"[`$\"']")
_TIMES = re.compile(r"(?<=[\w)]) x (?=[\w(])")
_RANK_NAME = re.compile(r"^(?:input_?rank|rank|ndim)$")


def expression(text: str, symbols: Mapping[str, str]) -> str | None:
    """A bound as an expression, its symbols replaced by what they stand for; None where it is none.

    `r-1` with r = rank(data) is `rank(data) - 1`.
    """
    text = re.sub(r"\b([A-Za-z]\w*?)(?:_|\.)shape(?=\[)", r"shape(\1)", text)
    plain = _TIMES.sub(" * ", _MARKS.sub("", text).strip()).rstrip(".")
    if "..." in plain or not plain:
        return None

    def replaced(match: re.Match[str]) -> str:
        return symbols.get(match[0], match[0])

    plain = re.sub(r"(?<![\w.])[A-Za-z_]\w*(?![\w(])", replaced, plain)
    try:
        parse(plain)
    except UserError:
        return None
    return re.sub(r"(?<=[\w)\]]) *([-+*/]) *(?=[\w(])", r" \1 ", plain)


def rank_symbols(text: str) -> bool:
    """Whether a word is one that documents use for the rank without saying so."""
    return _RANK_NAME.match(text) is not None
