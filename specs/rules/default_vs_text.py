"""The default that the list of attributes prints is not the one that the text gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specs.documents.pages.pages import Version
from specs.documents.prose.defaults import find_default
from specs.model.spec import Finding, Severity

CODE = "default-vs-text"
SEVERITY: Severity = "warning"

_TRUTH = {"true": 1, "false": 0, "True": 1, "False": 0}


def check(version: Version) -> Iterator[Finding]:
    """One finding for each attribute of an ONNX page whose two defaults contradict each other."""
    if not version.page.dialect.startswith("onnx"):
        return
    for name, attribute in version.spec.attributes.items():
        origin = version.spec.origins.get(f"attributes.{name}.default")
        passage = version.passages.get(f"attributes.{name}")
        if origin is None or passage is None or origin.rule not in ("printed-default", "schema"):
            continue
        if attribute.values is not None and attribute.default not in attribute.values.values:
            # `default-outside-values` tells it.
            continue
        stated = find_default(passage)
        if stated is None or stated.origin is None or _agree(stated.value, attribute.default):
            continue
        message = f"the list of attributes gives {name} another default than the text"
        evidence = f"the list: {attribute.default}; the text: {stated.value}"
        yield Finding(CODE, SEVERITY, passage.source(stated.offset), message, evidence, "noted")


def _agree(stated: Any, printed: Any) -> bool:
    """Whether a default in words can mean the printed one; words for what is no number say nothing of it."""
    if isinstance(stated, str):
        if isinstance(printed, str):
            return stated == printed
        return _TRUTH.get(stated, printed) == printed if not isinstance(printed, list) else True
    if isinstance(stated, int | float) and isinstance(printed, int | float):
        return stated == printed or abs(stated - printed) <= 1e-5 * abs(printed)
    if isinstance(printed, list):
        # One number stands for as many as there are axes.
        return not printed or all(each == stated for each in printed)
    return True
