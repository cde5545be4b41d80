"""Everything that the passages of one operator version state about its parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice

from specs.documents.prose.part_names import ParameterNames, Sentence, found, name_of, pattern, sentences
from specs.documents.prose.ranges import find_choices, find_multiples, find_ranges
from specs.documents.prose.ranks import find_ranks, rank_names
from specs.documents.prose.same_shapes import find_broadcasts, find_products, find_same_shapes
from specs.documents.prose.worded_conditions import condition, necessary
from specs.documents.prose.worded_shapes import defined_extents, find_shapes
from specs.documents.text.documents import Passage
from specs.model.spec import Origin
from specs.model.statements import (
    OneOf,
    Range,
    Relevance,
    Required,
    SameLength,
    StatedShape,
    Statement,
    TypeClass,
)

_VERB = (
    r"(?:valid|used|effective|applied|applicable|relevant|considered|meaningful|supported|has effect"
    r"|takes? effect|appl(?:y|ies)|has an effect|matters|in effect)"
)
_ONLY = (
    pattern(rf"\b{_VERB}(?: to \w+)? only (?:in case )?(?:if|when|where) (?P<condition>[^.;]{{1,120}})"),
    pattern(rf"\bonly (?:be )?{_VERB}(?: in case)? (?:if|when|where) (?P<condition>[^.;]{{1,120}})"),
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
        for relevance in _of_sentence(about, passage, sentence, parts):
            known = stated.get(relevance.about)
            if known is None or (known.effective_when is None and relevance.effective_when is not None):
                stated[relevance.about] = relevance
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
    classes = tuple(_classes(next(group for group in match.groups() if group))) if match else ()
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


_NAME = re.compile(r"[A-Za-z_]\w*(?![\w(])")
MOST_STATEMENTS = 500
"""A page with more of them is none that anybody wrote."""
_NOWHERE = Origin("imported")


def find_statements(passages: Mapping[str, Passage], parts: ParameterNames) -> tuple[Statement, ...]:
    """The statements of all passages (by what they are about), in the order of the passages."""
    symbols = rank_names(passages, parts)
    found = (
        each for about, passage in passages.items() for each in _of_passage(about, passage, parts, symbols)
    )
    return _with_meanings(merge_statements(islice(found, MOST_STATEMENTS)), passages, parts)


def _with_meanings(
    statements: tuple[Statement, ...], passages: Mapping[str, Passage], parts: ParameterNames
) -> tuple[Statement, ...]:
    """Shapes with what any passage says that an extent is: a formula of attributes and other extents."""
    shapes = [each for each in statements if isinstance(each, StatedShape)]
    names = {name for shape in shapes for extent in shape.extents for name in _NAME.findall(extent)}
    meant: dict[str, str] = {}
    for passage in passages.values() if names else ():
        for name, formula in defined_extents(passage.text, parts).items():
            if {*_NAME.findall(formula)} <= {*names, *parts.attributes} - {name}:
                meant.setdefault(name, formula)
    return tuple(
        replace(each, extents=tuple(meant.get(extent, extent) for extent in each.extents))
        if isinstance(each, StatedShape)
        else each
        for each in statements
    )


def merge_statements(*groups: Iterable[Statement]) -> tuple[Statement, ...]:
    """The statements of several passages or documents; what stands twice is one, with both places."""
    found: dict[Statement, Statement] = {}
    for group in chain(*groups):
        key = replace(group, origin=_NOWHERE)
        found[key] = _also(found[key], group) if key in found else group
    return tuple(found.values())


def _also(first: Statement, second: Statement) -> Statement:
    """A statement that stands twice, with both places."""
    sources = dict.fromkeys((*first.origin.sources, *second.origin.sources))
    surer = max(first, second, key=lambda each: each.origin.confidence or 0)
    return replace(surer, origin=replace(surer.origin, sources=tuple(sources)))


def _of_passage(
    about: str, passage: Passage, parts: ParameterNames, symbols: Mapping[str, str]
) -> Iterator[Statement]:
    ranges = [*find_ranges(about, passage, parts, symbols)]
    yield from ranges or find_choices(about, passage, parts)
    yield from find_multiples(about, passage, parts)
    yield from find_ranks(about, passage, parts, symbols)
    yield from find_shapes(about, passage, parts)
    yield from find_products(about, passage, parts)
    yield from find_same_shapes(about, passage, parts)
    yield from find_broadcasts(about, passage, parts)
    yield from _find_linked(about, passage, parts)
    yield from find_relevance(about, passage, parts)
    yield from find_type_classes(about, passage)


_QUOTED = r"[`'\"]?[A-Za-z]\w{0,60}(?:_\*)?[`'\"]?"
_ONE_OF = pattern(
    r"\b(?:one and only one|exactly one)(?: of)?(?: the)? "
    rf"(?P<names>{_QUOTED}(?: ?(?:or|and) {_QUOTED})?)s?(?: attributes?)? "
    r"(?:must|should|will) be (?:defined|set)\b"
)
_SAME = pattern(
    r"\bmust be (?:of )?(?:the )?same (?:length|size) as (?:the )?(?P<name>"
    + _QUOTED
    + r")(?: sequence)?(?=[.;\s]|$)"
)
_BOTH = pattern(
    rf"\b(?:the )?(?P<one>{_QUOTED}) and (?P<other>{_QUOTED}) attributes must have the same length\b"
)
_PER_FEATURE = pattern(
    r"\blength of features in an \[N, ?F\] tensor or length (?P<least>1)\b"
    r"|\b(?P<names>\w{1,60}) attribute length can be (?P<few>1) element, or it can have one element per "
    r"(?:input )?feature\b"
    r"|\bthere must be as many columns as keys\b"
)

_REQUIRED = pattern(
    r"\brequired (?P<exactly>exactly )?when (?:the )?[`'\"]?(?P<name>\w{1,60})[`'\"]?(?: output)? is "
    r"(?:(?P<positive>positive)|requested)\b"
)


def _find_linked(about: str, passage: Passage, parts: ParameterNames) -> Iterator[Statement]:
    """What a passage says of parts together: one alone, of one length, one a column, needed by another."""
    if about.startswith("inputs."):
        yield from _required(about, passage, parts)
    if about.partition(".")[0] not in ("attributes", "summary"):
        return
    for sentence in sentences(passage.text):
        yield from _one_of(about, passage, sentence, parts)
        yield from _same_length(about, passage, sentence, parts)
        yield from _per_column(about, passage, sentence, parts)


def _one_of(about: str, passage: Passage, sentence: Sentence, parts: ParameterNames) -> Iterator[OneOf]:
    match = _ONE_OF.search(sentence.text)
    names = _several(match["names"], parts) if match is not None else ()
    if match is not None and len(names) > 1:
        yield OneOf(about, found(passage, sentence.start + match.start(), "one-of", 0.9), names)


def _same_length(
    about: str, passage: Passage, sentence: Sentence, parts: ParameterNames
) -> Iterator[SameLength]:
    match = _SAME.search(sentence.text)
    if match is not None and about != "summary":
        other = _several(match["name"], parts)
        if len(other) == 1 and other[0] != name_of(about):
            origin = found(passage, sentence.start + match.start(), "same-length", 0.9)
            yield SameLength(about, origin, other[0])
    match = _BOTH.search(sentence.text)
    if match is not None:
        others = _several(match["other"], parts)
        origin = found(passage, sentence.start + match.start(), "same-length", 0.9)
        for name in others if _several(match["one"], parts) else ():
            yield SameLength(f"attributes.{name}", origin, match["one"].strip("`'\""))


def _per_column(
    about: str, passage: Passage, sentence: Sentence, parts: ParameterNames
) -> Iterator[Range | StatedShape]:
    """A list with an element for each feature or column of the first input, or with one for all of them."""
    match = _PER_FEATURE.search(sentence.text)
    if match is None or not parts.inputs:
        return
    columns = f"shape({parts.inputs[0]})[-1]"
    origin = found(passage, sentence.start + match.start(), "a-column-each", 0.9)
    if match["least"] or match["few"]:
        named = _several(f"{match['names']}_*", parts) if match["names"] else (name_of(about),)
        for name in named if about != "summary" or match["names"] else ():
            yield Range(f"attributes.{name}", origin, "length", at_least="1", at_most=columns)
        return
    yield StatedShape(f"inputs.{parts.inputs[0]}", origin, ("N", "C"))
    for name in parts.attributes:
        yield Range(f"attributes.{name}", origin, "length", at_least=columns, at_most=columns)


def _required(about: str, passage: Passage, parts: ParameterNames) -> Iterator[Required]:
    """Where an optional input is given: where a number is positive, or for an output that is asked for."""
    for sentence in sentences(passage.text):
        match = _REQUIRED.search(sentence.text)
        named = parts.about(match["name"]) if match is not None else None
        if match is None or named is None:
            continue
        origin = found(passage, sentence.start + match.start(), "required-when", 0.9)
        if match["positive"] and named.startswith("attributes."):
            yield Required(about, origin, f"{name_of(named)} > 0", bool(match["exactly"]))
        elif not match["positive"] and named.startswith("outputs."):
            yield Required(about, origin, output=name_of(named))


def _several(words: str, parts: ParameterNames) -> tuple[str, ...]:
    """The attributes that words mean: one by its name, all that begin like `keys_*`, a plural's."""
    named: list[str] = []
    for word in re.findall(r"[A-Za-z]\w*(?:\*)?", re.sub(r"\s(?:or|and)\s", " ", words)):
        if word in parts.attributes:
            named.append(word)
            continue
        stem = word.removesuffix("*").removesuffix("_")
        starting = [name for name in parts.attributes if name.startswith(f"{stem}_")]
        plural = stem.removesuffix("ies") if stem.endswith("ies") else stem.removesuffix("s")
        named += starting or [name for name in parts.attributes if f"_{plural}" in name]
    return tuple(dict.fromkeys(named))
