"""Names in prose that the operator does not have, where one letter tells which it means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from specs.documents import Passage
from specs.model import Finding, Source, Spec

_QUOTED = re.compile(r"``([^`]+)``|`([^`]+)`|'([A-Za-z_]\w*)'|\"([A-Za-z_]\w*)\"")
_WORD = re.compile(r"[A-Za-z_]\w*")


def find_wrong_names(spec: Spec, passages: Mapping[str, Passage]) -> Iterator[Finding]:
    """Quoted names that differ from one of the operator's by a plural s alone: one finding for each name."""
    known = {*spec.attributes, *(each.name for each in (*spec.inputs, *spec.outputs))}
    defined = {each.name.partition("[")[0] for each in spec.formulas}
    places: dict[str, list[Source]] = {}
    for passage in passages.values():
        for match in _QUOTED.finditer(passage.text):
            quoted = next(each for each in match.groups() if each is not None)
            for word in dict.fromkeys(_WORD.findall(quoted)):
                if word not in known | defined and (
                    f"{word}s" in known or word.removesuffix("s") in known - {word}
                ):
                    places.setdefault(word, []).append(passage.source(match.start() + 1))
    for word, found in places.items():
        meant = f"{word}s" if f"{word}s" in known else word.removesuffix("s")
        lines = ", ".join(str(each) for each in sorted({each.line for each in found}))
        yield Finding(
            "name-mismatch",
            "warning",
            min(found, key=lambda each: (each.line, each.column or 0)),
            f"the text speaks of {word}, the operator has {meant}",
            f"{word} at lines {lines}",
            "noted",
        )
