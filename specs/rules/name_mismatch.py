"""The text uses a name that the operator does not have; one letter tells which one it means."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.model import Finding, Severity, Source
from specs.pages import Version

CODE = "name-mismatch"
SEVERITY: Severity = "warning"

_QUOTED = re.compile(r"``([^`]+)``|`([^`]+)`|'([A-Za-z_]\w*)'|\"([A-Za-z_]\w*)\"")
_WORD = re.compile(r"[A-Za-z_]\w*")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each quoted name that differs from one of the operator's by a plural s alone."""
    if not version.page.dialect.startswith(("onnx", "openvino")):
        return
    spec = version.spec
    known = {*spec.attributes, *(each.name for each in (*spec.inputs, *spec.outputs))}
    defined = {each.name.partition("[")[0] for each in spec.formulas}
    places: dict[str, list[Source]] = {}
    for passage in version.passages.values():
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
            CODE,
            SEVERITY,
            min(found, key=lambda each: (each.line, each.column or 0)),
            f"the text speaks of {word}, the operator has {meant}",
            f"{word} at lines {lines}",
            "noted",
        )
