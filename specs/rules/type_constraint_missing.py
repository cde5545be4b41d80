"""A type variable is used, and the page never says which types it stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents.pages.pages import Version
from specs.model.spec import Finding, ParameterSpec, Severity

CODE = "type-constraint-missing"
SEVERITY: Severity = "error"


def check(version: Version) -> Iterator[Finding]:
    """One finding for each type variable of an ONNX page that has no constraint."""
    if not version.page.dialect.startswith("onnx"):
        return
    parameters = (*version.spec.inputs, *version.spec.outputs)
    missing: dict[str, ParameterSpec] = {}
    for each in parameters:
        if re.fullmatch(r"[A-Z]\w*", each.type) and each.type not in version.spec.type_constraints:
            missing.setdefault(each.type, each)
    for name, parameter in missing.items():
        yield Finding(
            CODE,
            SEVERITY,
            parameter.origin.sources[0],
            f"the page never says which types {name} stands for",
            f"used by {', '.join(each.name for each in parameters if each.type == name)}",
            "noted",
        )
