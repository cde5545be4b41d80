"""A comment stands behind an example's last statement: it belongs to what came next."""

from __future__ import annotations

from collections.abc import Iterator

from specs.model import Finding, Severity
from specs.pages import Version

CODE = "misplaced-comment"
SEVERITY: Severity = "warning"


def check(version: Version) -> Iterator[Finding]:
    """One finding for each example that ends with a comment, an empty line between it and the code."""
    if not version.page.dialect.startswith("onnx"):
        return
    for block in version.blocks:
        lines = list(block.lines)
        while lines and not lines[-1].text.strip():
            lines.pop()
        last = next((each for each in reversed(lines[:-1]) if each.text.strip()), None)
        if last is None or lines[-2].text.strip() or not lines[-1].text.lstrip().startswith("#"):
            continue
        if any(each.text.strip().startswith("expect(") for each in lines):
            source = lines[-1].source(len(lines[-1].text) - len(lines[-1].text.lstrip()))
            message = f"a comment ends example {block.title} and speaks of another"
            evidence = f"{lines[-1].number - last.number} lines behind the last statement"
            yield Finding(CODE, SEVERITY, source, message, evidence, "noted")
