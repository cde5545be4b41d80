"""The output's shape has an extent that follows from nothing in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.model import Finding, Severity
from specs.pages import Version

CODE = "extent-undefined"
SEVERITY: Severity = "hint"

_NAME = re.compile(r"^(?!num_)[A-Za-z]\w*$")
"""Names that say themselves what they count are left out."""
_MOST_MENTIONS = 2
"""A name that the text comes back to more often than that is explained somewhere."""


def check(version: Version) -> Iterator[Finding]:
    """One finding for the named extents of an output that neither an input nor a formula has."""
    if not version.page.dialect.startswith("openvino"):
        return
    spec = version.spec
    known = {
        name for each in spec.inputs for extent in each.shape or () for name in re.findall(r"\w+", extent)
    }
    known |= {*spec.attributes, *(each.name for each in spec.formulas)}
    text = "\n".join(line.text for line in version.lines)
    for output in spec.outputs:
        passage = version.passages.get(f"outputs.{output.name}")
        missing = [name for name in output.shape or () if _NAME.match(name) and name not in known
                   and not _is_explained(name, text)]  # fmt: skip
        if missing and passage is not None:
            match = re.search(rf"(?<!\w){missing[0]}(?!\w)", passage.text)
            yield Finding(
                CODE,
                SEVERITY,
                passage.source(match.start() if match else 0),
                f"nothing says what {' and '.join(missing)} of the output's shape come to",
                f"the output's shape is {', '.join(output.shape or ())}",
                "noted",
            )


def _is_explained(name: str, text: str) -> bool:
    word = rf"(?<!\w){re.escape(name)}"
    return bool(re.search(rf"{word}\W*(?:=|:|is\b|being\b|-)", text)) or (
        len(re.findall(rf"{word}(?!\w)", text)) > _MOST_MENTIONS
    )
