"""The kinds of a spec's names: as its declaration names them, and as the facts of plain attributes say."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from generator.derived import derive_kind
from generator.kind import InputName, Kind, Subject
from opcert.errors import OpcertError, SeveralErrors, UserError
from specs.declared import Declared
from specs.kind_calls import KindCall, parse_call
from specs.model import Spec


def make_kinds(spec: Spec) -> tuple[Kind, ...]:
    """The kind of every attribute, and of the inputs that a declaration names, in its order, then the others.

    Raises SeveralErrors with all that is wrong in the declaration, and every attribute that has no kind.
    """
    errors: list[UserError] = []
    found = list(_declared(spec, errors))
    covered = {name for each in found for name in each.covers}
    for attribute in spec.attributes.values():
        if attribute.name in covered:
            continue
        derived = derive_kind(spec, attribute)
        if derived is None:
            errors.append(
                UserError(
                    f"an attribute of {spec.operator} without a kind",
                    got=f"{attribute.name} ({attribute.kind or attribute.other_type})",
                    remedy=f"Write `{attribute.name}: <kind>` under `kinds` of its declaration.",
                )
            )
        else:
            found.append(derived)
    if errors:
        raise SeveralErrors(errors)
    return tuple(found)


def _declared(spec: Spec, errors: list[UserError]) -> Iterator[Kind]:
    """The kinds that the declaration names, as far as this version has what they cover or bind."""
    for use in (spec.declared or Declared()).kinds:
        try:
            kind = make_kind(parse_call(use.call), Subject(use.name, spec, use.otherwise, use.place))
        except OpcertError as error:
            where = error.where or use.place
            errors.append(UserError(error.problem, got=error.got, expected=error.expected, where=where))
            continue
        if kind.covers or kind.binds or kind.mends:
            yield kind


@cache
def kind_names() -> tuple[str, ...]:
    """Every kind that there is, by the names of their files."""
    import generator.kinds

    return tuple(sorted(each.name for each in pkgutil.iter_modules(generator.kinds.__path__)))


@cache
def find_kind(name: str) -> type[Kind] | None:
    """The kind of a file's name; None where there is none."""
    if name not in kind_names():
        return None
    return _kind_in(import_module(f"generator.kinds.{name}"))


def _kind_in(module: Any) -> type[Kind]:
    found = [
        each
        for each in vars(module).values()
        if inspect.isclass(each) and issubclass(each, Kind) and each.__module__ == module.__name__
    ]
    if len(found) != 1:
        raise TypeError(f"{Path(module.__file__).name} holds {len(found)} kinds, not one")
    return found[0]


def make_kind(call: KindCall, subject: Subject) -> Kind:
    """The kind that a declaration names, with its arguments; UserError for what it does not have."""
    found = find_kind(call.kind)
    if found is None:
        raise UserError(
            "unknown kind", got=call.kind, expected=f"one of {', '.join(kind_names())}", where=subject.place
        )
    parameters = [each for each in fields(found) if each.name != "subject" and not each.kw_only]
    named_only = [each for each in fields(found) if each.name != "subject" and each.kw_only]
    arguments: dict[str, Any] = {}
    takes_all = bool(parameters) and str(parameters[-1].type).startswith("tuple")
    if len(call.positional) > len(parameters) and not takes_all:
        raise UserError(
            f"too many arguments of {call.kind}",
            got=str(len(call.positional)),
            expected=f"at most {len(parameters)}",
            where=subject.place,
        )
    for place, each in enumerate(parameters):
        if str(each.type).startswith("tuple"):
            arguments[each.name] = tuple(call.positional[place:])
        elif place < len(call.positional):
            arguments[each.name] = call.positional[place]
    known = {each.name for each in (*parameters, *named_only)}
    for name, expression in call.named.items():
        if name not in known or name in arguments:
            raise UserError(
                f"{call.kind} takes no such argument",
                got=name,
                expected=f"one of {', '.join(sorted(known))}" if known else "none",
                where=subject.place,
            )
        arguments[name] = expression
    for each in (*parameters, *named_only):
        if each.name in arguments and each.type in ("InputName", "InputName | None"):
            arguments[each.name] = InputName(arguments[each.name].text)
    try:
        return found(**arguments, subject=subject)
    except TypeError as error:
        raise UserError(
            f"{call.kind} lacks an argument", got=str(error).rpartition(": ")[2], where=subject.place
        ) from None
