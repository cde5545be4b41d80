"""What a text has to say because of what it says: pairs of words, the second of which must not be missing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from specs.documents import Passage
from specs.model import ParameterSpec, Spec


@dataclass(frozen=True)
class Need:
    """A rule that a text needs: it speaks of something in a passage, and must settle it somewhere.

    `speaks` is looked for in the passages whose subject `about` fits, `settles` in the whole version, or in
    the same passage alone where `here` is set.
    """

    what: str
    about: re.Pattern[str]
    speaks: re.Pattern[str]
    settles: re.Pattern[str]
    here: bool = False


def _need(what: str, about: str, speaks: str, settles: str, here: bool = False) -> Need:
    return Need(
        what, re.compile(about), re.compile(speaks, re.IGNORECASE), re.compile(settles, re.IGNORECASE), here
    )


NEEDS = (
    _need(
        "on which side the odd element goes where the difference is odd",
        r"summary|description",
        r"\b(?:each|both) sides? equally|\bequally (?:on|to) (?:each|both)",
        r"\bodd\b|\bextra\b|\badditional\b",
    ),
    _need(
        "which value is padded with",
        r"summary|description",
        r"\binput (?:\w+ )?is (?:\w+ )?padded\b(?! (?:by|with|to)\b)",
        r"\bzeros?\b|\bpadding value|\bpad_value|\bvalues? (?:for|of) (?:the )?padding|\bconstant\b|\bedge\b",
    ),
    _need(
        "how many elements the tensor has",
        r"inputs\.shape$",
        r"^(?:A )?1-?D tensor\b",
        r"\[|\blength\b|\bnumber of\b|\bequal to\b|\bsame\b|\brank\b|\belements?\b|\bsizes?\b|broadcast",
        here=True,
    ),
    _need(
        "how far reflect may reach over an axis that is too short for it",
        r"attributes\.|summary|description",
        r"\breflect\W+(?:\w+ )?pads with\b",
        r"\b(?:less|smaller|larger|greater) than\b|\bat most\b|\bexceed|\bmust not\b|\bcannot\b|<",
    ),
    _need(
        "in which order the elements of one patch and its channels stand in that dimension",
        r"summary|description",
        r"\bpatch\w*\b.{0,200}\b(?:vectorized|stacked|flattened) in(?:to)? the \W?\w+\W? dimension",
        r"\border\b|\brow-major\b|\bchannel[- ]major\b|\bfirst\b.{0,200}\bthen\b",
    ),
    _need(
        "which value is taken at sampling locations outside the tensor where they are not left out",
        r"attributes\.",
        r"\b(?:locations?|positions?|samples?|pixels?) outside (?:of )?the (?:tensor|input|image)",
        r"\bclamp|\bborder|\bedge|\bout[- ]of[- ]bounds?\b|\breplicat",
    ),
    _need(
        "which weights the filter has beyond the border",
        r"attributes\.",
        r"\b(?:stretching|widening|scaling) the (?:\w+ )?filter",
        r"\bclamp|\bborder|\bedge|\breplicat",
    ),
    _need(
        "which coordinate of the input an element of the output comes from",
        r"attributes\.mode$",
        r"\binterpolation modes?\b",
        r"\bcoordinate|\bhalf_pixel\b|\balign_corners\b",
    ),
    _need(
        "how nearest rounds a place between two elements",
        r"attributes\.mode$",
        r"\binterpolation modes?\b.{0,200}\bnearest\b",
        r"\bround|\bfloor, ceil|nearest_mode",
    ),
    _need(
        "whether one coordinate outside is enough where there are several",
        r"attributes\.",
        r"\bis outside the range\b.{0,80}\bthis value is used\b",
        r"\b(?:any|all|every|each|one) (?:\w+ )?(?:axis|axes|coordinates?|dimensions?) (?:is|are) outside\b",
    ),
    _need(
        "whether a reflection repeats the values that it is mirrored on",
        r"attributes\.|summary|description",
        r"\bmirrored on the first and last values\b",
        r"\bnot repeated\b|\brepeats?\b|\bwithout the (?:edge|border)|\bmode = [`'\"]reflect",
    ),
    _need(
        "whether reflect and edge see the elements that negative pads remove",
        r"inputs\.pads$|attributes\.pads",
        r"\bremove \(if negative\)",
        r"\b(?:before|after) (?:\w+ ){0,6}(?:removed|removing|cropped|cropping)\b",
    ),
)  # fmt: skip
"""Each was added for a document that leaves the rule out, and tried on all documents at hand."""

_ONLY_THEN = re.compile(r"\bonly (?:takes effect|used|has (?:an )?effect) when\b")
_LEFT_OUT = re.compile(
    r"\bdefault|\bif (?:it is )?not\b|\bomitted\b|\botherwise\b|\bnot (?:provided|specified|given)\b"
)
_AVERAGE = re.compile(r"\bweighted average\b|\binterpolation\b")
_STRINGS = re.compile(r"\bstring (?:tensors?|types?|elements?|data)\b|\b(?:of|for) strings?\b")
_SHAPE = re.compile(r"^shape\(")
_WHOLE = re.compile(r"\bdivisible\b|\bmultiples?\b|\bevenly\b|\bdivides?\b", re.IGNORECASE)
_QUOTIENT = re.compile(r"(\w+) / (\w+(?:\([^()]*\))?)")
_LESS_ONE = re.compile(r"/ \(?(\w+) - 1\b")


def is_unsettled_option(parameter: ParameterSpec, passage: Passage) -> bool:
    """Whether an input may be left out, matters in one mode, and nothing says what holds in it without it."""
    return (
        parameter.option == "optional"
        and _ONLY_THEN.search(passage.text) is not None
        and _LEFT_OUT.search(passage.text) is None
    )


def find_averaged_words(spec: Spec, text: str) -> tuple[str, str] | None:
    """A type variable that lets strings in, and the word of the text that computes with its elements."""
    match = _AVERAGE.search(text)
    if match is None or _STRINGS.search(text):
        return None
    kinds = {each.type for each in spec.inputs} & {each.type for each in spec.outputs}
    for name, constraint in spec.type_constraints.items():
        if name in kinds and "string" in constraint.types:
            return name, match[0]
    return None


def find_fractions(spec: Spec, text: str) -> list[tuple[int, str]]:
    """The first extent that is a quotient, by its formula's position, where nothing says that it is whole."""
    if _WHOLE.search(text):
        return []
    found = [
        (position, match[0]) for position, formula in enumerate(spec.formulas)
        if _SHAPE.match(formula.name) and (match := _QUOTIENT.search(formula.text))
    ]  # fmt: skip
    return found[:1]


def find_zero_divisors(spec: Spec) -> list[tuple[int, str]]:
    """Formulas that divide by `name - 1` and do not ask whether the name is 1, by position."""
    return [
        (position, match[1])
        for position, formula in enumerate(spec.formulas)
        for match in [_LESS_ONE.search(formula.text)]
        if match and not re.search(rf"\b{match[1]} (?:>|!=|==|>=|<=|<) ", f"{formula.text} {formula.when}")
    ]
