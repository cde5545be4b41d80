"""Tensors that have the shape of another one, are broadcast to it, or get theirs from a matrix product."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from specs.documents.prose.part_names import (
    MOST_LETTERS,
    ParameterNames,
    Sentence,
    found,
    name_of,
    pattern,
    sentences,
)
from specs.documents.text.documents import Passage
from specs.model.statements import Broadcast, SameShape, StatedShape, Statement

_BOTH = pattern(r"\b(?:multidirectional(?: \([^()]{0,40}\))? ?\**|num ?py[- ]style) broadcast(?:ing)?\b")
_ONE_WAY = pattern(
    r"(?<![`'\"\w])(?:tensors? )?"
    r"(?P<names>[`'\"\w]{1,60}(?:(?:,| and|, and) [`'\"\w]{1,60}){0,5})"
    r" (?:should|must|shall) be unidirectional(?:ly)? broadcast(?:able|ed) to (?:tensor )?"
    r"(?P<to>[^).;]{1,40})"
)
_TO = pattern(
    r"\b(?:(?:shape(?: of [`'\"]?\w+[`'\"]?)? (?:must|should|shall) be|must be|should be|is)"
    r"(?: unidirectional(?:ly)?)?) broadcast(?:able|ed) (?:to|with) (?:the )?(?:shape )?(?:of )?(?:tensor )?"
    r"[`'\"]?(?P<to>\([^()]{1,120}\)|\[[^\[\]]{1,120}\]|[A-Za-z_][^.;,()\[\]]{0,40})"
)
_SUPPORTED = pattern(
    r"\b(?:supports|follows) (?:\[?(?:numpy )?broadcast(?:ing)?\b)"
    r"|\binput tensors [`'\"]?\w+[`'\"]? and [`'\"]?\w+[`'\"]? are broadcast(?:ed)?\b"
)
_RESULT = pattern(r"\bshape equal to (?:the )?broadcast(?:ed)? shape of (?:the )?(?P<of>[^.;]{1,60})")
_NOT = pattern(r"\b(?:no|not|operations with|without|never)\b(?: \w+){0,3}$")


def find_broadcasts(about: str, passage: Passage, parts: ParameterNames) -> Iterator[Broadcast]:
    """What a passage says of broadcasting: in both directions once, one way for each input."""
    text = passage.text[:50_000]
    if about == "summary":
        found_both = chain(_BOTH.finditer(text), _SUPPORTED.finditer(text))
        both = next((match for match in found_both if _applies(text, match)), None)
        if both and len(parts.inputs) > 0:
            yield Broadcast(about, found(passage, both.start(), "multidirectional", 1.0), parts.data)
        for match in _ONE_WAY.finditer(text):
            for name in re.findall(r"\w+", re.sub(r"\band\b|\btensors?\b", " ", match["names"])):
                named = parts.about(name)
                if named is not None and named.startswith("inputs"):
                    origin = found(passage, match.start(), "unidirectional", 1.0)
                    yield Broadcast(named, origin, (name_of(named),), _target(match["to"], parts))
        return
    if about.startswith("outputs."):
        result = _RESULT.search(text)
        if result is not None and (names := _broadcast_inputs(result["of"], parts)):
            yield Broadcast(about, found(passage, result.start(), "broadcast-shape", 0.9), names)
    if not about.startswith("inputs."):
        return
    match_to = _TO.search(text)
    if match_to and not _NOT.search(text[: match_to.start()]):
        origin = found(passage, match_to.start(), "broadcastable", 0.9)
        yield Broadcast(about, origin, (name_of(about),), _target(match_to["to"], parts))


def _applies(text: str, match: re.Match[str]) -> bool:
    return not _NOT.search(text[max(0, match.start() - 60) : match.start()].rstrip(" *("))


def _broadcast_inputs(text: str, parts: ParameterNames) -> tuple[str, ...]:
    """The inputs that a list names; all where it says `two inputs`."""
    if re.match(r"(?:two |both |all )?(?:input tensors|inputs)\b", text, re.IGNORECASE):
        return tuple(parts.data)
    named = [parts.about(word) for word in re.findall(r"\w+", re.sub(r"\band\b", " ", text))]
    return tuple(name_of(about) for about in named if about and about.startswith("inputs."))


def _target(text: str, parts: ParameterNames) -> str:
    """What is broadcast to: an input by its name, else the shape or formula as it stands."""
    bare = text.strip().strip("`'\"")
    about = parts.about(bare) or (parts.tensor(bare) if not re.search(r"[-+*/(\[]|\bshape\b", bare) else None)
    return name_of(about) if about else bare


_SHAPE = r"(?:shapes?|dimensions?|size)"
_AS = pattern(
    rf"\bsame (?:\w+(?: \w+)? and )?{_SHAPE}(?:,? and (?:\w+ )?\w+)? (?:as|of|with"
    rf"|to) (?P<other>[^.;]{{1,80}})"
)
_IS = pattern(
    rf"\b{_SHAPE}(?: of (?:the )?[`'\"]?\w+[`'\"]?(?: tensors?)?)? (?:must be |should be |is |are )?"
    r"(?:the same as|identical to|equal to|copied from|must match|should match|must equal) (?:that of "
    r"|those of )?"
    r"(?P<other>[^.;]{1,80})"
)
_HAVING = pattern(
    rf"\b(?:has|having) (?:the )?(?:same )?(?:\w+ and )?{_SHAPE}(?: and (?:\w+ )?type)? (?:as"
    rf"|with) (?P<other>[^.;]{{1,80}})"
)
_MATCHING = pattern(
    r"\bshape(?: and (?:element )?type)? (?:equal to|matching|as) (?P<other>(?:the |input )[^.;,]{1,60}"
    r"|[`'\"][^.;,]{1,60})"
)
_ELEMENTWISE = pattern(r"\belement[- ]?wise\b")
_NO_ELEMENTWISE = pattern(r"\b(?:broadcast\w*|axis|axes|reduc\w+|like|equivalent|same as|sparse\w*)\b")
_ALTERNATIVE = pattern(r"\b(?:scalar|\d-?D)\b[^.;]{0,40}\bor\b")
_OR_ELSE = pattern(r",? or (?:an? |is |have |has |be )")
_CASE = pattern(r"\b(?:if|when|unless|in case)\b")
_PAIR = pattern(
    r"(?<!\w)[`'\"]?(?P<one>\w{1,60})[`'\"]? and [`'\"]?(?P<two>\w{1,60})[`'\"]? "
    r"(?:must |should |shall )?(?:have|be of|are of)"
    rf" (?:the |an )?(?:same|identical) {_SHAPE}"
)
_ALL = pattern(rf"\ball (?:the )?(?:input|inputs)(?: tensors)? (?:must |should )?have the same {_SHAPE}"
               r"(?P<except>,? except[^.]{1,80})?")  # fmt: skip
_SCALES = pattern(rf"\bscale and zero[ -]point(?: pair)? must have (?:the )?same {_SHAPE}")
_OUTPUT = pattern(
    rf"\b(?:the )?(?:output|result|resulting)(?: tensor)? (?:will have|has|have|having) (?:the "
    rf"|an )?same {_SHAPE}"
    r"(?= and| as|$)"
    rf"|\bproduces? (?:one )?output(?: data)?(?: \(Tensor<T>\))? of the same {_SHAPE}(?! as)"
)
_SUBJECT = pattern(r"\b(?P<generic>its|the|this)? ?(?P<kind>output|outputs|result|resulting)\b[^.;]{0,60}$")
_CONDITIONAL = pattern(
    r"\b(?:if|when|where|unless|in those cases|for|whose|in case|case)\b|\bnot (?:be |have )?(?:the )?$"
)
_EXCEPT = pattern(r"\b(?:except|but|apart from|other than)\b(?P<what>.{0,80})")
_NO_SHAPE = pattern(
    r"\b(?:number of elements|length|1|rank|first|last|two|three|other|remaining|trailing|leading"
    r"|spatial|inner|outer"
    r"|sequence|channel|batch)\b"
)


def find_same_shapes(about: str, passage: Passage, parts: ParameterNames) -> Iterator[SameShape]:
    """What a passage says about tensors of one shape, each pair once."""
    known: set[tuple[str, str]] = set()
    for sentence in sentences(passage.text):
        for same_shape in _of_sentence(about, passage, sentence, parts):
            if (same_shape.about, same_shape.as_) not in known:
                known.add((same_shape.about, same_shape.as_))
                yield same_shape


def _of_sentence(
    about: str, passage: Passage, sentence: Sentence, parts: ParameterNames
) -> Iterator[SameShape]:
    text = sentence.text
    group = about.partition(".")[0]
    everything = _ALL.search(text)
    if everything and parts.inputs:
        first = f"inputs.{parts.data[0]}"
        omitted = _omitted(everything["except"] or "")
        for name in parts.data[1:] or parts.data:
            origin = found(passage, sentence.start + everything.start(), "same-shape", 0.9)
            yield SameShape(f"inputs.{name}", origin, first, omitted)
        return
    scales = _SCALES.search(text)
    for name in parts.inputs if scales else ():
        beside = name.removesuffix("_zero_point") + "_scale"
        if scales and name.endswith("_zero_point") and beside in parts.inputs:
            origin = found(passage, sentence.start + scales.start(), "same-shape", 0.9)
            yield SameShape(f"inputs.{name}", origin, f"inputs.{beside}")
    pair = _PAIR.search(text)
    if (
        pair
        and _OR_ELSE.match(text, pair.end()) is None
        and not _CONDITIONAL.search(sentence.before(pair.start()))
    ):
        one, two = parts.about(pair["one"]), parts.about(pair["two"])
        if one and two and not {one.partition(".")[0], two.partition(".")[0]} & {"attributes"}:
            later, earlier = (one, two) if one.startswith("outputs") else (two, one)
            yield SameShape(later, found(passage, sentence.start + pair.start(), "same-shape", 1.0), earlier)
    for rule in (_AS, _IS, _HAVING, _MATCHING):
        match = rule.search(text)
        before = sentence.before(match.start()) if match else ""
        if match is None or _CONDITIONAL.search(before) or _ALTERNATIVE.search(before):
            continue
        if re.match(r"dimension\s+(?:must|should)\b", match[0], re.IGNORECASE):
            continue
        if _OR_ELSE.search(match["other"]) or re.match(r"broadcast", match["other"], re.IGNORECASE):
            continue
        if rule is _IS and (
            _NO_SHAPE.search(text[max(0, match.start() - 30) : match.start()])
            or _NO_SHAPE.search(text[match.start() : match.start("other") + 25])
        ):
            continue
        other = parts.tensor(
            re.sub(r"^(?:the )?(?:shapes?|dimensions?) of ", "", match["other"], flags=re.IGNORECASE)
        )
        subject = (
            about
            if group in ("inputs", "outputs")
            else _subject(sentence.before(match.start("other")), parts)
        )
        if other is None or subject is None or subject == other:
            continue
        # `Dimensions` may mean how many there are.
        sure = 0.6 if rule is _AS and "dimension" in match[0].lower() else 0.9
        origin = found(passage, sentence.start + match.start(), "same-shape", sure)
        yield SameShape(subject, origin, other, _omitted(match["other"]))
        return
    each = elementwise(sentence, parts) if group == "summary" else None
    if each is not None:
        origin = found(passage, sentence.start + each, "elementwise", 0.9)
        yield SameShape(f"outputs.{parts.outputs[0]}", origin, f"inputs.{parts.inputs[0]}")
        return
    plain = _OUTPUT.search(text) if group == "summary" else None
    if plain and parts.inputs and parts.outputs and not _CONDITIONAL.search(sentence.before(plain.start())):
        origin = found(passage, sentence.start + plain.start(), "same-shape", 0.75)
        yield SameShape(f"outputs.{parts.outputs[0]}", origin, f"inputs.{parts.inputs[0]}")


def elementwise(sentence: Sentence, parts: ParameterNames) -> int | None:
    """Where a sentence of a summary says that an operator of one input and output is applied to elements."""
    match = _ELEMENTWISE.search(sentence.text) if len(parts.inputs) == len(parts.outputs) == 1 else None
    if match is None or _NO_ELEMENTWISE.search(sentence.text) or parts.inputs[0] in ("inputs", "values"):
        return None
    return None if _CASE.search(sentence.before(match.start())) else match.start()


def _subject(before: str, parts: ParameterNames) -> str | None:
    """The tensor that a sentence of the summary speaks of."""
    named = re.search(r"[`'\"](\w+)[`'\"](?: tensor)?[^`'\"]{0,40}$", before)
    about = parts.about(named[1]) if named else None
    if about is not None and not about.startswith("attributes"):
        return about
    if _SUBJECT.search(before) and parts.outputs:
        return f"outputs.{parts.outputs[0]}"
    produced = re.search(r"\bproduces? (?:one )?(?:\w+ )?output\b", before, re.IGNORECASE)
    return f"outputs.{parts.outputs[0]}" if produced and parts.outputs else None


def _omitted(text: str) -> str | None:
    """The axis that an exception names: an attribute's name where one stands in it, else `one axis`."""
    match = _EXCEPT.search(text)
    if match is None:
        return None
    return "axis" if re.search(r"\baxis\b", match["what"]) else "one axis"


_LIKE_NUMPY = pattern(r"\bmatrix (?:product|multiplication) that behaves like \W{0,4}(?:numpy|np)\.matmul\b")
_MATRIX = pattern(r"^N-dimensional (?:\w+ )?matrix [`'\"]?(?P<name>\w{1,40})\b")
_PRODUCT_RESULT = pattern(r"^matrix multiply results?\b")
_TRANSPOSED = pattern(
    r"\bwhether [`'\"]?(?P<name>\w{1,40})[`'\"]? should be transposed on the last two dimensions\b"
)
_COLUMNS = pattern(
    r"^if it's a 1-?D tensor, its number of elements (?:should|must) be equal to the number of "
    r"(?P<what>columns|rows) of (?:input )?[`'\"]?(?P<name>\w{1,40})\b"
)
_LAST = pattern(
    r"\b(?:(?:dimension|shape|size|length) (?:is |are )?(?:the )?same (?:shape |size )?as"
    r"|same (?:dimension|shape|size|length) (?:as|with)) (?:the )?"
    r"(?:last dim(?:ension)?s? of (?:input )?[`'\"]?(?P<name>\w{1,40})"
    r"|[`'\"]?(?P<owner>\w{1,40})[`'\"]?'s last dim(?:ension)?)\b"
)
_VECTOR = pattern(r"\b(?:1-?D|vector|1-dimensional)\b")
_FACTORS = (("...", "M", "K"), ("...", "K", "N"))
_PRODUCT = ("...", "M", "N")


def find_products(about: str, passage: Passage, parts: ParameterNames) -> Iterator[Statement]:
    """What a passage says of a matrix product's factors and of vectors along another tensor's last axis."""
    group = about.partition(".")[0]
    if len(parts.data) >= 2 and parts.outputs:
        yield from _factors(about, passage, parts)
    if group == "inputs":
        yield from _vectors(about, passage, parts)


def _factors(about: str, passage: Passage, parts: ParameterNames) -> Iterator[Statement]:
    """The shapes of two factors and their product: matrices in the last two axes, the others broadcast."""
    text = passage.text[:MOST_LETTERS]
    factors = parts.data[:2]
    if about == "summary" and (match := _LIKE_NUMPY.search(text)) is not None:
        origin = found(passage, match.start(), "matrix-product", 0.9)
        for name, extents in zip(factors, _FACTORS, strict=True):
            yield StatedShape(f"inputs.{name}", origin, extents)
        yield StatedShape(f"outputs.{parts.outputs[0]}", origin, _PRODUCT)
        yield Broadcast("summary", origin, tuple(factors))
    elif about == f"outputs.{parts.outputs[0]}" and (match := _PRODUCT_RESULT.search(text)) is not None:
        origin = found(passage, match.start(), "matrix-product", 0.9)
        yield StatedShape(about, origin, _PRODUCT)
        yield Broadcast(about, origin, tuple(factors))
    elif about.startswith("inputs.") and (match := _MATRIX.search(text)) is not None:
        if name_of(about) == match["name"] and match["name"] in factors:
            origin = found(passage, match.start(), "matrix-product", 0.9)
            yield StatedShape(about, origin, _FACTORS[factors.index(match["name"])])
    elif about.startswith("attributes.") and (match := _TRANSPOSED.search(text)) is not None:
        if match["name"] not in factors:
            return
        *before, rows, columns = _FACTORS[factors.index(match["name"])]
        origin = found(passage, match.start(), "matrix-product", 0.9)
        when = f"{name_of(about)} != 0"
        yield StatedShape(f"inputs.{match['name']}", origin, (*before, columns, rows), when)


def _vectors(about: str, passage: Passage, parts: ParameterNames) -> Iterator[StatedShape]:
    """A vector that has an element for each column of another tensor, or for each place of its last axis."""
    for sentence in sentences(passage.text):
        columns = _COLUMNS.match(sentence.text)
        match = columns or _LAST.search(sentence.text)
        if match is None or (columns is None and not _VECTOR.search(sentence.before(match.start()))):
            continue
        named = parts.about(match["name"] or match["owner"])
        if named is None or not named.startswith("inputs.") or named == about:
            continue
        place = -2 if columns is not None and columns["what"].lower() == "rows" else -1
        when = f"rank({name_of(about)}) == 1" if columns is not None else None
        origin = found(passage, sentence.start + match.start(), "vector-along", 0.9)
        yield StatedShape(about, origin, (f"shape({name_of(named)})[{place}]",), when)
        return
