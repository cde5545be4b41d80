"""What kinds are said of, and of what word: errors that name the kind's place and what it can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from generator.calls.variables.kind import Kind, KindSubject
from opcert.vocabulary.errors import UserError
from specs.model.spec import ParameterSpec
from specs.model.structures import is_sequence, listed_forms


def need_word(kind: Kind, word: str, known: Iterable[str], needed: Mapping[str, Sequence[str]]) -> None:
    """Raise UserError where a kind has no such word, or lacks an argument that is needed with it."""
    name = type(kind).__name__
    listed = tuple(known)
    lacks = [argument for argument in needed.get(word, ()) if getattr(kind, argument) is None]
    if word not in listed or lacks:
        raise UserError(
            f"{word} of the kind {name} lacks an argument" if lacks else f"unknown word of the kind {name}",
            got=repr(word),
            expected=" and ".join(lacks) if lacks else f"one of {', '.join(map(repr, listed))}",
            where=kind.subject.place,
        )


def need_graph(subject: KindSubject) -> None:
    """Raise UserError where the attribute is there and is no graph."""
    attribute = subject.attribute(subject.name)
    if attribute is not None and attribute.other_type != "graph":
        graphs = [each.name for each in subject.spec.attributes.values() if each.other_type == "graph"]
        raise UserError(
            "a kind of graphs for what is none",
            got=f"{subject.name} ({attribute.kind or attribute.other_type})",
            expected=f"one of {', '.join(graphs)}" if graphs else "an operator with a graph as attribute",
            where=subject.place,
        )


def need_variadic(subject: KindSubject, name: str) -> None:
    """Raise UserError where an argument names an input that is not variadic."""
    _need(
        subject,
        name,
        "variadic input",
        [parameter for parameter in subject.spec.inputs if parameter.option == "variadic"],
    )


def need_sequence(subject: KindSubject, name: str) -> None:
    """Raise UserError where an argument names an input that is no sequence."""
    listed = [parameter for parameter in subject.spec.inputs if is_sequence(subject.spec, parameter)]
    _need(subject, name, "sequence", listed)


def need_form(subject: KindSubject, name: str, form: str) -> None:
    """Raise UserError where a name is no input with such a form: `optional`, `map`."""
    spec = subject.spec
    listed = [
        parameter for parameter in spec.inputs if any(form in one for one in listed_forms(spec, parameter))
    ]
    _need(subject, name, f"input that may be of a type {form}(...)", listed)


def _need(subject: KindSubject, name: str, what: str, known: list[ParameterSpec]) -> None:
    names = [parameter.name for parameter in known]
    if name not in names:
        raise UserError(
            f"not the name of a {what}" if what[0] not in "aeiou" else f"not the name of an {what}",
            got=name,
            expected=f"one of {', '.join(names)}" if names else "none: this version has no such input",
            where=subject.place,
        )
