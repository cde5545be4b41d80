"""Examples call functions that the page neither defines nor imports."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator

from specs.documents.pages.pages import Version
from specs.model.spec import Finding, Severity, Source

CODE = "example-undefined-name"
SEVERITY: Severity = "hint"

_CALL = re.compile(r"(?<![\w.\"'])([a-z_]\w*)\(")
_DEFINED = re.compile(
    r"\b(?:def|class|import|as|for)\s+(\w+)|^[ \t]*(\w+)[ \t]*(?::[^=\n]{1,100})?=[^=]|\blambda (\w+)", re.M
)
_FUNCTION = re.compile(r"^\s*def (\w+)\(")
_IMPORTED = re.compile(r"\bimport +\(?((?:\w+(?: as \w+)?[,\s]*)+)")
_KNOWN = frozenset(dir(builtins)) | {"expect", "lambda", "if", "in", "not", "and", "or", "return", "for"}


def check(version: Version) -> Iterator[Finding]:
    """One finding for all functions of a version that its examples call and that are defined nowhere."""
    if not version.page.dialect.startswith("onnx"):
        return
    defined = {*_KNOWN, *(found[1] for line in version.lines if (found := _FUNCTION.match(line.text)))}
    blocks = [block for block in version.blocks if block.title]
    for block in blocks:
        text = "\n".join(_code(each.text) for each in block.lines)
        defined.update(name for match in _DEFINED.finditer(text) for name in match.groups() if name)
        for match in _IMPORTED.finditer(text):
            defined.update(re.findall(r"\w+", match[1]))
    missing: dict[str, Source] = {}
    for block in blocks:
        for line in block.lines:
            for match in _CALL.finditer(_code(line.text)):
                if match[1] not in defined:
                    missing.setdefault(match[1], line.source(match.start()))
    if missing:
        first = min(missing.values(), key=lambda each: (each.line, each.column or 0))
        message = "examples compute what they expect with functions that the page does not define"
        yield Finding(CODE, SEVERITY, first, message, ", ".join(missing), "noted")


def _code(text: str) -> str:
    """A line without its comment."""
    return text.split("#")[0] if "#" in text and '"' not in text.split("#")[0] else text
