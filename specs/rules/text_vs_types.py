"""The text of a type constraint names other types than its list does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from specs.documents.pages.pages import Version
from specs.model.spec import Finding, Severity

CODE = "text-vs-types"
SEVERITY: Severity = "warning"

_NAMED = re.compile(r"\bto (?:be )?(?:either )?(?P<words>[a-z][\w/, ]*?)\.?$")
_BETWEEN = frozenset(
    ["and", "or", "tensor", "tensors", "type", "types", "scalar", "scalars", "any", "either"]
)
_EXACT = {
    "float32": "float", "half": "float16", "int32_t": "int32", "int64_t": "int64", "bool": "bool",
    "boolean": "bool", "string": "string", "strings": "string",
}  # fmt: skip
_EXACT |= {
    each: each
    for each in ("float16", "bfloat16", "double", "int8", "int16", "int32", "int64", "uint8", "uint16",
                 "uint32", "uint64")
}  # fmt: skip
_FLOATS = frozenset(["float16", "bfloat16", "float", "double"])
_INTEGERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (2, 4, 8, 16, 32, 64))
_CLASSES = {"float": _FLOATS, "floating": _FLOATS, "int": _INTEGERS, "integer": _INTEGERS,
            "integers": _INTEGERS, "integral": _INTEGERS}  # fmt: skip


def check(version: Version) -> Iterator[Finding]:
    """One finding for each constraint whose text ends in a plain list of types that is not the list's."""
    if not version.page.dialect.startswith("onnx"):
        return
    for constraint in version.spec.type_constraints.values():
        passage = version.passages.get(f"type_constraints.{constraint.name}")
        match = _NAMED.search(passage.text) if passage else None
        if passage is None or match is None:
            continue
        words = [each for each in re.split(r"[\s,/]+", match["words"]) if each and each not in _BETWEEN]
        if _differ(words, constraint.types):
            yield Finding(
                CODE,
                SEVERITY,
                passage.source(match.start("words")),
                f"the text of {constraint.name} names other types than its list",
                f"the text: {', '.join(words)}; the list: {', '.join(constraint.types)}",
                "noted",
            )


def _differ(words: Sequence[str], types: Sequence[str]) -> bool:
    """Whether the words are all names of types, and mean others than the list has.

    `float` beside another exact type of floating point is float32, alone it is all of them; 8-bit floats go
    with either.
    """
    if not words or any(each not in _EXACT and each not in _CLASSES for each in words):
        return False
    exact = {_EXACT[each] for each in words if each in _EXACT}
    classes = [each for each in words if each in _CLASSES]
    if "float" in classes and exact & _FLOATS:
        classes.remove("float")
        exact.add("float")
    allowed = exact.union(*(_CLASSES[each] for each in classes))
    listed = {each for each in types if not each.startswith("float8")}
    return not listed <= allowed or (not classes and not exact <= listed)
