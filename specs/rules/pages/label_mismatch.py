"""A label is written in another way than the same label elsewhere on the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from specs.model import Finding, Severity
from specs.pages import Version

CODE = "label-mismatch"
SEVERITY: Severity = "hint"

_LABEL = re.compile(r"^\s*([A-Za-z]+(?:[ _][a-z]+)+): *[`\[]")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each label with an underscore where more of its kind have a space, or the other way."""
    if not version.page.dialect.startswith("openvino"):
        return
    labels = [
        (match[1], line, match.start(1)) for line in version.prose_lines if (match := _LABEL.match(line.text))
    ]
    counts = Counter(name for name, _, _ in labels)
    for name, line, start in labels:
        other = name.replace("_", " ") if "_" in name else name.replace(" ", "_")
        if counts[other] > counts[name]:
            message = f"the label {name} is written {other} elsewhere"
            evidence = f"{other}: {counts[other]} times"
            yield Finding(CODE, SEVERITY, line.source(start), message, evidence, "noted")
