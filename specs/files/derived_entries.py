"""Derived declarations below those that people write: what a spec.yaml leaves out, the document says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from opcert.vocabulary.errors import OpcertError, SeveralErrors, UserError
from specs.derived.deriving import derive
from specs.derived.entries import Derived, DerivedEntry
from specs.derived.kinds import LEFT_OUT
from specs.files.composition import Composed
from specs.files.declaration_checks import EVERY_INPUT, EVERY_OUTPUT, names_in
from specs.language.shape_expressions import parse_shape, shape_of_version
from specs.model.spec import Spec
from specs.model.structures import is_structured

_AN_AXIS = re.compile(r"axis\((\w+)(?:, negative=[^,()]*)?\)")
_EVERY = {"shapes": EVERY_INPUT, "results": EVERY_OUTPUT}


def fill_in(composed: Composed, spec: Spec) -> frozenset[str]:
    """Put derived entries into a version's view of a declaration, where it has none of its own.

    An input without a shape gets one, an attribute or input without a kind its kind; outputs get their
    shapes where those of all inputs are the derived ones, or that of the input whose shape the document says
    that they have. Who has an axis has one at least. Rules are put in where nobody declared anything.
    Returns the names whose kinds were put in. Raises SeveralErrors where the document contradicts itself
    about something that is put in.
    """
    derived = derive(spec)
    value = composed.value
    own = {key: _by_name(value.get(key)) for key in ("shapes", "kinds", "results", "extents")}
    own["kinds"] |= {name: None for key in ("attributes", "inputs") for name in _by_name(value.get(key))}
    if any(value.get(key) is not None and not isinstance(value[key], dict) for key in own):
        return frozenset()  # whoever reads the declaration says what is wrong with it
    undeclared = not value
    plain = [entry for entry in derived.entries if not entry.alone]
    known = {entry.path[1]: entry.value for entry in plain if entry.path[0] == "shapes"}
    version = spec.operator.since_version
    declared = dict(_shapes(own["shapes"], spec, version))
    others = [text for name, text in declared.items() if known.get(name) != text]
    taken = _names(others)
    bound = _bound_by_kinds(spec, own["kinds"], own["shapes"])
    inputs = {parameter.name for parameter in spec.inputs}
    chosen: list[DerivedEntry] = []
    alike: list[DerivedEntry] = []
    for entry in derived.entries:
        key, name = entry.path
        if key == "constraints":
            chosen += [entry] * undeclared
            continue
        if (entry.alone and not undeclared) or name in own[key] or _EVERY.get(key) in own[key]:
            continue
        if key == "shapes" and (name in bound or _names([str(entry.value)]) & taken):
            continue
        if key == "shapes" and not entry.origins and own["kinds"].keys() & inputs:
            continue
        if key == "extents" and name in taken:
            continue
        if key == "results" and (others or own["results"]):
            told = {declared.get(each) for each, text in known.items() if text == entry.value}
            if entry.origins and len(told) == 1 and None not in told:
                alike.append(replace(entry, value=told.pop()))
            continue
        chosen.append(entry)
    shaped_inputs = {entry.path[1] for entry in chosen if entry.path[0] == "shapes"} | {*own["shapes"]}
    if EVERY_INPUT not in shaped_inputs and not inputs <= shaped_inputs:
        chosen = [entry for entry in chosen if entry.path[0] != "results"]
    left_out = {entry.path[1] for entry in chosen if entry.alone and entry.value == LEFT_OUT}
    shaped = _names(
        str(entry.value) for entry in chosen if entry.path[0] == "shapes" and entry.path[1] not in left_out
    )
    chosen = [entry for entry in chosen if entry.path[0] != "extents" or entry.path[1] in shaped]
    chosen += alike
    _raise_contradictions(derived, None if undeclared else chosen, composed)
    for derived_entry in chosen:
        key, name = derived_entry.path
        if key == "constraints":
            value.setdefault(key, []).append(derived_entry.value)
        else:
            value[key] = {**(value.get(key) or {}), name: derived_entry.value}
    _have_axes(value, own["extents"], dict(_shapes(_by_name(value.get("shapes")), spec, version)))
    return frozenset(derived_entry.path[1] for derived_entry in chosen if derived_entry.path[0] == "kinds")


def _have_axes(value: dict[str, Any], bounded: Mapping[str, Any], shapes: Mapping[str, str]) -> None:
    """Bound the axes of inputs of which a kind is one axis, where nobody says how many these have."""
    for call in _by_name(value.get("kinds")).values():
        found = _AN_AXIS.match(str(call))
        shape = shapes.get(found[1], "") if found is not None else ""
        pack = shape.removeprefix("*")
        if pack.isidentifier() and pack not in bounded and shape != pack:
            value["extents"] = {**(value.get("extents") or {}), pack: "1..4"}


def _bound_by_kinds(spec: Spec, own: Mapping[str, Any], shapes: Mapping[str, Any]) -> set[str]:
    """The inputs whose shapes a kind that people wrote may choose.

    A kind of an input without a shape, of a graph, and of what is no attribute or input may choose all.
    """
    inputs = {parameter.name for parameter in spec.inputs}
    graphs = {name for name, attribute in spec.attributes.items() if attribute.other_type == "graph"}
    unshaped = {name for name in own.keys() & inputs if name not in shapes and EVERY_INPUT not in shapes}
    if unshaped or own.keys() - spec.attributes.keys() - inputs or own.keys() & graphs:
        return inputs
    return {parameter.name for parameter in spec.inputs if is_structured(spec, parameter)}


def _by_name(entries: Any) -> dict[str, Any]:
    """The entries of a mapping by the single names of their labels."""
    if not isinstance(entries, Mapping):
        return {}
    return {name: value for label, value in entries.items() for name in names_in(str(label))}


def _shapes(own: Mapping[str, Any], spec: Spec, version: int) -> Iterable[tuple[str, str]]:
    for parameter in spec.inputs:
        text = own.get(parameter.name, own.get(EVERY_INPUT))
        if text is not None:
            yield parameter.name, shape_of_version(str(text), version)


def _names(texts: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for text in texts:
        try:
            found |= parse_shape(text).names
        except OpcertError:
            continue  # whoever reads the shape says what is wrong with it
    return found


def _raise_contradictions(
    derived: Derived, chosen: Iterable[DerivedEntry] | None, composed: Composed
) -> None:
    """No call is made of two statements of which one must be wrong, unless somebody says which.

    `chosen` are the entries that documents say; None where everything is.
    """
    about = None if chosen is None else {derived_entry.path for derived_entry in chosen}
    errors = [
        UserError(
            f"the document contradicts itself about {name}",
            got=f"{' and '.join(contradiction.says)} ({' and '.join(derived.places(contradiction.sources))})",
            expected=f"a shape of {name} in spec.yaml, which says what is right",
            where=composed.place((key, name)),
        )
        for contradiction in derived.contradictions
        for key, name in [_place(contradiction.about)]
        if about is None or (key, name) in about
    ]
    if errors:
        raise SeveralErrors(errors)


def _place(about: str) -> tuple[str, str]:
    group, _, name = about.partition(".")
    return {"inputs": "shapes", "outputs": "results"}.get(group, "kinds"), name
