"""ONNX's generated Markdown: Operators.md, Changelog.md, and ONNX Runtime's ContribOperators.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from opcert.errors import Place, UserError
from opcert.names import OperatorName
from specs.documents import KEY, Line, Text, split_lines
from specs.model import Document, Finding, Spec
from specs.onnx_pages.markdown_parts import read_markdown_parts
from specs.onnx_pages.version import read_version

DIALECT = "onnx-markdown"

_HEADING = re.compile(
    r'^### (?:<sub>\w+</sub> )?(?:<a name="[^"]*"></a>)*(?:<a name="[^"]*">)?\*\*(?P<name>[\w.]+?)'
    r"(?:-(?P<version>\d+))?\*\*(?P<deprecated> \(deprecated\))?(?:</a>)?$"
)
_SINCE = re.compile(
    r"^This version of the operator has been (?P<state>available|deprecated) since version (?P<version>\d+) "
    r"of the (?:default ONNX|'(?P<domain>[\w.]+)') operator set\.$"
)


def recognise(text: Text) -> float:
    """Sure where an anchored heading of an operator and its version sentence stand."""
    # Bounded, so that a line of a million anchors is answered at once.
    anchored = re.search(
        r'^### .{0,99}?<a name="[^"\n]{0,99}">.{0,99}?\*\*[\w.-]{1,99}\*\*', text.content, re.MULTILINE
    )
    since = "This version of the operator has been" in text.content
    return 1.0 if anchored and since else 0.0


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """Every operator version of the document; raises UserError where a user's name is not among them."""
    specs = list(_specs(text))
    if operator is None:
        return specs
    chosen = [each for each in specs if each.operator == operator]
    if not chosen:
        raise UserError(
            "the document does not define this operator", got=str(operator), where=Place(text.file)
        )
    return chosen


def _specs(text: Text) -> Iterator[Spec]:
    document = Document(KEY, text.file, DIALECT, text.sha256)
    for place, heading, lines in _operators(split_lines(text.content)):
        since = next((match for line in lines if (match := _SINCE.match(line.text))), None)
        full = heading["name"]
        domain, _, name = full.rpartition(".")
        version = heading["version"] or (since["version"] if since else None)
        findings = () if version else (_without_version(full, place),)
        stated = since["domain"] if since and since["domain"] else None
        operator = OperatorName(stated or domain or "ai.onnx", name, int(version or 1))
        deprecated = bool(heading["deprecated"]) or bool(since and since["state"] == "deprecated")
        parts = read_markdown_parts(lines, deprecated)
        yield read_version(operator, document, parts, findings)


def _without_version(name: str, line: Line) -> Finding:
    return Finding(
        "version-missing",
        "warning",
        line.source(),
        f"the page does not say since which version {name} holds",
        "experimental operators have none here; taken as version 1",
        "repaired",
    )


def _operators(lines: Sequence[Line]) -> Iterator[tuple[Line, re.Match[str], list[Line]]]:
    """Each operator's heading and lines; headings inside of code fences are code."""
    heading: tuple[Line, re.Match[str]] | None = None
    own: list[Line] = []
    fenced = False
    for line in lines:
        if line.text.lstrip().startswith("```"):
            fenced = not fenced
        match = None if fenced else _HEADING.match(line.text)
        section = not fenced and re.match(r"^#{1,3} ", line.text)
        if match or section:
            if heading is not None:
                yield (*heading, own)
            heading, own = ((line, match) if match else None), []
        elif heading is not None:
            own.append(line)
    if heading is not None:
        yield (*heading, own)
