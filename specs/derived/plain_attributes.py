"""Attributes of which the facts say all that a call needs: numbers between bounds, and element types."""

from __future__ import annotations

from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.derived.entries import Collected
from specs.derived.kinds import LEFT_OUT
from specs.model.signature_parts import AttributeSpec
from specs.model.spec import Spec

_SILENT = ("float", "int32")
"""The types that are asked for where no sentence lists any."""


def add_plain_attributes(spec: Spec, found: Collected) -> None:
    """Add a kind for each number between stated bounds, and for each attribute that is an element type."""
    told = {entry.path[1] for entry in found.entries if entry.path[0] == "kinds"}
    for attribute in spec.attributes.values():
        if attribute.name in told:
            continue
        call = _bounded(attribute) or _type(attribute)
        if call is not None:
            note = "" if attribute.origin.sources else "the facts of the attribute"
            found.add("kinds", attribute.name, call, attribute.origin, note=note)


def _bounded(attribute: AttributeSpec) -> str | None:
    """The kind of a floating-point number that the facts bound."""
    ends = {"at_least": attribute.at_least, "more_than": attribute.more_than, "high": attribute.at_most}
    words = [f"{word}={end}" for word, end in ends.items() if end is not None]
    return f"real({', '.join(words)})" if words and attribute.kind == "float" else None


def _type(attribute: AttributeSpec) -> str | None:
    """The kind of an attribute whose value is an element type: one of those that are listed."""
    if attribute.kind is not None or attribute.other_type != "type":
        return None
    listed = attribute.values.values if attribute.values is not None else ()
    known = [str(each) for each in listed if str(each) in ELEMENT_TYPES]
    if not known and not attribute.required:
        return LEFT_OUT
    if not known and listed:
        return None
    return f"enumeration({', '.join(repr(f'tensor({each})') for each in known or _SILENT)})"
