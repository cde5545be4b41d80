"""The installed onnx and onnxruntime packages: their schemas, as `import --from-package` writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from opcert.vocabulary.names import OperatorName
from specs.documents.onnx_pages.page_parts import KINDS, ListedItem, PageParts
from specs.documents.onnx_pages.version import read_version
from specs.documents.packages.dumped_rows import DumpLine, passage_of, read_operators, recognise_package
from specs.documents.text.documents import Line, Passage, Text
from specs.documents.worked.examples import ExampleText
from specs.importers import Importer
from specs.model.spec import Arity, Document, Spec

_DERIVABLE = {"Differentiable": True, "NonDifferentiable": False}


def read_schemas(text: Text, operator: OperatorName | None, dialect: str) -> list[Spec]:
    """Every operator version of a dump, or the one asked for; raises UserError where there is none of it."""
    return read_operators(text, dialect, operator, _name, _read)


def _name(head: DumpLine) -> OperatorName:
    return OperatorName(head.word("domain"), head.word("name"), head.number_of("since_version"))


def _read(rows: Sequence[DumpLine], name: OperatorName, document: Document) -> Spec:
    """The spec, its defaults marked as the schema's own and not as printed ones."""
    spec = read_version(name, document, _parts(rows), ())
    origins = {
        path: replace(origin, rule="schema") if origin.rule == "printed-default" else origin
        for path, origin in spec.origins.items()
    }
    return replace(spec, origins=origins)


def _parts(rows: Sequence[DumpLine]) -> PageParts:
    head = rows[0]
    own: dict[str, list[DumpLine]] = {}
    for row in rows[1:]:
        own.setdefault(row.kind, []).append(row)
    return PageParts(
        summary=passage_of(rows),
        attributes=[_attribute(row) for row in own.get("attribute", ())],
        inputs=[_parameter(row) for row in own.get("input", ())],
        outputs=[_parameter(row) for row in own.get("output", ())],
        type_constraints=[
            ListedItem(row.word("name"), row.line, Passage(row.text_lines()), types=row.words("types"))
            for row in own.get("types", ())
        ],
        input_arity=_arity(head, "inputs"),
        output_arity=_arity(head, "outputs"),
        examples=list(_examples(rows)),
        deprecated=head.flag("deprecated"),
    )


def _arity(row: DumpLine, name: str) -> Arity:
    bounds = row.values.get(name)
    match bounds:
        case [int(least), int() | None as most]:
            return Arity(least, most)
    raise row.wrong(name, "the least number and the greatest, or null")


def _attribute(row: DumpLine) -> ListedItem:
    word = row.word("type")
    kind = KINDS.get(word)
    other = f"list of {word.lower()}" if word.endswith("S") else word.lower()
    return ListedItem(
        name=row.word("name"),
        line=row.line,
        description=Passage(row.text_lines()),
        kind=kind,
        other_type=None if kind else other,
        words=("required",) if row.flag("required") else (),
        default=_printed(row.values["default"]) if "default" in row.values else None,
    )


def _printed(value: Any) -> str:
    """A default as the pages print it: text as it is, numbers and lists as literals."""
    return value if isinstance(value, str) else repr(value)


def _parameter(row: DumpLine) -> ListedItem:
    return ListedItem(
        name=row.word("name"),
        line=row.line,
        description=Passage(row.text_lines()),
        type=row.word("type"),
        words=(row.word("option"),),
        homogeneous=row.flag("homogeneous"),
        differentiable=_DERIVABLE.get(str(row.values.get("differentiable"))),
    )


def _examples(rows: Iterable[DumpLine]) -> Iterator[ExampleText]:
    title: DumpLine | None = None
    code: list[Line] = []
    for row in rows:
        if row.kind == "example":
            if title is not None:
                yield ExampleText(title.word("title"), code, title.line.source())
            title, code = row, []
        elif row.kind == "code":
            code.append(Line(row.word("text").rstrip(), row.number))
    if title is not None:
        yield ExampleText(title.word("title"), code, title.line.source())


IMPORTERS = tuple(
    Importer(
        f"{package}-package",
        partial(recognise_package, package=package),
        partial(read_schemas, dialect=f"{package}-package"),
    )
    for package in ("onnx", "onnxruntime")
)
