"""Formulas that a description states, with the condition under which each holds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents.text.documents import Passage
from specs.model.spec import Formula, Origin

_LEFT = r"[a-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*(?:\[[A-Za-z0-9]+\])?"
_QUOTED = re.compile(rf"(?<!`)`++(?P<name>{_LEFT}) = (?P<text>[^`=][^`]*?)`+")
_CLAUSE = re.compile(rf"(?:^\s*|[,:]\s)(?P<name>{_LEFT}) = (?P<text>[^=`,][^=`]*?)[,.]?\s*$")
_CONDITION = re.compile(
    r"\b[Ii]f [`\"']*(?P<name>\w+)[`\"']* is [`\"']+(?P<value>\w+)[`\"']+,[^.]*?:?\s*$", re.DOTALL
)
_ABSENT = re.compile(
    r"[`.,\s]*(?:<br ?/?>\s*)?if (?:the )?input [^\w\s]*(?P<name>\w+)[^\w\s]*"
    r" is not (?:specified|provided|given)\b"
)
_BREAK = re.compile(r"<br ?/?>")
_TWO_WORDS = re.compile(r"(?<!\w)(?!(?:if|for|and|or|not|in)\s)\w+\s+(?!(?:if|for|and|or|not|in)\s)\w+(?!\w)")
_OPERATION = re.compile(r"[-+*/(?\[]")


def find_formulas(passage: Passage) -> Iterator[Formula]:
    """Every formula of a passage: in backquotes, or alone between line breaks."""
    start = 0
    condition: str | None = None
    for piece in _BREAK.split(passage.text):
        quoted = list(_QUOTED.finditer(piece))
        for match in quoted or _CLAUSE.finditer(piece.rstrip()):
            text = _without_words(" ".join(match["text"].split()).strip())
            if not _OPERATION.search(text):
                continue
            origin = Origin("imported", (passage.source(start + match.start("name")),))
            end = start + match.start("text") + len(_without_condition(match["text"]))
            absent = _ABSENT.match(passage.text, end)
            when = f"not present({absent['name']})" if absent else condition
            yield Formula(match["name"], _without_condition(text), origin, when)
        found = _CONDITION.search(piece.rstrip())
        if found:
            condition = f"{found['name']} == '{found['value']}'"
        elif piece.strip() and not quoted and not _CLAUSE.search(piece.rstrip()):
            condition = None
        start += len(piece)
        broken = _BREAK.match(passage.text, start)
        start += len(broken[0]) if broken else 0


def _without_condition(text: str) -> str:
    """The formula without a clause such as `if input "sizes" is not specified` behind it."""
    return re.split(r"\s+if (?:input|the)\b", text)[0].rstrip().rstrip(",.")


def _without_words(text: str) -> str:
    """The formula without the rest of its sentence: cut at the comma before two words in a row.

    Empty where there is no such comma: then it is no formula.
    """
    prose = _TWO_WORDS.search(text)
    if prose is None:
        return text
    depth, cut = 0, 0
    for position, letter in enumerate(text[: prose.start()]):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            cut = position
    return text[:cut].rstrip()
