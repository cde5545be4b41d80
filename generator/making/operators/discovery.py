"""The operators that names mean, and what the declaration of one comes to: its factors, rules and calls."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from operator import attrgetter
from pathlib import Path
from typing import NoReturn

from generator.asking.named_operators import calls_are_declared, known_operators, reference_modules
from generator.calls.declared.declared_levels import DeclaredLevels, declare_levels
from generator.calls.declared.modelled import declaration_ships, kept_cores_of
from generator.calls.space.space import open_space
from generator.making.operators.opsets import default_operators, outside_dialects
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName, newest_named
from specs.files.library import load_spec
from specs.files.spec_folders import list_operators
from specs.model.spec import Spec

_FEW = 12
"""As many names are told to somebody whose name means no operator, and is near to none."""


def open_spec(
    operator: OperatorName, folders: Sequence[Path] = (), *, learn: bool = False
) -> tuple[Spec, DeclaredLevels]:
    """The spec of an operator as calls are made of it, and what makes them.

    The spec gets the factors, rules and exclusions that its declaration comes to. Which levels go together in
    no call, the room of an operator that ships keeps; of other operators, or to `learn` what is not kept
    there, it is searched for. Raises UserError where an operator has no declaration.
    """
    spec = load_spec(operator, folders)
    if not calls_are_declared(spec):
        raise UserError(
            f"nothing says how calls of {operator} are made",
            expected="`shapes` and `kinds` in its spec.yaml",
            remedy="docs/your-operator.md declares the calls of an operator.",
        )
    return declare_levels(
        spec, kept_cores_of(operator, folders), learn=learn or not declaration_ships(operator, folders)
    )


def load_rules(operator: OperatorName, folders: Sequence[Path] = ()) -> Spec:
    """The spec of an operator with the rules that its declaration comes to, where calls are made of that."""
    spec = load_spec(operator, folders)
    return open_space(spec).spec if calls_are_declared(spec) else spec


def select_operators(texts: Sequence[str], folders: Sequence[Path] = ()) -> list[OperatorName]:
    """The operators that names mean, in order: full names, `Resize-18`, or `Resize`, the newest of them.

    A name that ONNX has is not that of a dialect, which `org.openvino::Relu` names.
    Without a name these are the operators of the default suite, or all of the folders of specs. By name,
    those that ship are known beside those of folders, which come first. Raises UserError, with the nearest
    names, where one means none.
    """
    known = known_operators(folders)
    if not texts:
        return known if folders else default_operators()
    every = sorted({*known, *known_operators()})
    chosen: set[OperatorName] = set()
    for text in texts:
        found = newest_named(text, known) or newest_named(text, every)
        chosen.update(outside_dialects(found) or found or _no_operator(text, every, folders))
    return sorted(chosen)


def select_versions(texts: Sequence[str], known: Sequence[OperatorName]) -> list[OperatorName]:
    """Those of some operator versions that names mean, all of them where there is none.

    A name that ONNX has is not that of a dialect, as of `select_operators`. Raises UserError, with the
    nearest names, where one means none.
    """
    chosen = {operator for text in texts for operator in _named(text, known) or _no_operator(text, known)}
    return sorted(chosen) if texts else list(known)


def _named(text: str, known: Sequence[OperatorName]) -> list[OperatorName]:
    found = [
        operator
        for operator in known
        if text in (str(operator), operator.path, operator.short, operator.name)
    ]
    return outside_dialects(found) or found


def _no_operator(text: str, known: Sequence[OperatorName], folders: Sequence[Path] = ()) -> NoReturn:
    specs = newest_named(text, list_operators(folders)) or newest_named(text, list_operators())
    made = {*known_operators(folders), *known_operators()}
    specified = [spec for spec in specs if spec not in made]
    if specified:
        named = " and ".join(map(str, specified))
        raise UserError(
            f"no cases can be made of {named}: there is a spec, and no reference that says what is right",
            got=repr(text),
            remedy=f"`opcert show {specified[0]}` prints the spec, `opcert list operators` names those with "
            "cases, and docs/your-operator.md says how to write a reference.",
        )
    elsewhere = newest_named(text, sorted(made))
    if elsewhere:
        alike = [str(operator) for operator in known if operator.name == elsewhere[0].name]
        raise UserError(
            "not a version of what is chosen from",
            got=repr(text),
            expected=" or ".join(alike) or "no version",
        )
    names = {
        name: str(operator)
        # A name that several have is ONNX's, and of its versions the newest one's, which comes first of all.
        for operator in (*reversed(known), *reversed(outside_dialects(known)))
        for name in (str(operator), operator.path, operator.short, operator.name)
    }
    base = text.rpartition("-")[0]
    versions = [str(each) for each in known if base in (each.name, each.unversioned)]
    alike = [names[name] for name in names if name.lower() == text.lower()]
    close = [names[name] for name in get_close_matches(text, names, n=3, cutoff=0.5)]
    near = dict.fromkeys(versions[:3] or alike or close)
    few = ", ".join(map(str, known[:_FEW])) + (", ..." if len(known) > _FEW else "")
    raise UserError(
        "unknown operator",
        got=repr(text),
        expected=f"perhaps {' or '.join(near)}" if near else f"one of {few} (`opcert list operators`)",
    )


def newer_versions(operator: OperatorName, folders: Sequence[Path] = ()) -> list[OperatorName]:
    """The newer versions that cases can be made of, from where the operator is, the next one first.

    A version with a reference that is its alone has none: its calls are made for itself.
    """
    if operator in reference_modules():
        return []
    own = known_operators(folders)
    known = own if operator in own else known_operators()
    since = attrgetter("since_version")
    return sorted((each for each in known if _is_newer(each, operator)), key=since)


def _is_newer(other: OperatorName, operator: OperatorName) -> bool:
    return other.unversioned == operator.unversioned and other.since_version > operator.since_version
