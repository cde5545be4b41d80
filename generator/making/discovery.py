"""Find what turns an operator's factor levels into calls: a module, or what its declaration comes to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn, Protocol, cast

from generator.asking.calls import Call
from generator.making.named_operators import calls_are_declared
from generator.making.named_operators import known_operators as known_operators
from generator.making.opsets import default_operators
from generator.spaces.declared_levels import declare_levels
from generator.spaces.modelled import declaration_ships, kept_cores_of
from generator.spaces.space import open_space
from generator.values.draws import Draw
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName, newest_named
from specs.library import load_spec
from specs.model import Spec
from specs.spec_folders import list_operators
from specs.user_modules import load_module

_FEW = 12
"""As many names are told to somebody whose name means no operator, and is near to none."""


class Levels(Protocol):
    """What makes an operator's calls: `declared_levels`, or a module that a user's spec names.

    It may also have `FOCUS: Mapping[str, Level]`: levels under which the other factors are covered once more;
    and `deal`, which gives covering rows the levels that are no factors of theirs: element types. A module
    names its operators in `OPERATORS`, as `domain::Name-version`.
    """

    def build_call(self, spec: Spec, levels: Mapping[str, str], draw: Draw) -> Call | None:
        """One valid call that has these levels, or None where no call has (an exclusion must say so)."""

    def boundary_calls(self, spec: Spec, draw: Draw) -> Iterator[tuple[str, Mapping[str, str], Call]]:
        """Valid calls at the edges of the input space: a word for the case id, levels, call."""

    def invalid_calls(self, spec: Spec, draw: Draw) -> Iterator[tuple[str, Call, Call]]:
        """For constraints: its id, a valid call, and the same call with that constraint broken alone."""


def open_spec(
    operator: OperatorName, folders: Sequence[Path] = (), *, learn: bool = False
) -> tuple[Spec, Levels]:
    """The spec of an operator as calls are made of it, and what makes them.

    That is the module of levels which the spec names, and else its declaration: then the spec gets the
    factors, rules and exclusions that this comes to. Which levels go together in no call, the room of an
    operator that ships keeps; of other operators, or to `learn` what is not kept there, it is searched for.
    Raises UserError where an operator has neither.
    """
    spec = load_spec(operator, folders)
    if calls_are_declared(spec):
        return declare_levels(
            spec, kept_cores_of(operator, folders), learn=learn or not declaration_ships(operator, folders)
        )
    if spec.levels_module is None:
        raise UserError(
            f"nothing says how calls of {operator} are made",
            expected="`shapes` and `kinds` in its spec.yaml, or `levels` with the name of a module beside it",
            remedy="docs/your-operator.md declares the calls of an operator.",
        )
    return spec, _checked(cast(Levels, load_module(spec.levels_module)), operator, spec.levels_module)


def load_rules(operator: OperatorName, folders: Sequence[Path] = ()) -> Spec:
    """The spec of an operator with the rules that its declaration comes to, where calls are made of that."""
    spec = load_spec(operator, folders)
    return open_space(spec).spec if calls_are_declared(spec) else spec


def _checked(module: Levels, operator: OperatorName, path: Path) -> Levels:
    """A user's module, if it has what it needs; raises UserError where it has not."""
    for name in ("build_call", "boundary_calls", "invalid_calls"):
        if not callable(getattr(module, name, None)):
            raise UserError("a module of levels lacks a function", expected=name, where=Place(str(path)))
    named = getattr(module, "OPERATORS", ())
    if str(operator) not in named:
        raise UserError(
            f"a module of levels does not name {operator}",
            got=f"OPERATORS = {named!r}",
            expected=f'"{operator}" in OPERATORS',
            where=Place(str(path)),
        )
    return module


def select_operators(texts: Sequence[str], folders: Sequence[Path] = ()) -> list[OperatorName]:
    """The operators that names mean, in order: full names, `Resize-18`, or `Resize`, the newest of them.

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
        chosen.update(found or _no_operator(text, every, folders))
    return sorted(chosen)


def select_versions(texts: Sequence[str], known: Sequence[OperatorName]) -> list[OperatorName]:
    """Those of some operator versions that names mean, all of them where there is none.

    Raises UserError, with the nearest names, where one means none.
    """
    chosen = {each for text in texts for each in _named(text, known) or _no_operator(text, known)}
    return sorted(chosen) if texts else list(known)


def _named(text: str, known: Sequence[OperatorName]) -> list[OperatorName]:
    return [each for each in known if text in (str(each), each.path, each.short, each.name)]


def _no_operator(text: str, known: Sequence[OperatorName], folders: Sequence[Path] = ()) -> NoReturn:
    specs = newest_named(text, list_operators(folders)) or newest_named(text, list_operators())
    made = {*known_operators(folders), *known_operators()}
    specified = [each for each in specs if each not in made]
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
        alike = [str(each) for each in known if each.name == elsewhere[0].name]
        raise UserError(
            "not a version of what is chosen from",
            got=repr(text),
            expected=" or ".join(alike) or "no version",
        )
    names = {name: str(each) for each in known for name in (str(each), each.path, each.short, each.name)}
    near = dict.fromkeys(names[name] for name in get_close_matches(text, names, n=3, cutoff=0.5))
    few = ", ".join(map(str, known[:_FEW])) + (", ..." if len(known) > _FEW else "")
    raise UserError(
        "unknown operator",
        got=repr(text),
        expected=f"perhaps {' or '.join(near)}" if near else f"one of {few} (`opcert list operators`)",
    )
