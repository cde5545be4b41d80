"""Declarations held against what documents state: what both say, and where one of them must be wrong."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.yaml_files import YamlDocument
from specs.derived.deriving import derive
from specs.derived.entries import Derived
from specs.derived.kinds import axis_ends
from specs.files.composition import compose_document
from specs.files.declaration_checks import EVERY_INPUT, EVERY_OUTPUT, names_in
from specs.files.declaration_files import read_document
from specs.files.declared_words import covered, other_versions
from specs.files.derived_entries import fill_in
from specs.files.imported_files import read_imported
from specs.files.layers import merge_layers
from specs.files.spec_folders import DECLARATION, OWN_FOLDER, find_facts
from specs.language.expressions import Expression, KindCall, parse_call
from specs.language.shape_expressions import Shape, ShapePart, shape_of_version
from specs.model.signature_parts import Origin, Source
from specs.model.spec import Spec
from specs.model.statements import Range, Rank, StatedShape, Statement, describe, is_proposed
from specs.rules import Told, examine

_MANY = 10**6
_ENDS = frozenset(["at_least", "more_than", "below", "high", "low", "mistaken", "length"])
"""Arguments of numbers beside which ends still say which numbers there are."""


@examine("error")
def contradicts_document(spec: Spec) -> Iterator[Told]:
    """A declaration says otherwise than a sentence of the document, and not why."""
    overrides = spec.declared.overrides if spec.declared is not None else {}
    for unlike in unlike_document(spec) if spec.declared is not None else ():
        if unlike.path not in overrides and unlike.origin.sources:
            yield Told(
                unlike.origin.sources[0],
                f"{unlike.path} of the declaration is {unlike.declared}, and the document says "
                f"{unlike.stated}: mend one of them, or write `overrides: {{{unlike.path}: <why>}}`",
                str(_place(spec, unlike.path)),
            )


def _place(spec: Spec, path: str) -> object:
    declared = spec.declared
    key, _, name = path.partition(".")
    if declared is None:
        return path
    uses = [kind.place for kind in declared.kinds if key == "kinds" and kind.name == name]
    return uses[0] if uses else declared.places.get(name if key == "shapes" else DECLARATION, path)


@examine("hint")
def derived_anyway(spec: Spec) -> Iterator[Told]:
    """A declaration says what the document says, too, so that it could leave it out.

    One finding for each file, told of the newest version that it speaks of.
    """
    place = spec.declared.places.get(DECLARATION) if spec.declared is not None else None
    if place is None or not Path(place.file).is_file():
        return
    file = Path(place.file)
    folders = (file.absolute().parents[2], OWN_FOLDER)
    document = read_document(file)
    facts = merge_layers(read_imported(find_facts(spec.operator, folders[:1])))
    versions = covered(document, [facts, *other_versions(spec, folders)])
    if any(version.operator.since_version > spec.operator.since_version for version in versions):
        return
    found = said_twice(document, versions, folders)
    if found:
        derived = derive(facts)
        origins = {entry.path: entry for entry in derived.entries}
        told = [f"{document.place(path)} ({', '.join(_lines(derived, path, origins))})" for path in found]
        stated = (origin.sources[0] for origin in origins.values() if origin.sources)
        first = next(stated, Source(facts.documents[0].key, 1))
        listed = ", ".join(".".join(path) for path in found)
        yield Told(first, f"the document says this of spec.yaml, too: {listed}", "; ".join(told))


def _lines(derived: Derived, path: tuple[str, str], origins: Mapping[tuple[str, ...], Any]) -> list[str]:
    entries = [origins.get((path[0], name)) for name in names_in(path[1])]
    lines = [line for entry in entries if entry is not None for line in derived.places(entry.sources)[:1]]
    return lines or ["silence"]


def said_twice(
    document: YamlDocument, versions: Sequence[Spec], folders: Sequence[Path]
) -> list[tuple[str, str]]:
    """The entries of a declaration without which the documents of each version come to the same."""
    value = document.value if isinstance(document.value, dict) else {}
    derived = {entry.path for spec in versions for entry in derive(spec).entries}
    asked = [
        (key, str(label))
        for key in ("results", "kinds", "extents", "shapes")
        for label in (value.get(key) if isinstance(value.get(key), dict) else None) or ()
        if any((key, name) in derived for name in names_in(str(label)))
    ]
    wanted = [_filled(document, version, folders) for version in versions] if asked else []
    found: list[tuple[str, str]] = []
    for key, label in (*asked, *asked):  # what only goes behind another one goes in the second round
        if (key, label) in found:
            continue
        rest = {name: each for name, each in document.value[key].items() if name != label}
        shorter = replace(document, value={**document.value, key: rest})
        try:
            same = [_filled(shorter, version, folders) for version in versions] == wanted
        except OpcertError:
            continue
        if same:
            document = shorter
            found.append((key, label))
    return found


def _filled(document: YamlDocument, spec: Spec, folders: Sequence[Path]) -> object:
    """The shapes, extents, results and kinds of a version by single names, with those of its document.

    Extents and kinds have an order, in which values are drawn for them.
    """
    composed = compose_document(document, spec, folders)
    fill_in(composed, spec)
    version = spec.operator.since_version
    found: dict[str, dict[str, object]] = {}
    for key, every in (("shapes", EVERY_INPUT), ("results", EVERY_OUTPUT), ("extents", ""), ("kinds", "")):
        own = {
            name: each for label, each in (composed.value.get(key) or {}).items() for name in names_in(label)
        }
        parts = spec.inputs if key == "shapes" else spec.outputs if key == "results" else ()
        if parts:
            texts = {part.name: own.get(part.name, own.get(every)) for part in parts}
            found[key] = {name: shape_of_version(str(text), version) for name, text in texts.items()}
        else:
            found[key] = {name: _of_version(str(each), version) for name, each in own.items()}
    return found, list(found["extents"]), list(found["kinds"])


def _of_version(text: str, version: int) -> str:
    """A kind as one version sees it: counting from the end, which hangs on the version, is so or is not."""
    for condition in re.findall(r", negative=(version >= \d+)", text):
        holds = version >= int(condition.rpartition(" ")[2])
        text = text.replace(f", negative={condition}", "" if holds else ", negative=False")
    return text


@dataclass(frozen=True)
class UnlikeDocument:
    """An entry of a declaration (`shapes.X`) and the statement of a document that it contradicts."""

    path: str
    declared: str
    stated: str
    origin: Origin


def unlike_document(spec: Spec) -> Iterator[UnlikeDocument]:
    """Where the declaration of a version says otherwise than the sentences of its documents."""
    stated: dict[str, list[Statement]] = {}
    for statement in spec.statements:
        if not is_proposed(statement):
            stated.setdefault(statement.about, []).append(statement)
    for key, group, shapes in (("shapes", "inputs", spec.shapes), ("results", "outputs", spec.results)):
        for name, shape in shapes.items():
            yield from _of_shape(f"{key}.{name}", shape, stated.get(f"{group}.{name}", ()))
    version = {"version": spec.operator.since_version}
    for use in spec.declared.kinds if spec.declared is not None else ():
        try:
            call = parse_call(use.call)
        except OpcertError:
            continue
        for group in ("attributes", "inputs"):
            for each in stated.get(f"{group}.{use.name}", ()):
                plain = isinstance(each, Range) and each.when is None and each.of != "length"
                if plain and isinstance(each, Range) and _differs(call, each, version):
                    yield UnlikeDocument(f"kinds.{use.name}", use.call, describe(each), each.origin)
        allowed = spec.attributes[use.name].values if use.name in spec.attributes else None
        if allowed is not None and not allowed.proposed and call.kind == "enumeration":
            listed = {_value(expression, version) for expression in call.positional} - {None}
            if listed - set(allowed.values):
                told = f"values {', '.join(map(str, allowed.values))}"
                yield UnlikeDocument(f"kinds.{use.name}", use.call, told, allowed.origin)


def _of_shape(path: str, shape: Shape, stated: Sequence[Statement]) -> Iterator[UnlikeDocument]:
    """Ranks that no sentence allows, and numbers at a place where a sentence has another."""
    ends = [_rank_of(parts) for _, parts in shape.alternatives]
    ranks = [rank for rank in stated if isinstance(rank, Rank) and rank.when is None]
    for rank in ranks:
        low = int(rank.least or 0) if (rank.least or "").isdecimal() else 0
        high = int(rank.most or 0) if (rank.most or "").isdecimal() else _MANY
        if not any(one[0] <= high and low <= one[1] for one in ends):
            yield UnlikeDocument(path, shape.text, describe(rank), rank.origin)
    listed = [stated_shape for stated_shape in stated if isinstance(stated_shape, StatedShape)]
    if listed and not any(_allows(shape, ends, stated_shape) for stated_shape in listed):
        told = " or ".join(describe(stated_shape) for stated_shape in listed)
        yield UnlikeDocument(path, shape.text, told, listed[0].origin)


def _allows(shape: Shape, ends: Sequence[tuple[int, int]], stated: StatedShape) -> bool:
    """Whether some alternative of a declared shape has the rank of a stated one, and its numbers."""
    extents = stated.extents
    if any("..." in extent or extent == "*" or "x" in extent for extent in extents):
        fixed = [extent for extent in extents if "..." not in extent and extent != "*"]
        return any(high >= min(len(fixed), 1) for _, high in ends)
    for (_, parts), (low, high) in zip(shape.alternatives, ends, strict=True):
        if not low <= len(extents) <= high:
            continue
        if len(parts) != len(extents) or any(part.several or part.word for part in parts):
            return True
        numbers = [
            (_number(part), int(extent) if extent.isdecimal() else None)
            for part, extent in zip(parts, extents, strict=True)
        ]
        if all(None in pair or pair[0] == pair[1] for pair in numbers):
            return True
    return False


def _number(part: ShapePart) -> int | None:
    tree = part.expression.tree if part.expression is not None else None
    return tree.value if isinstance(tree, ast.Constant) and isinstance(tree.value, int) else None


def _rank_of(parts: Sequence[ShapePart]) -> tuple[int, int]:
    """The least and greatest rank of an alternative."""
    low = high = 0
    for part in parts:
        if part.word in ("maybe", "within", "broadcast"):
            high += _rank_of(part.arguments)[1]
        elif part.word == "upto":
            inner = _rank_of(part.arguments)
            low, high = low + inner[0], high + inner[1]
        elif part.several:
            high = _MANY
        else:
            low, high = low + 1, high + 1
    return low, high


def _differs(call: KindCall, stated: Range, version: Mapping[str, object]) -> bool:
    """Whether a kind's axes are others, or its numbers go beyond those of a sentence."""
    ends = axis_ends(stated)
    of = next((part.text for part in call.positional if not part.text.startswith("'")), None)
    # Axes that are added are counted in the output, which sentences name as they like.
    if call.kind == "axis" and ends is not None and of is not None and "adds" not in call.named:
        counted = _value(call.named["negative"], version) if "negative" in call.named else True
        return (of, counted, "extra" in call.named) != ends and counted is not None
    if call.kind not in ("integer", "real") or call.named.keys() - _ENDS:
        return False
    first, second = (*call.positional, None, None)[:2]
    low = _value(first or call.named.get("at_least") or call.named.get("low"), version)
    high = _value(second or call.named.get("high"), version)
    least, most = _plain(stated.at_least), _plain(stated.at_most)
    below = isinstance(low, int | float) and least is not None and low < least
    return below or (isinstance(high, int | float) and most is not None and high > most)


def _value(expression: Expression | None, names: Mapping[str, object]) -> object:
    """What an argument comes to; None where that hangs on a call."""
    try:
        return None if expression is None else expression.evaluate(names)
    except OpcertError:
        return None


def _plain(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
