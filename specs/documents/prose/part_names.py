"""The names of an operator's parts, and which of them words in its text mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ARTICLES = re.compile(r"^(?:the|that|an?|its|each|of|shape|tensor's?|respective)\s+", re.IGNORECASE)
_WORD = re.compile(r"[\"'`*]*([A-Za-z_]\w*)[\"'`*]*")
_BESIDE = re.compile(r"_(?:scale|zero_point)s?$")
_GENERIC = frozenset(["tensor", "tensors", "input", "output", "data", "first"])


@dataclass(frozen=True)
class ParameterNames:
    """The attributes, inputs and outputs of one operator, by name."""

    attributes: Sequence[str] = ()
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()

    @property
    def data(self) -> tuple[str, ...]:
        """The inputs without the scales and zero points that quantised ones have beside them."""
        plain = tuple(each for each in self.inputs if not _BESIDE.search(each))
        return plain or tuple(self.inputs)

    def about(self, name: str) -> str | None:
        """The path of the part of that name; None where there is none.

        An input comes before an output and an attribute of its name; letters count in either case where that
        leaves one part alone.
        """
        groups = (("inputs", self.inputs), ("outputs", self.outputs), ("attributes", self.attributes))
        for group, names in groups:
            if name in names:
                return f"{group}.{name}"
        found = [f"{group}.{each}" for group, names in groups for each in names
                 if len(name) > 1 and each.lower() == name.lower()]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def tensor(self, words: str) -> str | None:
        """The input or output that words at the beginning of a text mean: `the input tensor`, `tensor X`."""
        rest = words.lstrip()
        generic = None
        for _ in range(5):
            shorter = _ARTICLES.sub("", rest)
            if shorter != rest:
                rest = shorter.lstrip()
                continue
            match = _WORD.match(rest)
            if match is None:
                break
            found = self.about(match[1])
            quoted = rest[0] in "`'\""
            if found is not None and (quoted or match[1] not in _GENERIC):
                return None if found.startswith("attributes") else found
            word = match[1].lower().rstrip("s")
            if quoted or word not in ("tensor", "input", "output"):
                break
            generic = word if word != "tensor" else generic
            named = found if found and not found.startswith("attributes") else None
            rest = rest[match.end() :].lstrip()
            following = _WORD.match(rest)
            if named and not (following and (following[1] in _GENERIC or self.about(following[1]))):
                return named
        return self._generic(generic)

    def _generic(self, word: str | None) -> str | None:
        """`The input` is the one of that name, or else the first; likewise `the output`."""
        names = {"input": self.inputs, "output": self.outputs}.get(word or "", ())
        if not names:
            return None
        return f"{word}s.{word if word in names else names[0]}"


def name_of(about: str) -> str:
    """The part's own name in a path: `axis` of `attributes.axis`."""
    return about.partition(".")[2]
