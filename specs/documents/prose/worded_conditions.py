"""Conditions and bounds in words as expressions: `mode is "cubic"` is `mode == 'cubic'`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from opcert.vocabulary.errors import UserError
from specs.documents.prose.part_names import ParameterNames, name_of, pattern
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


_QUOTES = "\"'`"
_ATOM = pattern(
    rf"^(?:both |the |an? |attribute |input "
    rf"|optional )*(?P<name>[{_QUOTES}]*\w+[{_QUOTES}]*)(?: (?:attribute|input))?"
    rf" ?(?:(?P<absent>(?:is|are)(?: not|n't) (?:provided|specified|given|present|set|used))"
    rf"|(?P<present>(?:is|are) (?:also )?(?:provided|specified|given|present|used))"
    rf"|(?:is |are )?(?:(?P<equal>==|=|equals?(?: to)?|set to|specified as)|(?P<not>non-?zero"
    rf"|not (?:equal to )?))? ?"
    rf"(?P<value>[{_QUOTES}]+[\w.+-]+[{_QUOTES}]+|-?\d+(?:\.\d+)?|true|false|enabled|disabled)?)(?P<rest>.*)$"
)
_GLUE = re.compile(r"\s+(and|or)\s+", re.IGNORECASE)
_WORDS = {"true": "1", "false": "0", "enabled": "1", "disabled": "0"}


def condition(text: str, parts: ParameterNames) -> str | None:
    """The expression of a condition in words; None where a part of it cannot be read.

    What stands behind a comma is no part of it.
    """
    text = re.split(r"[,;:)]|\. ", text.strip(), maxsplit=1)[0].strip().rstrip(".")
    pieces = _GLUE.split(text)
    atoms = [_atom(piece, parts) for piece in pieces[::2]]
    if not atoms or any(atom is None for atom in atoms):
        return None
    words = [piece.lower() for piece in pieces[1::2]]
    joined = str(atoms[0])
    for word, atom in zip(words, atoms[1:], strict=True):
        joined += f" {word} {atom}"
    return joined


def necessary(text: str, parts: ParameterNames) -> str | None:
    """What of a condition can be read, where all of its parts must hold; None where nothing can."""
    pieces = _GLUE.split(re.split(r"[;)]|\. ", text.strip(), maxsplit=1)[0])
    if any(piece.lower() != "and" for piece in pieces[1::2]):
        return None
    atoms = [atom for piece in pieces[::2] if (atom := _atom(piece.strip().rstrip(","), parts)) is not None]
    return " and ".join(atoms) or None


def _atom(text: str, parts: ParameterNames) -> str | None:
    match = _ATOM.match(text.strip())
    if match is None or match["rest"].strip(_QUOTES + " "):
        return None
    about = parts.about(match["name"].strip(_QUOTES))
    if about is None:
        return None
    name = name_of(about)
    if match["absent"]:
        return f"not present({name})"
    if match["present"]:
        return f"present({name})"
    negated = match["not"]
    if negated and negated.lower().startswith("non") and not match["value"]:
        return f"{name} != 0"
    if not match["value"]:
        return None
    return f"{name} {'!=' if negated else '=='} {_literal(match['value'])}"


def _literal(text: str) -> str:
    bare = text.strip(_QUOTES)
    if bare.lower() in _WORDS:
        return _WORDS[bare.lower()]
    return bare if re.fullmatch(r"-?\d+(?:\.\d+)?", bare) else f"'{bare}'"
