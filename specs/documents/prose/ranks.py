"""Ranks of inputs and outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from specs.documents.prose.part_names import (
    MOST_LETTERS,
    NUMBER_WORDS,
    ParameterNames,
    Sentence,
    found,
    name_of,
    pattern,
    sentences,
)
from specs.documents.prose.same_shapes import elementwise
from specs.documents.prose.worded_conditions import condition, expression
from specs.documents.text.documents import Passage
from specs.model.spec import Origin
from specs.model.statements import Rank

_NUMBERED = pattern(
    r"(?<![\w-])(?:(?P<n>\d)-?D|(?P<dim>\d|one|two|three|four)-dim(?:ensional)?"
    r"|rank[- ](?P<several>\d(?:, \d){0,6},? or \d)|rank[- ](?P<r>\d))\b"
    r"(?!,? (?:or|and) (?:higher|more|greater|above|less|lower|fewer|below))"
    r"(?! (?:image|block|case|data|loss|tensor case|bounding))"
)
_ADJECTIVE = (
    r"(?:positive|non-?negative|second|bool(?:ean)?|float(?:ing-point)?|numeric|real|bias|integer|string"
    r"|u?int\d*|float\d+|\w{1,20}-(?:length|element)|[`'][\w.]{1,40}[`'])"
)
"""What may stand between an article and `scalar`: a type, a sign, the name of the part."""
_SCALAR = pattern(
    r"(?<![\w-])(?P<scalar>scalar|vector|(?:list|array) of (?:integer|int|float|number))s?\b(?!-)"
    r"(?! (?:refers|for|quant|multiplier|factor))"
)
_COMPARED_RANK = pattern(
    r"\b(?:rank|of)(?: (?P<name>[a-z])(?:,? (?:tensor )?where [a-z])?)? ?"
    r"(?P<sign>>=|>|<=|==|=) ?(?P<bound>[a-z0-9_]+)\b(?!\()"
    r"|\b(?:rank[- ](?:of )?(?P<least>\d+)|(?P<ds>\d)-?D),? or (?:higher|more|greater|above)"
    r"|\bat least (?P<dims>\w+(?:\(\w+\))?) dimensions?\b"
    r"|\brank (?:is |of )?(?:at least|greater than or equal to|>=) (?P<atleast>\d+)"
    r"|\bat least (?:of )?(?:rank[- ](?P<ranked>\d+)|(?P<nd>\d)-?D\b)"
)
_ANY = pattern(
    r"\b(?:arbitrary|any) (?:(?:shape|rank)(?: (?:and|or) (?:shape|rank))?|(?:number of )?dimensions?)\b"
    r"(?! (?:except|but|with|whose|compatible|that|where|which))"
)
_NOT_ANY = pattern(r"\b(?:if|when|whose|except|each|last|first|rest|remaining|for|not)\b|\d-?D\b")
_OTHER = pattern(r"\b(?:or|otherwise) (?:an? )?(?:\d-?D|scalar|vector|rank[- ]\d)\b(?! or)")
_ALTERNATIVE = pattern(r"\bor (?:an? )?(?:[`'\"]?tensor\b|[Nn]-?D\b|\w+ with the same)")
_SAME = pattern(r"\bsame rank(?: [a-z])? (?:as|of) (?P<other>[^.,;()]{1,50})")
_SAME_SHORT = pattern(r"\bsame rank (?:and shape )?as (?P<other>[^.,;()]{1,50})")
_SUM = pattern(
    r"(?:\bof rank |\brank\((?P<own>\w+)\) ?= ?)(?P<sum>(?:rank\(\w+\)|[\w.]+)"
    r"(?: ?[-+] ?(?:[\w.]+(?:\[-?\d+\])?|\([^()]{1,30}\)))+)"
)
_LEAD = pattern(
    r"(?:^|[:;,]|\b(?:an?|the|(?:an?|the|optional) input|is|are|be|either|or|optional|always|with|output"
    rf"|pooled|single|one)) ?(?:{_ADJECTIVE} ){{0,3}}[`'\"(]?$"
)
_AT_LEAST = pattern(r"\b(?:at least|at most|higher than|more than)(?: of)?(?: is)? $")
_ALLOWED = pattern(r"\b(?:can|may|could)(?: also)? be(?: an?)? $")
_CONDITIONAL = pattern(
    r"\b(?:if|when|for|in case|whereas|flatten\w*|as if|interpreted|coerced|case|along|reshaped|e\.g"
    r"|like|otherwise)\b"
)
_KEPT = pattern(r"\b(?:resulting|output)(?: tensor)? has the same rank as the input(?: tensor)?"
                r"(?: (?:if|when) (?P<condition>[^.;,]{1,60}))?$")  # fmt: skip
_NAMED = pattern(
    r"\bthe (?P<names>(?:(?:optional )?\w+,? (?:and )?){1,8}?)(?:tensors?|inputs?|outputs?) (?:are|is) "
    r"(?:all )?(?:an? )?(?:rank-(?P<r>\d)|(?P<d>\d)-?D\b)(?! or\b)"
)
_OUTPUT_SCALAR = pattern(r"\b(?:outputs?|returns|produces) an? (?:\w+ )?scalar\b(?!-)")
MOST_MENTIONS = 20


def rank_names(passages: Mapping[str, Passage], parts: ParameterNames) -> dict[str, str]:
    """The letters that a page calls ranks by: `r` where data is said to be of rank r."""
    names: dict[str, str] = {}
    for about, passage in passages.items():
        if about.startswith("inputs."):
            match = re.search(r"\brank `?([a-z])\b`?(?!\s*[-+])", passage.text[:5000])
            if match:
                names.setdefault(match[1], f"rank({name_of(about)})")
    summary = passages.get("summary")
    for match in re.finditer(r"[`'\"]?(\w+)[`'\"]? tensor of rank `?([a-z])\b",
                             summary.text[:5000] if summary else ""):  # fmt: skip
        if parts.about(match[1]) == f"inputs.{match[1]}":
            names.setdefault(match[2], f"rank({match[1]})")
    return names


def find_ranks(
    about: str, passage: Passage, parts: ParameterNames, symbols: Mapping[str, str]
) -> Iterator[Rank]:
    """The rank that a passage states of the input or output that it is about: one statement at most."""
    if about == "summary":
        yield from _of_named(passage, parts)
        yield from _of_outputs(passage, parts)
        yield from _of_elements(passage, parts)
    if about.partition(".")[0] not in ("inputs", "outputs"):
        return
    numbers: list[tuple[int, int]] = []
    for each in sentences(passage.text):
        sentence = _unconditional(each)
        own = [(sentence.start + place, number) for place, number in sorted(_numbers(sentence))]
        if own and (_ALTERNATIVE.search(sentence.text) or _leaves_one_out(sentence, own)):
            return
        numbers += own
    if numbers:
        least, most = min(number for _, number in numbers), max(number for _, number in numbers)
        origin = found(passage, numbers[0][0], "stated-rank", 1.0 if least == most else 0.9)
        yield Rank(about, origin, str(least), str(most))
        return
    for each in sentences(passage.text):
        sentence = _unconditional(each)
        bounded = list(_bounded(about, passage, sentence, parts, symbols))
        yield from bounded
        if bounded:
            return
    for sentence in sentences(passage.text):
        match = _ANY.search(sentence.text)
        if match and not _NOT_ANY.search(sentence.before(match.start())):
            yield Rank(about, found(passage, sentence.start + match.start(), "any-rank", 0.9), "0", None)
            return


def _leaves_one_out(sentence: Sentence, own: Sequence[tuple[int, int]]) -> bool:
    """Whether an alternative stands there that was not read: `a scalar for these, or 2-D for those`."""
    ranks = {str(number) for _, number in own}
    return any(
        not any(match.start() <= place - sentence.start < match.end() for place, _ in own)
        and not ranks & {*re.findall(r"\d", match[0])}
        for match in _OTHER.finditer(sentence.text)
    )


def _of_named(passage: Passage, parts: ParameterNames) -> Iterator[Rank]:
    """The ranks that a summary gives tensors by name: `The input, weight and output tensors are rank-3`."""
    for match in _NAMED.finditer(passage.text[:MOST_LETTERS]):
        names = re.findall(
            r"\w+", re.sub(r"\b(?:the|and|optional)\b", " ", match["names"], flags=re.IGNORECASE)
        )
        rank = match["r"] or match["d"]
        for name in names:
            about = parts.about(name)
            if about is not None and not about.startswith("attributes"):
                yield Rank(about, found(passage, match.start(), "stated-rank", 0.9), rank, rank)


def _of_outputs(passage: Passage, parts: ParameterNames) -> Iterator[Rank]:
    """What a summary says of the rank of the first output: that of the input on a condition, or a scalar."""
    if not parts.outputs:
        return
    for sentence in sentences(passage.text):
        kept = _KEPT.search(sentence.text)
        when = condition(kept["condition"], parts) if kept and kept["condition"] else None
        if kept and parts.inputs and (when or not kept["condition"]):
            text = f"rank({parts.inputs[0]})"
            origin = found(passage, sentence.start + kept.start(), "same-rank", 0.9)
            yield Rank(f"outputs.{parts.outputs[0]}", origin, text, text, when)
            return
        scalar = _OUTPUT_SCALAR.search(sentence.text)
        if scalar and not _CONDITIONAL.search(sentence.before(scalar.start())):
            origin = found(passage, sentence.start + scalar.start(), "stated-rank", 0.75)
            yield Rank(f"outputs.{parts.outputs[0]}", origin, "0", "0")
            return


def _of_elements(passage: Passage, parts: ParameterNames) -> Iterator[Rank]:
    """What is applied to each element of its one input takes any rank."""
    for sentence in sentences(passage.text):
        place = elementwise(sentence, parts)
        if place is not None:
            origin = found(passage, sentence.start + place, "elementwise", 0.9)
            yield Rank(f"inputs.{parts.inputs[0]}", origin, "0", None)
            return


def _unconditional(sentence: Sentence) -> Sentence:
    """The sentence without `If given,`: what is left out has no rank."""
    match = re.match(r"If (?:it is )?(?:given|provided|specified|present), ", sentence.text)
    return Sentence(sentence.text[match.end() :], sentence.start + match.end()) if match else sentence


def _numbers(sentence: Sentence) -> Iterator[tuple[int, int]]:
    """The numbers of dimensions that a sentence gives without a condition, each with its place."""
    numbered, scalars = _NUMBERED.finditer(sentence.text), _SCALAR.finditer(sentence.text)
    for match in (*islice(numbered, MOST_MENTIONS), *islice(scalars, MOST_MENTIONS)):
        before = sentence.before(match.start())
        lead = _before(match, before)
        if _CONDITIONAL.search(before) or _AT_LEAST.search(lead) or not _LEAD.search(lead):
            continue
        if re.match(r"\s*(?:if|when|for)\b|.{0,60}\balso\b", sentence.text[match.end() :]):
            continue
        groups = match.groupdict()
        if not groups.get("scalar") and _ALLOWED.search(lead):
            continue
        if groups.get("scalar"):
            if not re.search(r"\binput\s+$", before) or "of" in groups["scalar"]:
                yield match.start(), 0 if groups["scalar"].lower() == "scalar" else 1
        elif groups.get("several"):
            yield from ((match.start(), int(each)) for each in re.findall(r"\d", groups["several"]))
        else:
            word = next(each for each in (groups["n"], groups["dim"], groups["r"]) if each)
            yield match.start(), int(NUMBER_WORDS.get(word.lower(), word))


def _before(match: re.Match[str], before: str) -> str:
    """The words in front of a number of dimensions; `of rank 2` begins before its `of`."""
    if not match[0].lower().startswith("rank"):
        return before
    rest = re.sub(r"\b(?:of|have|has)\s+$", "", before)
    return rest if _AT_LEAST.search(rest) else f"{rest}is "


def _bounded(
    about: str, passage: Passage, sentence: Sentence, parts: ParameterNames, symbols: Mapping[str, str]
) -> Iterator[Rank]:
    if re.match(r"(?:if|when|for|otherwise)\b", sentence.text, re.IGNORECASE):
        return
    total = _SUM.search(sentence.text)
    if total and total["own"] in (None, name_of(about)):
        text = expression(total["sum"], symbols)
        if text is not None:
            yield Rank(about, found(passage, sentence.start + total.start(), "stated-rank", 0.75), text, text)
            return
    compared = _COMPARED_RANK.search(sentence.text.replace("`", " "))
    if compared:
        origin = found(passage, sentence.start + compared.start(), "bounded-rank", 0.9)
        groups = ("least", "ds", "atleast", "dims", "ranked", "nd")
        least = next((compared[group] for group in groups if compared[group]), None)
        if least:
            yield Rank(about, origin, NUMBER_WORDS.get(least, least), None)
        elif compared["bound"].isdigit() or parts.about(compared["bound"]):
            yield _compared(about, compared, origin)
    same = _SAME.search(sentence.text) or _SAME_SHORT.search(sentence.text)
    tensor = parts.tensor(same["other"]) if same else None
    if same and tensor and tensor != about:
        text = f"rank({name_of(tensor)})"
        yield Rank(about, found(passage, sentence.start + same.start(), "same-rank", 0.9), text, text)


def _compared(about: str, match: re.Match[str], origin: Origin) -> Rank:
    bound, sign = match["bound"], match["sign"]
    if sign == ">":
        bound = str(int(bound) + 1) if bound.isdigit() else f"{bound} + 1"
    least = bound if sign in (">=", ">", "=", "==") else None
    most = bound if sign in ("<=", "=", "==") else None
    return Rank(about, origin, least, most)
