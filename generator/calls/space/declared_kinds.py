"""The kinds of a spec's names: as its declaration names them, and as the facts of plain attributes say."""

from __future__ import annotations

import difflib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from generator.calls.space.derived import derive_kind
from generator.calls.variables.kind import InputName, Kind, KindSubject
from opcert.vocabulary.errors import OpcertError, SeveralErrors, UserError
from specs.files.declarations import FILE_NAME
from specs.files.declared_words import demands, demands_in_some_version, is_name_of_some_version, names_of
from specs.files.spec_folders import OWN_FOLDER
from specs.language.expressions import KindCall, parse_call
from specs.language.words import CONSTANTS
from specs.model.declared import Declared, KindUse
from specs.model.spec import Spec


def make_kinds(spec: Spec) -> tuple[Kind, ...]:
    """The kind of every attribute, and of the inputs that a declaration names, in its order, then the others.

    Raises SeveralErrors with all that is wrong in the declaration, and every attribute that has no kind.
    """
    errors: list[UserError] = []
    found = list(_declared(spec, errors))
    covered = {name for kind in found for name in kind.covers}
    for attribute in spec.attributes.values():
        if attribute.name in covered:
            continue
        derived = derive_kind(attribute)
        if derived is None:
            errors.append(
                UserError(
                    f"an attribute of {spec.operator} without a kind",
                    got=f"{attribute.name} ({attribute.kind or attribute.other_type})",
                    where=(spec.declared or Declared()).places.get(FILE_NAME),
                    remedy=f"Write `{attribute.name}: <kind>` under `kinds` of its declaration.",
                )
            )
        else:
            found.append(make_kind(parse_call(derived), KindSubject(attribute.name, spec)))
    if errors:
        raise SeveralErrors(errors)
    return tuple(found)


def _declared(spec: Spec, errors: list[UserError]) -> Iterator[Kind]:
    """The kinds that the declaration names, as far as this version has what they cover or bind."""
    made: list[Kind] = []
    known: list[KindUse] = []
    for use in (spec.declared or Declared()).kinds:
        try:
            kind = make_kind(parse_call(use.call), KindSubject(use.name, spec, use.otherwise, use.place))
        except OpcertError as error:
            where = error.where or use.place
            errors.append(UserError(error.problem, got=error.got, expected=error.expected, where=where))
            continue
        covered = {name for each in made for name in (*each.covers, *each.binds)}
        if use.derived and covered.intersection((*kind.covers, *kind.binds)):
            continue
        known.append(use)
        if kind.covers or kind.binds or kind.mends:
            made.append(_with_demand(kind, use, errors))
        elif not _covers_others(kind) and not is_name_of_some_version(spec, use.name, _folders(use)):
            errors.append(_kind_of_nothing(spec, use))
    bound = {name for each in made for name in each.binds}
    for use in known:
        errors.extend(_unknown_names(spec, use, bound))
    yield from made


def _covers_others(kind: Kind) -> bool:
    """Whether a kind says itself what it covers, be it nothing of this version."""
    return bool(kind.covered) or "covers" in vars(type(kind))


def _folders(use: KindUse) -> tuple[Path, ...]:
    """The folders of specs that a declaration's operator may have facts in: its own, and that of opcert."""
    return (Path(use.place.file).absolute().parents[2], OWN_FOLDER)


def _with_demand(kind: Kind, use: KindUse, errors: list[UserError]) -> Kind:
    """The kind, whose rules are errors only where a passage of this version demands something.

    One declaration speaks of all versions: what only a newer text demands is undefined in an older one.
    """
    about = (use.demanded_by,) if use.demanded_by else tuple(dict.fromkeys((*kind.covers, use.name)))
    spec = kind.subject.spec
    if use.otherwise != "error" or demands(spec, about):
        return kind
    if not demands_in_some_version(spec, about, _folders(use)):
        errors.append(
            UserError(
                "`or error` without a word of the text behind it",
                got=f"{use.name}: {use.call} or error",
                expected=f"a passage about {' or '.join(about)} with must, should, error, accepted range ...",
                where=use.place,
                remedy="Name the passage that demands it (`or error by summary`), or leave `or error` out: "
                "what breaks the rule is then undefined.",
            )
        )
    return replace(kind, subject=replace(kind.subject, otherwise="undefined"))


def _kind_of_nothing(spec: Spec, use: KindUse) -> UserError:
    known = names_of(spec)
    near = difflib.get_close_matches(use.name, known, n=3, cutoff=0.5)
    return UserError(
        f"a kind of something that no version of {spec.operator.domain}::{spec.operator.name} has",
        got=use.name,
        expected=f"perhaps {', '.join(near)}" if near else f"one of {', '.join(known)}",
        where=use.place,
    )


def _unknown_names(spec: Spec, use: KindUse, bound: set[str]) -> Iterator[UserError]:
    """The names in a kind's arguments that nothing defines, in no version of the operator."""
    try:
        call = parse_call(use.call)
    except OpcertError:
        return
    known = {*names_of(spec), *spec.extents, *spec.let, *spec.type_constraints, *CONSTANTS, "version"}
    for name in sorted(call.names - known - bound):
        if not is_name_of_some_version(spec, name, _folders(use)):
            near = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)
            yield UserError(
                "unknown name in the arguments of a kind",
                got=name,
                expected=f"perhaps {', '.join(near)}" if near else f"one of {', '.join(sorted(known))}",
                where=use.place,
            )


@cache
def kind_names() -> tuple[str, ...]:
    """Every kind that there is, by the names of their files."""
    import generator.calls.kinds

    return tuple(sorted(module.name for module in pkgutil.iter_modules(generator.calls.kinds.__path__)))


@cache
def find_kind(name: str) -> type[Kind] | None:
    """The kind of a file's name; None where there is none."""
    if name not in kind_names():
        return None
    return _kind_in(import_module(f"generator.calls.kinds.{name}"))


def _kind_in(module: Any) -> type[Kind]:
    found = [
        var
        for var in vars(module).values()
        if inspect.isclass(var)
        and issubclass(var, Kind)
        and var.__module__ == module.__name__
        and not var.__name__.startswith("_")
    ]
    if len(found) != 1:
        raise TypeError(f"{Path(module.__file__).name} holds {len(found)} kinds, not one")
    return found[0]


def _variant(family: type[Kind], call: KindCall, subject: KindSubject) -> tuple[type[Kind], KindCall]:
    """The kind of a family that the first argument says in a word, and the call without it.

    A family may have one that is meant without a word.
    """
    word = call.positional[0].text if call.positional else "no word"
    kinds = {repr(name): kind for name, kind in family.variants.items() if name}
    if "" in family.variants and not word.startswith(("'", '"')):
        return family.variants[""], call
    if word not in kinds:
        problem, expected = f"unknown word of the kind {call.kind}", f"one of {', '.join(kinds)}"
        raise UserError(problem, got=word, expected=expected, where=subject.place)
    return kinds[word], replace(call, positional=call.positional[1:])


def make_kind(call: KindCall, subject: KindSubject) -> Kind:
    """The kind that a declaration names, with its arguments; UserError for what it does not have."""
    found = find_kind(call.kind)
    if found is None:
        expected = f"one of {', '.join(kind_names())}"
        raise UserError("unknown kind", got=call.kind, expected=expected, where=subject.place)
    if found.variants:
        found, call = _variant(found, call, subject)
    parameters = [field for field in fields(found) if field.name != "subject" and not field.kw_only]
    named_only = [field for field in fields(found) if field.name != "subject" and field.kw_only]
    arguments: dict[str, Any] = {}
    takes_all = bool(parameters) and str(parameters[-1].type).startswith("tuple")
    if len(call.positional) > len(parameters) and not takes_all:
        raise UserError(
            f"too many arguments of {call.kind}",
            got=str(len(call.positional)),
            expected=f"at most {len(parameters)}",
            where=subject.place,
        )
    for place, parameter in enumerate(parameters):
        if str(parameter.type).startswith("tuple"):
            arguments[parameter.name] = tuple(call.positional[place:])
        elif place < len(call.positional):
            arguments[parameter.name] = call.positional[place]
    known = {parameter.name for parameter in (*parameters, *named_only)}
    free = {field.name for field in named_only} & {"named"}
    if free:  # arguments whose names the declaration chooses
        arguments["named"] = {
            name: expression for name, expression in call.named.items() if name not in known
        }
    for name, expression in call.named.items():
        if name in arguments.get("named", ()):
            continue
        if name not in known or name in arguments:
            raise UserError(
                f"{call.kind} takes no such argument",
                got=name,
                expected=f"one of {', '.join(sorted(known))}" if known else "none",
                where=subject.place,
            )
        arguments[name] = expression
    for parameter in (*parameters, *named_only):
        if parameter.name in arguments and parameter.type in ("InputName", "InputName | None"):
            arguments[parameter.name] = InputName(arguments[parameter.name].text)
    try:
        return found(**arguments, subject=subject)
    except TypeError as error:
        raise UserError(
            f"{call.kind} lacks an argument", got=str(error).rpartition(": ")[2], where=subject.place
        ) from None
