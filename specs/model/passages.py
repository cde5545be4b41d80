"""What `src` cites: passages of a version's documents by name, and lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

from opcert.vocabulary.errors import UserError
from specs.model.spec import Prose, Spec

_PASSAGE = re.compile(r"([A-Za-z_][\w.\[\]]*)(?:\+(\d+))?")
_GROUPS = ("attributes", "inputs", "outputs")
Lines = list[list[Any]]


def resolve_sources(value: Any, spec: Spec, named: Mapping[str, Any]) -> Any:
    """The `src` of an entry as lines `[document, line]`; what is neither name nor list stays as it is.

    It is the name of a passage, a line, or a list of either. `named` are the passages that the declaration
    itself names, each with such a value; one may be told by those before it. Raises UserError for a name that
    the version's documents lack.
    """
    if isinstance(value, str):
        return _lines_of(value, spec, named)
    if not isinstance(value, list) or _is_line(value):
        return value
    found: list[Any] = []
    for each in value:
        found += _lines_of(each, spec, named) if isinstance(each, str) else [each]
    return found


def _is_line(value: list[Any]) -> bool:
    return len(value) > 1 and isinstance(value[0], str) and not isinstance(value[1], str | list)


def _lines_of(text: str, spec: Spec, named: Mapping[str, Any]) -> Lines:
    """The lines that a name means: one of the declaration's own, a passage of prose, or an example.

    `attributes.axis+1` is the line after the first of that passage; `axis` is the passage about that
    attribute, input or output, whichever the version has; `examples.basic` is where that example stands, and
    `examples.basic.Y` where it prints Y. Of several documents with the passage the first is cited.
    """
    found = _PASSAGE.fullmatch(text)
    lines: Lines = []
    if found is not None:
        name, offset = found[1], int(found[2] or 0)
        if name in named:
            return [[own_line[0], own_line[1] + offset] for own_line in _own_lines(name, spec, named)]
        lines = [
            [passage.source.document, passage.source.line + offset]
            for passage in passages_of(name, spec)
            if offset < max(passage.lines, 1)
        ]
        lines = lines or list(_lines_of_example(name, spec))
    if not lines:
        known = sorted({*named, *(prose.about for prose in spec.prose)})
        raise UserError(
            f"no passage of {spec.operator} has this name",
            got=repr(text),
            expected=f"one of {', '.join(known)}" if known else "[document, line]",
        )
    return [line for line in lines if line[0] == lines[0][0]]


def passages_of(name: str, spec: Spec) -> list[Prose]:
    """The passages that a name means: `attributes.axis`, or `axis` for whichever group has it."""
    about = (name, *(f"{group}.{name}" for group in _GROUPS))
    return [prose for prose in spec.prose if prose.about in about]


def _own_lines(name: str, spec: Spec, named: Mapping[str, Any]) -> Lines:
    before = dict(takewhile(lambda each: each[0] != name, named.items()))
    lines = resolve_sources(named[name], spec, before)
    lines = [lines] if isinstance(lines, list) and _is_line(lines) else lines
    if not isinstance(lines, list) or not all(isinstance(line, list) and _is_line(line) for line in lines):
        raise UserError(
            f"the passage {name} is neither a line nor the name of one",
            got=repr(named[name]),
            expected="such as [d1, 23554], or inputs.scales+2",
        )
    return lines


def _lines_of_example(name: str, spec: Spec) -> Iterator[list[Any]]:
    """Where an example stands (`examples.basic`), or what it prints of a tensor (`examples.basic.Y`)."""
    for example in spec.examples:
        printed = {f".{part}": value for part, value in (*example.inputs, *example.outputs)}
        if name == f"examples.{example.id}":
            yield [example.source.document, example.source.line]
        elif name.removeprefix(f"examples.{example.id}") in printed:
            value = printed[name.removeprefix(f"examples.{example.id}")]
            source = example.source if value is None or value.source is None else value.source
            yield [source.document, source.line]
