"""The text uses a name that the operator does not have; one letter tells which one it means."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents.pages.pages import Version
from specs.documents.text.documents import Passage
from specs.model.spec import Finding, Severity, Source

CODE = "name-mismatch"
SEVERITY: Severity = "warning"

_MARKED = re.compile(
    r"```(?P<code>.*?)```|``(?P<double>[^`]+)``|`(?P<single>[^`]+)`|(?<!\w)'(?P<quoted>[A-Za-z_]\w*)'(?!\w)"
    r"|\"(?P<other>[A-Za-z_]\w*)\""
)
_WORD = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*")
_COUNTED = re.compile(r"\b(?:two|three|four|five|six|several|supported|different|these|all) $", re.IGNORECASE)
_GENERAL = frozenset(["input", "inputs", "output", "outputs"])
"""Words that pages also use for ports and for the tensors of graphs."""


def check(version: Version) -> Iterator[Finding]:
    """One finding for each marked name that differs from one of the operator's by a plural s alone.

    A marked name stands alone in quotes, or is indexed; in blocks of code, where names of their own are
    defined, it is indexed or has several parts.
    """
    if not version.page.dialect.startswith(("onnx", "openvino")):
        return
    spec = version.spec
    known = {*spec.attributes, *(each.name for each in (*spec.inputs, *spec.outputs))}
    defined = {each.name.partition("[")[0] for each in spec.formulas} | _GENERAL
    places: dict[str, list[Source]] = {}
    for passage in version.passages.values():
        for word, source in _marked_names(passage):
            if word not in known | defined and (_plural(word, known) or _singular(word, known)):
                places.setdefault(word, []).append(source)
    for word, found in places.items():
        meant = _plural(word, known) or _singular(word, known)
        lines = sorted({each.line for each in found})
        yield Finding(
            CODE,
            SEVERITY,
            min(found, key=lambda each: (each.line, each.column or 0)),
            f"the text speaks of {word}, the operator has {meant}",
            f"{word} at line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}",
            "noted",
        )


def _plural(word: str, known: set[str]) -> str | None:
    return f"{word}s" if f"{word}s" in known else None


def _singular(word: str, known: set[str]) -> str | None:
    return word[:-1] if word.endswith("s") and word[:-1] in known else None


def _marked_names(passage: Passage) -> Iterator[tuple[str, Source]]:
    for match in _MARKED.finditer(passage.text):
        in_code = match["code"] is not None
        start = match.start(str(match.lastgroup))
        text = match[str(match.lastgroup)]
        if _COUNTED.search(passage.text[max(match.start() - 12, 0) : match.start()]):
            continue
        for word in _WORD.finditer(text):
            indexed = text[word.end() : word.end() + 1] == "["
            if indexed or (in_code and "_" in word[0]) or word[0] == text:
                yield word[0], passage.source(start + word.start())
