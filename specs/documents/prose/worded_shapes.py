"""Shapes with named extents: `tensor of shape (N, C, H, W)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
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
from specs.documents.prose.worded_conditions import condition, expression
from specs.documents.text.documents import Passage
from specs.model.statements import StatedShape

LIST = (
    r"(?P<list>\((?:[^()]|\([^()]*\)){0,200}\)"
    r"|(?:\[(?:[^\[\]]|\[[^\[\]]*\]){0,200}\](?:\.\.\.)?)+)"
)
"""A pattern of a list in brackets of either kind, or of several brackets in a row."""
_MOST = 12
_LONGEST = 60
_SLICE = re.compile(r"\[[^\[\]]*:[^\[\]]*\]$")
"""What is several extents, of which no expression says how many: `data.shape[:axis]`."""
_OR_ONE = re.compile(r"^([A-Za-z_]\w*) or 1$")
_TWO_WORDS = re.compile(r"[A-Za-z]\w* +[A-Za-z]\w*")


def read_extents(text: str) -> tuple[str, ...] | None:
    """The extents of a list in brackets; None where it is none, or an example of numbers alone.

    What may be 1 instead (`batch_size or 1`) is `1 or batch_size`; what is left blank in front is `_`.
    """
    if text.startswith("[") and "][" in text:
        items = re.findall(r"\[([^\[\]]*)\]|(\.\.\.)", text)
        extents = tuple((one or other).strip() for one, other in items)
    else:
        blank = ("_",) if text[1:-1].lstrip().startswith(",") else ()
        extents = (*blank, *_split(text[1:-1]))
    extents = tuple(_OR_ONE.sub(r"1 or \1", extent) for extent in extents)
    if extents[1:2] == ("...",) and extents[0] in ("0", "1"):
        return None
    if any(_SLICE.search(extent) for extent in extents):
        return None
    if not extents or len(extents) > _MOST or not any(re.search(r"[A-Za-z_*]", extent) for extent in extents):
        return None
    if any(len(extent) > _LONGEST or _TWO_WORDS.search(extent.removeprefix("1 or ")) for extent in extents):
        return None
    return extents


def _numbers(text: str) -> tuple[str, ...] | None:
    """The extents of a list of one or two numbers: longer ones are examples."""
    extents = tuple(word.strip() for word in text[1:-1].rstrip(", ").split(","))
    return (
        extents if len(extents) <= 2 and all(re.fullmatch(r"\d{1,3}", extent) for extent in extents) else None
    )


def _split(text: str) -> Iterator[str]:
    """The parts between commas or `x`; a run of dots is a part of its own, unless it stands in a product."""
    text = re.sub(r"[`$\\]", "", text)
    if " x " not in text:
        text = re.sub(r"(?<=\w)\s*(\.\.\.)", r", \1", text)
        text = re.sub(r"(\.\.\.)\s*(?=\w)", r"\1, ", text)
    for part in _between_commas(text):
        for word in re.split(r"\s+x\s+", part.strip()):
            for piece in re.split(r"(?<=[^*+\s])\s+(?=\.\.\.)|(?<=\.\.\.)\s+(?=[^*+\s])", word):
                if piece.strip():
                    yield piece.strip()


def _between_commas(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for position, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            yield text[start:position]
            start = position + 1
    yield text[start:]


_INTRODUCED = pattern(
    r"(?:\b(?P<subject>[`'\"]?\w+[`'\"]?)(?:\.shape ?=|'s shape is|`? shape)"
    r"|(?:\b(?:shapes?|(?:has|have|of|the|its) sizes?|dimensions?)|, size)\b(?!`?[\[(])"
    r"(?: \([^()]{1,40}\))?(?: for (?:non-?)? ?image cases?)?)"
    r"(?: of (?:the )?(?:[`'\"]?\w+[`'\"]? )?(?:should be|must be|is|has the form)| is expected| is| are"
    r"| becomes?| of| as"
    r"| should be"
    r"| must be| will be| in the form of| are in the form of| (?:must have|has) the form|(?: is| are)? ?:)*"
    r"[:=]? ?[`$]*" + LIST
)
_OR = pattern(
    r"(?:[`$]*,? ?(?:(?:for|in|of) [^.,;()\[\]]{1,50})?,? ?or,? (?:(?:an? )?\d-?D (?:input )?(?:tensors? )?)?"
    r"(?:(?:with |of )?(?:the )?shapes? ?(?:of )?)?[`$]*|`, (?=`\[)`)" + LIST
)
_WHEN = pattern(r"[`$]*,? (?:if|when) (?P<condition>[^.;]{1,80})")
_AGAIN = pattern(r"\b(?:if|when) (?P<words>[^.;,]{1,60}),")
_BARE = pattern(
    r"(?:\b(?:input|output|data|a) tensor of |\btensor of type [`'\"]?\w+[`'\"]?,? `|^)"
    + LIST
    + r"(?=`?(?:,|$|\.))"
)
_BY_X = pattern(
    r"^(?:an? |this is an? )?(?P<sizes>[`\w]{1,40}(?: x [`\w]{1,40})+) (?:\w+ )?(?:matrix|tensor)\b"
)
_COUNTED = pattern(
    r"\b(?:1-?D|1-dimensional|vector)\b[^.()\[\]]{0,40}? (?:of|with|has|containing) (?:exactly )?"
    r"(?:(?:size|length) (?:of )?(?P<size>\d{1,4})\b(?![\w*+.-])"
    r"|(?P<count>\d{1,4}|one|two|three|four) (?:\w+ )?(?:elements?|values?)\b)"
)
_BOTH = pattern(
    r"\bshape of [`'\"]?(?P<one>\w+)[`'\"]? and [`'\"]?(?P<two>\w+)[`'\"]? (?:is|are) [`$]*" + LIST
)
_ELEMENTS = pattern(
    r"^if it's a 1-?D tensor, its number of elements (?:should"
    r"|must) be equal to [^.()]{1,60}\((?P<name>\w+)\)"
)
_SIZED = pattern(
    r"\b(?:1-?D|1-dimensional|tensor|vector|bias|window|scalars?)\b[^.()\[\]]{0,50}?\b(?:of|has|with"
    r"|have) (?:the )?"
    r"(?:size|length) ?(?:of|:)? [`'\"]?(?P<name>[A-Za-z]\w{0,30})[`'\"]?(?![\w(.*/])"
)
_NAMED = pattern(
    r"\b(?:input tensor|output tensor|input|output|tensor) [`'\"]?(?P<name>\w+)[`'\"]?"
    r" (?:tensor )?(?:has|have|is|of|with)[^.,;]{0,20}$"
    r"|(?:^|[,;] (?:and )?)(?:the )?(?:input )?[`'\"](?P<quoted>\w+)[`'\"](?: tensor)? (?:has"
    r"|(?:is|must be|should be) an?(?: [\w`-]{1,20}){1,4})(?: (?:of|with))?(?: the)? ?$"
)
_GENERIC = pattern(
    r"\b(?:the |an? |one |its )?(?P<last>input|output) (?:\w+ )?(?:tensor )?(?:of |has |have |is |with "
    r"|the )*\w*\W*$"
    r"|\b(?:the |an? |one )(?P<early>input|output)(?: tensor)? (?:of|has|with|is an? tensor)"
)
_EXAMPLE = pattern(r"\b(?:scalar|if|when|example|e\.g|given|empty|cannot|not)\b")
_SCALAR = pattern(r"\bscalar\b|\bor\b")
_SKIPPED = pattern(
    r"\b(?:broadcast\w*|differs?|e\.g\.|for example|denotation|instance|flatten|except|becomes?)\b"
    r"|(?<!^)\botherwise\b|^otherwise,"
)
_NO_SUBJECT = frozenset(
    ["the", "whole", "of", "this", "has", "a", "packed", "output", "input", "image", "following", "with",
     "in", "tensor", "general", "non", "case", "kernel", "weight", "it", "its", "their", "expected"]
)  # fmt: skip
_NO_SIZE = frozenset(
    ["at", "the", "each", "a", "an", "one", "same", "matching", "equal", "greater", "output", "input",
     "least", "of", "or", "and", "as", "that", "this", "its", "all"]
)  # fmt: skip
_PACKED = pattern(r"\bpacked (?P<what>QKV|KV) with $")
"""What makes the shape of one input of several that lie side by side in it: the others are left out."""
_UNPACKED = {"qkv": "key", "kv": "value"}
_DEFINED = pattern(
    r"\b(?:where|and|the) [`$]*(?P<name>[A-Za-z]\w{0,40})[`$]* ?(?:is|=) ?[`$]*"
    r"(?P<of>[\w(][\w ()+*/-]{1,100}?)(?=[`$]*(?:[,;]|\.(?!\w)|$| and \w{1,40} ?=))"
)
_OPERATION = re.compile(r"[-+*/]")
_MOST_DEFINED = 20
_STEP = pattern(r"\b(?:to|produce|obtain) `\w+`(?: of)? ?$")
"""What makes something in between: `Reshape input to reshaped of shape`."""
_TENSORS = ("inputs", "outputs")
MOST_SHAPES = 20


def find_shapes(about: str, passage: Passage, parts: ParameterNames) -> Iterator[StatedShape]:
    """Every shape with a named extent that a passage states, and what it says that such a name is put in."""
    meant = defined_extents(passage.text, parts)
    read = (
        replace(shape, extents=tuple(meant.get(extent, extent) for extent in shape.extents))
        for sentence in sentences(passage.text)
        for shape in _Reader(about, passage, sentence, parts).shapes()
    )
    yield from islice(read, MOST_SHAPES)


def defined_extents(text: str, parts: ParameterNames) -> dict[str, str]:
    """What names of extents stand for: `where d is (num_heads + 2 * kv_num_heads) * head_size`."""
    found: dict[str, str] = {}
    for match in islice(_DEFINED.finditer(text[:MOST_LETTERS]), _MOST_DEFINED):
        whole = expression(match["of"], {}) if _OPERATION.search(match["of"]) else None
        if whole is not None and parts.about(match["name"]) is None:
            found.setdefault(match["name"], whole)
    return found


@dataclass(frozen=True)
class _Reader:
    """Reads one sentence of a passage about a part."""

    about: str
    passage: Passage
    sentence: Sentence
    parts: ParameterNames

    def shapes(self) -> Iterator[StatedShape]:
        yield from self._of_elements()
        opening, readable = self._opening()
        # What names another tensor's extents gives the names that follow.
        naming = re.match(r"if\s+`?\w+`?'s shape is `?\[", self.sentence.text, re.IGNORECASE) is not None
        if not readable and not naming:
            return
        stated = list(self._introduced(opening)) if not naming else []
        stated = stated or list(self._bare(opening))
        yield from stated or self._sized(opening)

    def _shape(
        self, about: str, place: int, sure: float, extents: tuple[str, ...], when: str | None
    ) -> StatedShape:
        rule = "stated-shape" if sure > 0.75 else "bare-shape"
        return StatedShape(about, found(self.passage, self.sentence.start + place, rule, sure), extents, when)

    @property
    def _is_tensor(self) -> bool:
        return self.about.partition(".")[0] in _TENSORS

    def _extents(self, text: str) -> tuple[str, ...] | None:
        """The extents of a list; numbers alone count where the passage is about one tensor."""
        extents = read_extents(text)
        if extents is None and self._is_tensor and not _EXAMPLE.search(self.sentence.text):
            extents = _numbers(text)
        return extents

    def _of_elements(self) -> Iterator[StatedShape]:
        """`If it's a 1-D tensor, its number of elements should be equal to the number of channels (M)`."""
        match = _ELEMENTS.match(self.sentence.text)
        if match and self._is_tensor:
            yield self._shape(self.about, 0, 0.9, (match["name"],), f"rank({name_of(self.about)}) == 1")

    def _introduced(self, opening: str | None) -> Iterator[StatedShape]:
        """Lists behind `shape of` and its like, each with those that `or` joins to it."""
        text = self.sentence.text
        position, begun = 0, False
        while (match := _INTRODUCED.search(text, position)) is not None:
            again = _AGAIN.search(text, position, match.start()) if begun else None
            opening = condition(again["words"], self.parts) if again else opening
            position = match.end()
            extents, subject = self._extents(match["list"]), self._subject(match)
            if extents is None or subject is None or _SKIPPED.search(text[: match.start("list")]):
                continue
            begun = True
            when, position = self._when(position)
            when = when or self._packed(match.start("list"))
            for each in (*self._chained(match.start()), subject):
                yield self._shape(each, match.start(), 0.9, extents, when or opening)
            while (other := _OR.match(text, position)) is not None:
                extents = self._extents(other["list"])
                if extents is None:
                    break
                when, position = self._when(other.end())
                yield self._shape(subject, other.start(), 0.9, extents, when or opening)

    def _bare(self, opening: str | None) -> Iterator[StatedShape]:
        """`Tensor of [N, C]`, a list at the beginning, and a shape that two tensors have."""
        for rule in (_BARE, _BOTH):
            match = rule.search(self.sentence.text)
            extents = read_extents(match["list"]) if match else None
            if match is None or extents is None:
                continue
            names = [self.about]
            if rule is _BOTH:
                names = [about for each in ("one", "two") if (about := self.parts.about(match[each]))]
            for name in names:
                if name.partition(".")[0] in _TENSORS:
                    yield self._shape(name, match.start(), 0.75, extents, opening)

    def _sized(self, opening: str | None) -> Iterator[StatedShape]:
        """`Bias of size M`, `1-D tensor of two elements`: one extent. `A batch_size x classes matrix`."""
        if not self._is_tensor:
            return
        crossed, counted = _BY_X.match(self.sentence.text), _COUNTED.search(self.sentence.text)
        if crossed is not None:
            extents = tuple(re.findall(r"\w+", re.sub(r"\sx\s", " ", crossed["sizes"])))
            yield self._shape(self.about, 0, 0.9, extents, opening)
            return
        if counted is not None and not _SCALAR.search(self.sentence.text):
            number = counted["size"] or counted["count"]
            extent = NUMBER_WORDS.get(number.lower(), number)
            yield self._shape(self.about, counted.start(), 0.9, (extent,), opening)
            return
        match = _SIZED.search(self.sentence.text)
        if match is None or match["name"].lower() in _NO_SIZE:
            return
        if not re.match(r"for\b", self.sentence.text, re.IGNORECASE):
            yield self._shape(self.about, match.start(), 0.75, (match["name"],), opening)

    def _opening(self) -> tuple[str | None, bool]:
        """The condition that opens the sentence, and whether it can be read (`For 2D data,` is none)."""
        text = self.sentence.text
        match = re.match(r"(?:if|when)\s+(?P<words>[^.;]{1,80}?)(?:,|\bthen\b)\s", text, re.IGNORECASE)
        if match is None:
            return None, re.match(r"(?:if|when|given|e\.g)\b", text, re.IGNORECASE) is None
        words = match["words"].strip().strip("`")
        if re.fullmatch(r"(?:it is )?(?:given|provided|specified|present)", words, re.IGNORECASE):
            return None, True
        if re.fullmatch(r"-?\d+", words) and self.about.startswith("attributes."):
            return f"{name_of(self.about)} == {words}", True
        read = condition(words, self.parts)
        return read, read is not None

    def _when(self, position: int) -> tuple[str | None, int]:
        """The condition that follows a shape, and where what comes behind it begins."""
        match = _WHEN.match(self.sentence.text, position)
        if match is None:
            return None, position
        words = re.split(r",? or [`(\[]", match["condition"], maxsplit=1)[0]
        read = condition(words, self.parts)
        return read, match.start("condition") + len(words) if read else position

    def _packed(self, position: int) -> str | None:
        """Where a shape is one of several inputs side by side: the next of them is left out."""
        match = _PACKED.search(re.sub(r"\bshapes?(?: is| of)?\s*$", "", self.sentence.before(position)))
        other = _UNPACKED[match["what"].lower()] if match is not None else ""
        return f"not present({other})" if other in self.parts.inputs else None

    def _chained(self, position: int) -> list[str]:
        """The tensors in front of `Y.shape = [...]` where several are equal: `X.shape = Y.shape = [...]`."""
        match = re.search(r"(?:\w+\.shape\s*=\s*)+$", self.sentence.before(position))
        names = re.findall(r"(\w+)\.shape", match[0]) if match else []
        named = [about for name in names if (about := self.parts.about(name))]
        return [each for each in named if not each.startswith("attributes")]

    def _subject(self, match: re.Match[str]) -> str | None:
        """The tensor whose shape it is: the one named just before, or the one that the passage is about."""
        if _STEP.search(self.sentence.before(match.start())):
            return None
        word = (match["subject"] or "").strip("`'\"")
        named = self.parts.about(word) if word and word.lower() not in _NO_SUBJECT else None
        if named is not None:
            return None if named.startswith("attributes") else named
        before = _NAMED.search(self.sentence.before(match.start()))
        named = self.parts.about(before["name"] or before["quoted"]) if before else None
        if named is not None and not named.startswith("attributes"):
            return named
        if self._is_tensor:
            return self.about
        generic = _GENERIC.search(self.sentence.before(match.end())) if self.about == "summary" else None
        return self.parts.tensor((generic["last"] or generic["early"]).lower()) if generic else None
