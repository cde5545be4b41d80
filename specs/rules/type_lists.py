"""Rules on lists of types: those of type variables, inputs and outputs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.documents.pages.pages import Version
from specs.model.spec import Origin, ParameterSpec
from specs.rules import Told, check

_NAMED = re.compile(r"\bto (?:be )?(?:either )?(?P<words>[a-z][\w/, ]*?)\.?$")
_BETWEEN = frozenset(
    ["and", "or", "tensor", "tensors", "type", "types", "scalar", "scalars", "any", "either"]
)
_EXACT = {
    "float32": "float", "half": "float16", "int32_t": "int32", "int64_t": "int64", "bool": "bool",
    "boolean": "bool", "string": "string", "strings": "string",
}  # fmt: skip
_EXACT |= {
    name: name
    for name in ("float16", "bfloat16", "double", "int8", "int16", "int32", "int64", "uint8", "uint16",
                 "uint32", "uint64")
}  # fmt: skip
_FLOATS = frozenset(["float16", "bfloat16", "float", "double"])
_INTEGERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (2, 4, 8, 16, 32, 64))
_CLASSES = {"float": _FLOATS, "floating": _FLOATS, "int": _INTEGERS, "integer": _INTEGERS,
            "integers": _INTEGERS, "integral": _INTEGERS}  # fmt: skip
_COMPOSITE = re.compile(r"^(?:tensor|sparse_tensor|seq|optional)\((.*)\)$")
_MAP = re.compile(r"^map\((\w+), ?(.*)\)$")
_SMALL_FLOAT = re.compile(r"^float(?:4|6|8)e\dm\d(?:fn|fnuz|uz)?$")
"""Small floats are named by their bits; newer documents have more of them than calls can carry."""
_NAME = re.compile(r"^[a-z]\w*$")
_LISTED = re.compile(r"(?<!\w)(?:\w{1,40}\(){1,4}[^()]{0,80}\){1,4}|(?<!`)`{1,2}\w{1,40}`")
_MOST_TYPES = 60
"""Lines that the list of one constraint may take in the older pages."""


@check("hint", ("onnx", "openvino"))
def duplicate_type(version: Version) -> Iterator[Told]:
    """A list of types names one of them twice.

    One finding for each constraint; the reader of TensorFlow's docstrings compares while it reads.
    """
    for constraint in version.spec.type_constraints.values():
        if f"type_constraints.{constraint.name}" not in version.passages:
            continue
        start = version.page.position(constraint.origin.sources[0])
        line = version.page.lines[start]
        text = line.text
        if version.page.dialect == "onnx-sphinx-rst":
            lines = version.page.lines[start : start + _MOST_TYPES]
            text = "".join(each.text for each in lines).partition("):")[0]
        words = _LISTED.findall(text.partition("</tt> :")[2] or text.partition(":")[2] or text)
        twice = [word for position, word in enumerate(words) if word in words[:position]]
        if twice:
            message = f"the types of {constraint.name} list {twice[0]} twice"
            yield Told(constraint.origin.sources[0], message, text.strip()[:200])


@check("warning", ("onnx",))
def text_vs_types(version: Version) -> Iterator[Told]:
    """The text of a type constraint names other types than its list does.

    One finding for each constraint whose text ends in a plain list of types that is not the list's.
    """
    for constraint in version.spec.type_constraints.values():
        passage = version.passages.get(f"type_constraints.{constraint.name}")
        match = _NAMED.search(passage.text) if passage else None
        if passage is None or match is None:
            continue
        words = [word for word in re.split(r"[\s,/]+", match["words"]) if word and word not in _BETWEEN]
        if _differ(words, constraint.types):
            message = f"the text of {constraint.name} names other types than its list"
            evidence = f"the text: {', '.join(words)}; the list: {', '.join(constraint.types)}"
            yield Told(passage.source(match.start("words")), message, evidence)


def _differ(words: Sequence[str], types: Sequence[str]) -> bool:
    """Whether the words are all names of types, and mean others than the list has.

    `float` beside another exact type of floating point is float32, alone it is all of them; 8-bit floats go
    with either.
    """
    if not words or any(word not in _EXACT and word not in _CLASSES for word in words):
        return False
    exact = {_EXACT[word] for word in words if word in _EXACT}
    classes = [word for word in words if word in _CLASSES]
    if "float" in classes and exact & _FLOATS:
        classes.remove("float")
        exact.add("float")
    allowed = exact.union(*(_CLASSES[word] for word in classes))
    listed = {name for name in types if not name.startswith("float8")}
    return not listed <= allowed or (not classes and not exact <= listed)


@check("error", ("onnx",))
def type_constraint_missing(version: Version) -> Iterator[Told]:
    """A type variable is used, and the page never says which types it stands for.

    One finding for each type variable of an ONNX page that has no constraint.
    """
    parameters = (*version.spec.inputs, *version.spec.outputs)
    missing: dict[str, ParameterSpec] = {}
    for each in parameters:
        if re.fullmatch(r"[A-Z]\w*", each.type) and each.type not in version.spec.type_constraints:
            missing.setdefault(each.type, each)
    for name, parameter in missing.items():
        message = f"the page never says which types {name} stands for"
        evidence = (
            f"used by {', '.join(parameter.name for parameter in parameters if parameter.type == name)}"
        )
        yield Told(parameter.origin.sources[0], message, evidence)


@check("error", ("onnx",))
def unknown_element_type(version: Version) -> Iterator[Told]:
    """A list of types names an element type that there is not.

    One finding for each unknown type of an ONNX page's constraints, inputs and outputs.
    """
    spec = version.spec
    stated: list[tuple[str, str, Origin]] = [
        (f"the types of {constraint.name}", text, constraint.origin)
        for constraint in spec.type_constraints.values()
        for text in constraint.types
    ]
    stated += [
        (f"the type of {parameter.name}", parameter.type, parameter.origin)
        for parameter in (*spec.inputs, *spec.outputs)
        if parameter.type not in spec.type_constraints
    ]
    for what, text, origin in stated:
        name = unknown(text)
        if name is not None:
            near = difflib.get_close_matches(name, ELEMENT_TYPES, n=1)
            evidence = f"perhaps {near[0]}" if near else "none that ONNX has"
            yield Told(origin.sources[0], f"{what} names {name}, which is no element type", evidence)


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
