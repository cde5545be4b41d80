"""The words by which the text of a type constraint calls its types."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents.prose.sentences import found, pattern
from specs.documents.text.documents import Passage
from specs.model.statements import TypeClass

_TO = pattern(r"\bconstrain\w*\b[^.]{0,80}?\b(?:to|as) (?:be )?(?:either )?(?:only )?(?P<words>[^.]{1,160})")
_BARE = pattern(
    r"^(?:[\w-]+ ){0,4}?(?:tensors? of|must be) (?P<words>[^.]{1,80})"
    r"|\bcan be (?:of |either )?(?P<also>[^.]{1,80})|^(?P<all>all tensor(?: types\b"
    r"|,[^.]{0,80}\btypes\b))|^only (?P<only>\w+)$"
)
"""Texts that do not begin with `Constrain`: `1-D tensor of floats`, `input can be of any type`."""
_WITHOUT = pattern(r"\b(?P<words>\w+(?:,? (?:and|or) \w+)?) (?:are|is) not supported"
                   r"|\b(?:cast|bitcast)ing (?:from|to) (?P<cast>\w+) is not supported"
                   r"|\b(?:except|excluding|non-)[ (]*(?P<except>\w+)")  # fmt: skip
_WIDTH = re.compile(
    r"\b(?:un)?signed (\d+)[- ]bit integers?|\b(\d+)[- ]bit (unsigned |signed )?(integers?|floats?)?", re.I
)
_CLASSES: tuple[tuple[re.Pattern[str], str], ...] = (
    (pattern(r"\b(?:all|any)(?: \([\w -]+\))? (?:tensors?|types?|tensor and sequence|tensor or sequence"
             r"|optional)\b"
             r"|\bany type\b|\ball types\b|^all$|\barbitrary types?\b|\ball tensor types\b"), "any"),
    (pattern(r"\bsigned numeric\b"), "signed numeric"),
    (pattern(r"(?<!signed\s)\bnumeric(?:al|s)?\b"), "numeric"),
    (pattern(r"\bfloat(?:s|ing(?:[- ]?point)?)?\b(?!\d)"), "float"),
    (pattern(r"(?<!bit\s)(?<!unsigned\s)\b(?:integers?|integral|ints?)\b"), "integer"),
    (pattern(r"\bcomplex\b"), "complex"),
    (pattern(r"\bbool(?:ean)?s?\b"), "bool"),
    (pattern(r"\bstrings?\b"), "string"),
    (pattern(r"\bsequences?\b"), "sequence"),
    (pattern(r"\boptional\b"), "optional"),
    (pattern(r"\bmaps?\b"), "map"),
)  # fmt: skip
_EXACT = re.compile(
    r"\b(float8e\w+|b?float16|float32|float64|double|half|u?int(?:2|4|8|16|32|64)(?=_t\b|\b))(?:_t)?\b", re.I
)
_EXACT_NAMES = {"float32": "float", "float64": "double", "half": "float16"}
_NAMES = {"strings": "string", "booleans": "bool"}


def find_type_classes(about: str, passage: Passage) -> Iterator[TypeClass]:
    """What the text of one type constraint calls its types; nothing where it names no class."""
    if not about.startswith("type_constraints."):
        return
    text = passage.text[:5000]
    match = _TO.search(text)
    if match is None:
        match = _BARE.search(text)
    without = tuple(dict.fromkeys(_named(text)))
    classes = tuple(_classes(next(each for each in match.groups() if each))) if match else ()
    if not classes and not without:
        return
    place = match.start(match.lastindex or 0) if match else 0
    yield TypeClass(about, found(passage, place, "type-class", 0.9), classes or ("any",), without)


def _classes(words: str) -> Iterator[str]:
    words = re.split(r"\bup to\b|\bIt must\b", words)[0]
    rest = words
    for width in _WIDTH.finditer(words):
        bits = width[1] or width[2]
        signed = "unsigned " if "unsigned" in width[0].lower() else ""
        kind = "float" if (width[4] or "").lower().startswith("float") else "integer"
        if width[4] or width[1]:
            yield f"{bits}-bit {signed}{kind}"
            rest = rest.replace(width[0], " ")
        else:
            yield f"{bits}-bit"
            rest = rest.replace(width[0], " ")
    exact = [_EXACT_NAMES.get(each[1].lower(), each[1].lower()) for each in _EXACT.finditer(rest)]
    plain = _EXACT.sub(" ", rest)
    plain = re.sub(
        r"\(including [^)]*\)|\(non-[^)]*\)", lambda each: "" if "non-" not in each[0] else "(x)", plain
    )
    names = [name for rule, name in _CLASSES if rule.search(plain)]
    if "float" in names and exact and re.search(r"\bfloat\b", plain):
        names.remove("float")
        exact.insert(0, "float")
    yield from dict.fromkeys((*names, *exact))


def _named(text: str) -> Iterator[str]:
    for match in _WITHOUT.finditer(text):
        words = match["words"] or match["cast"] or match["except"] or ""
        for word in re.split(r",? (?:and|or) ", words):
            if (word and not match["words"]) or word.lower() in ("strings", "string", "complex", "bool"):
                yield _NAMES.get(word.lower(), word.lower())
