"""Broadcasting: inputs that are broadcast to each other, or one way to another shape."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents.prose.part_names import ParameterNames, name_of
from specs.documents.prose.sentences import found, pattern
from specs.documents.text.documents import Passage
from specs.model.statements import Broadcast

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
_NOT = pattern(r"\b(?:no|not|operations with|without|never)\b(?: \w+){0,3}$")


def find_broadcasts(about: str, passage: Passage, parts: ParameterNames) -> Iterator[Broadcast]:
    """What a passage says of broadcasting: in both directions once, one way for each input."""
    text = passage.text[:50_000]
    if about == "summary":
        both = next((each for each in _BOTH.finditer(text) if _applies(text, each)), None)
        if both and len(parts.inputs) > 0:
            yield Broadcast(about, found(passage, both.start(), "multidirectional", 1.0), parts.data)
        for match in _ONE_WAY.finditer(text):
            for name in re.findall(r"\w+", re.sub(r"\band\b|\btensors?\b", " ", match["names"])):
                named = parts.about(name)
                if named is not None and named.startswith("inputs"):
                    origin = found(passage, match.start(), "unidirectional", 1.0)
                    yield Broadcast(named, origin, (name_of(named),), _target(match["to"], parts))
        return
    if not about.startswith("inputs."):
        return
    match_to = _TO.search(text)
    if match_to and not _NOT.search(text[: match_to.start()]):
        origin = found(passage, match_to.start(), "broadcastable", 0.9)
        yield Broadcast(about, origin, (name_of(about),), _target(match_to["to"], parts))


def _applies(text: str, match: re.Match[str]) -> bool:
    return not _NOT.search(text[max(0, match.start() - 60) : match.start()].rstrip(" *("))


def _target(text: str, parts: ParameterNames) -> str:
    """What is broadcast to: an input by its name, else the shape or formula as it stands."""
    bare = text.strip().strip("`'\"")
    about = parts.about(bare) or (parts.tensor(bare) if not re.search(r"[-+*/(\[]|\bshape\b", bare) else None)
    return name_of(about) if about else bare
