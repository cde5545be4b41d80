"""Where an attribute or input matters: `valid only if mode is "cubic"`, `ignored when axes is given`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents.prose.part_names import ParameterNames, name_of
from specs.documents.prose.sentences import Sentence, found, pattern, sentences
from specs.documents.prose.worded_conditions import condition, necessary
from specs.documents.text.documents import Passage
from specs.model.statements import Relevance

_VERB = (
    r"(?:valid|used|effective|applied|applicable|relevant|considered|meaningful|supported|has effect"
    r"|takes? effect|appl(?:y|ies)|has an effect|matters|in effect)"
)
_ONLY = (
    pattern(rf"\b{_VERB}(?: to \w+)? only (?:in case )?(?:if|when|where) (?P<condition>[^.;]{{1,120}})"),
    pattern(rf"\bonly (?:be )?{_VERB}(?: in case)? (?:if|when|where) (?P<condition>[^.;]{{1,120}})"),
    pattern(
        r"\bonly (?:if|when|where) (?P<condition>[^.;]{1,120}?),? (?:is )?(?:this"
        r"|the) (?:\w+ )?(?:is )?(?:used|valid)"
    ),
    pattern(
        r"^(?:when|if) (?P<condition>[^;]{1,120}?), (?:this|the) (?:value|attribute|input"
        r"|parameter) is used\b"
    ),
)
_POINTER = (
    pattern(rf"\b(?:only {_VERB}|{_VERB} only) (?:to|for|by|with|in|during)\b"),
    pattern(r"\bhas no effect (?:for|on|in|when|if|unless)\b"),
    pattern(r"\bignored (?:for|unless|otherwise|in)\b"),
    pattern(r"\b(?:not (?:used|applicable)|unused) (?:for|unless|in)\b"),
)
_VOID = (
    pattern(
        r"(?<![`'\"\w])(?P<subject>[`'\"]?\w{1,60}[`'\"]?)?(?: values?| attribute| input)? (?:is|are|will be)"
        r" (?:ignored|not used|unused|not applicable|not relevant|not considered|disregarded)"
        r" (?:if|when|where) (?P<condition>[^.;]{1,120})"
    ),
    pattern(r"\b(?:no effect|not applicable|ignored|unused) (?:if|when|where) (?P<condition>[^.;]{1,120})"),
    pattern(
        r"^(?:if|when) (?P<condition>[^.;]{1,120}?),? (?P<subject>this attribute|this input"
        r"|[`'\"]?\w{1,60}[`'\"]?)(?: values?| attribute| input)? (?:is|are|will be) ignored\b"
    ),
)
_SELF = re.compile(r"^(?:this|it|which|and|that|attribute|input|value|the|parameter)$", re.IGNORECASE)
_OPPOSITE = {"==": "!=", "!=": "=="}


def find_relevance(about: str, passage: Passage, parts: ParameterNames) -> Iterator[Relevance]:
    """Where the part that a passage is about matters, or another one that the passage names; each once."""
    group = about.partition(".")[0]
    if group not in ("attributes", "inputs"):
        return
    stated: dict[str, Relevance] = {}
    for sentence in sentences(passage.text):
        for each in _of_sentence(about, passage, sentence, parts):
            known = stated.get(each.about)
            if known is None or (known.effective_when is None and each.effective_when is not None):
                stated[each.about] = each
    yield from stated.values()


def _of_sentence(
    about: str, passage: Passage, sentence: Sentence, parts: ParameterNames
) -> Iterator[Relevance]:
    text = sentence.text
    for rule in _VOID:
        match = rule.search(text)
        if match is None:
            continue
        subject = _subject(about, match.groupdict().get("subject"), parts)
        if subject is None:
            continue
        words = re.sub(r"^it is\b", f"{name_of(about)} is", match["condition"])
        read = condition(words, parts)
        origin = found(passage, sentence.start + match.start(), "ignored-when", 0.9 if read else 0.5)
        yield Relevance(subject, origin, None if read is None else negated(read))
        return
    for position, rule in enumerate(_ONLY):
        match = rule.search(text)
        if match:
            read = condition(match["condition"], parts) or necessary(match["condition"], parts)
            sure = 0.5 if read is None else 0.75 if position == len(_ONLY) - 1 else 1.0
            yield Relevance(about, found(passage, sentence.start + match.start(), "only-when", sure), read)
            return
    for rule in _POINTER:
        match = rule.search(text)
        if match:
            yield Relevance(about, found(passage, sentence.start + match.start(), "only-for", 0.5))
            return


def _subject(about: str, word: str | None, parts: ParameterNames) -> str | None:
    if word is None or word.startswith("this ") or _SELF.match(word):
        return about
    named = parts.about(word.strip("`'\""))
    return named if named is None or not named.startswith("outputs") else None


def negated(text: str) -> str:
    """The opposite of a condition of `conditions.condition`."""
    if " and " in text or " or " in text:
        return f"not ({text})"
    if text.startswith("not "):
        return text.removeprefix("not ")
    for sign, other in _OPPOSITE.items():
        if f" {sign} " in text:
            return text.replace(f" {sign} ", f" {other} ", 1)
    return f"not {text}"
