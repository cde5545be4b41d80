"""A list of types names an element type that there is not."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.documents.pages.pages import Version
from specs.model.spec import Finding, Origin, Severity

CODE = "unknown-element-type"
SEVERITY: Severity = "error"

_COMPOSITE = re.compile(r"^(?:tensor|sparse_tensor|seq|optional)\((.*)\)$")
_MAP = re.compile(r"^map\((\w+), ?(.*)\)$")
_SMALL_FLOAT = re.compile(r"^float(?:4|6|8)e\dm\d(?:fn|fnuz|uz)?$")
"""Small floats are named by their bits; newer documents have more of them than calls can carry."""
_NAME = re.compile(r"^[a-z]\w*$")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each unknown type of an ONNX page's constraints, inputs and outputs."""
    if not version.page.dialect.startswith("onnx"):
        return
    spec = version.spec
    stated: list[tuple[str, str, Origin]] = [
        (f"the types of {each.name}", text, each.origin)
        for each in spec.type_constraints.values()
        for text in each.types
    ]
    stated += [
        (f"the type of {each.name}", each.type, each.origin)
        for each in (*spec.inputs, *spec.outputs)
        if each.type not in spec.type_constraints
    ]
    for what, text, origin in stated:
        name = unknown(text)
        if name is not None:
            near = difflib.get_close_matches(name, ELEMENT_TYPES, n=1)
            evidence = f"perhaps {near[0]}" if near else "none that ONNX has"
            message = f"{what} names {name}, which is no element type"
            yield Finding(CODE, SEVERITY, origin.sources[0], message, evidence, "noted")


def unknown(text: str) -> str | None:
    """The part of a type that is no element type: `flot` of `seq(tensor(flot))`; None where all is known.

    A name in capitals is a type variable.
    """
    inner = text
    while (match := _COMPOSITE.match(inner) or _MAP.match(inner)) is not None:
        if len(match.groups()) == 2 and match[1] not in ELEMENT_TYPES:
            return match[1]
        inner = match[match.lastindex or 1]
    known = inner in ELEMENT_TYPES or inner == "unknown" or _SMALL_FLOAT.match(inner)
    return inner if not known and _NAME.match(inner) else None
