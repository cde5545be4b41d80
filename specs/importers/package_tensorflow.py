"""The installed TensorFlow: docstrings, definitions and what shape functions take of each operator.

`import --from-package tensorflow` writes them as a document; a fact of a shape function has its line in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from opcert.vocabulary.attributes import AttributeKind
from opcert.vocabulary.names import OperatorName
from specs.documents.packages.dumped_rows import DumpLine, read_operators, recognise_package
from specs.documents.tensorflow_texts.docstrings import operator_name, read_docstring
from specs.documents.tensorflow_texts.phrases import our_type
from specs.documents.text.documents import Line, Text
from specs.files.layers import merge_layers
from specs.importers import Importer
from specs.model.spec import (
    AllowedValues,
    Arity,
    AttributeSpec,
    Document,
    Origin,
    ParameterSpec,
    Spec,
    TypeConstraint,
)
from specs.model.statements import Broadcast, Rank, SameShape, StatedShape, Statement
from specs.rules.several_documents import find_differences

_KINDS: dict[str, tuple[AttributeKind | None, str | None]] = {
    "int": ("int", None),
    "float": ("float", None),
    "string": ("string", None),
    "bool": ("int", "bool"),
    "type": (None, "type"),
    "shape": (None, "shape"),
    "tensor": (None, "tensor"),
    "func": (None, "function"),
    "list(int)": ("ints", None),
    "list(float)": ("floats", None),
    "list(string)": ("strings", None),
    "list(bool)": ("ints", "list of bools"),
    "list(type)": (None, "list of types"),
    "list(shape)": (None, "list of shapes"),
    "list(func)": (None, "list of functions"),
}


@dataclass(frozen=True)
class _Inferred:
    """The attributes that a call's inputs fix: of each the input that is the first to do so."""

    by: Mapping[str, str]

    def variable(self, attribute: str) -> str:
        """The name of the type variable, as docstrings lead to it."""
        return f"T_{self.by[attribute]}" if attribute in self.by else attribute


def read_definition(rows: Sequence[DumpLine], name: OperatorName, document: Document) -> Spec:
    """The facts of a definition; an only output is called `output`, as nobody can name it."""
    inputs = [row for row in rows if row.kind == "input"]
    outputs = [row for row in rows if row.kind == "output"]
    attributes = {row.word("name"): row for row in rows if row.kind == "attribute"}
    inferred = _inferred(inputs)
    parameters = tuple(_parameter(row, row.word("name"), inferred, attributes) for row in inputs)
    results = tuple(
        _parameter(row, row.word("name") if len(outputs) > 1 else "output", inferred, attributes)
        for row in outputs
    )
    own = {each: row for each, row in attributes.items() if each not in inferred.by}
    return Spec(
        operator=name,
        documents=(document,),
        attributes={each: _attribute(row) for each, row in own.items()},
        inputs=parameters,
        outputs=results,
        type_constraints={
            variable: TypeConstraint(variable, types, _origin(attributes[each]))
            for each, variable in _variables((*inputs, *outputs), inferred).items()
            if (types := _types(attributes[each]))
        },
        statements=tuple(map(_statement, (row for row in rows if row.kind in _TAKEN))),
        input_arity=Arity.of(parameters),
        output_arity=Arity.of(results),
    )


_TAKEN = ("rank", "shape", "same", "broadcast")
"""The rows that say what a shape function takes."""


def _statement(row: DumpLine) -> Statement:
    """What the shape function takes of one input; raises UserError where the row says no such thing."""
    about = f"inputs.{row.word('name')}"
    origin = Origin("imported", (row.line.source(),), None, "shape-function", 1.0)
    match row.kind:
        case "rank":
            most = None if row.values.get("most") is None else str(row.number_of("most"))
            return Rank(about, origin, str(row.number_of("least")), most)
        case "shape":
            return StatedShape(about, origin, row.words("extents"))
        case "same":
            return SameShape(about, origin, f"inputs.{row.word('as')}")
        case _:
            return Broadcast(about, origin, (row.word("as"), row.word("name")))


def _origin(row: DumpLine) -> Origin:
    return Origin("imported", (row.line.source(),))


def _inferred(inputs: Sequence[DumpLine]) -> _Inferred:
    by: dict[str, str] = {}
    for row in inputs:
        for field in ("type_attr", "type_list_attr", "number_attr"):
            if field in row.values:
                by.setdefault(row.word(field), row.word("name"))
    return _Inferred(by)


def _variables(rows: Sequence[DumpLine], inferred: _Inferred) -> dict[str, str]:
    """Every attribute that is the type of a tensor, and the name of its type variable."""
    fields = ("type_attr", "type_list_attr")
    named = [row.word(field) for row in rows for field in fields if field in row.values]
    return {each: inferred.variable(each) for each in named}


def _types(row: DumpLine) -> tuple[str, ...]:
    allowed = row.values.get("allowed")
    return tuple(dict.fromkeys(map(our_type, row.words("allowed")))) if allowed is not None else ()


def _parameter(
    row: DumpLine, name: str, inferred: _Inferred, attributes: Mapping[str, DumpLine]
) -> ParameterSpec:
    listed, counted = row.values.get("type_list_attr"), row.values.get("number_attr")
    attribute = row.values.get("type_attr") or listed
    kind = inferred.variable(attribute) if isinstance(attribute, str) else our_type(_bare(row.word("type")))
    least = None
    for each in (listed, counted):
        if isinstance(each, str) and inferred.by.get(each) == row.word("name"):
            least = attributes[each].values.get("minimum")
    return ParameterSpec(
        name=name,
        option="variadic" if listed or counted else "single",
        type=kind,
        origin=_origin(row),
        homogeneous=None if not (listed or counted) else bool(counted),
        least_length=least or None,
    )


def _bare(name: str) -> str:
    return name.removesuffix("_ref")


def _attribute(row: DumpLine) -> AttributeSpec:
    word = row.word("type")
    if word not in _KINDS:
        raise row.wrong("type", ", ".join(_KINDS))
    kind, other = _KINDS[word]
    allowed, minimum = row.values.get("allowed"), row.values.get("minimum")
    values = None
    if allowed is not None:
        words = tuple(dict.fromkeys(map(our_type, row.words("allowed")))) if "type" in word \
            else row.words("allowed")  # fmt: skip
        values = AllowedValues(words, "schema", 1.0, False, _origin(row))
    is_list = word.startswith("list(")
    return AttributeSpec(
        name=row.word("name"),
        kind=kind,
        required="default" not in row.values,
        default=_default(row.values.get("default"), kind, other),
        has_default="default" in row.values,
        values=values,
        origin=_origin(row),
        at_least=None if is_list else minimum,
        other_type=other,
        least_length=(minimum or None) if is_list else None,
    )


def _default(value: Any, kind: AttributeKind | None, other: str | None) -> Any:
    """A default as facts hold it: booleans as 0 and 1, types by our names."""
    if other == "type":
        return our_type(value) if isinstance(value, str) else value
    if other == "list of types" and isinstance(value, list):
        return [our_type(str(each)) for each in value]
    if kind == "int" and isinstance(value, bool):
        return int(value)
    if kind == "ints" and isinstance(value, list):
        return [int(each) for each in value]
    return value


DIALECT = "tensorflow-package"


def recognise(text: Text) -> float:
    """Sure where the first line says so."""
    return recognise_package(text, "tensorflow")


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """Every operator of the package, or the one asked for; raises UserError where there is none of it.

    The docstring comes first; the definition adds what it leaves out, and contradictions are findings.
    """
    return read_operators(text, DIALECT, operator, lambda head: operator_name(head.word("name")), _read)


def _read(rows: Sequence[DumpLine], name: OperatorName, document: Document) -> Spec:
    docstring, definition = layers(rows, name, document)
    merged = merge_layers([docstring, definition])
    differences = find_differences(docstring, definition, "the operator's definition")
    return replace(
        merged,
        documents=(document,),
        statements=with_taken_shapes(docstring.statements, definition.statements),
        input_arity=definition.input_arity,
        output_arity=definition.output_arity,
    ).with_findings((*docstring.findings, *differences))


def with_taken_shapes(stated: Sequence[Statement], taken: Sequence[Statement]) -> tuple[Statement, ...]:
    """What a docstring states and what the shape function takes, as one list.

    A shape of the docstring that leaves the number of extents open stays; others get the extents that the
    function finds equal or fixed, under the docstring's names for them. Of ranks one that the function alone
    takes comes first, and any other behind the docstring's.
    """
    named = {each.about: each for each in reversed(stated) if isinstance(each, StatedShape) and not each.when}
    told = {about: shape.extents for about, shape in named.items()}
    ranks = {each.about: each.least for each in stated if isinstance(each, Rank) and each.least == each.most}
    others = {each.about for each in stated if isinstance(each, SameShape | Broadcast)}
    shapes = [
        _of_rank(each, _rank_of(told[each.about]) if each.about in told else ranks.get(each.about))
        for each in taken
        if isinstance(each, StatedShape) and _is_as_open(each.extents, told.get(each.about, each.extents))
    ]
    names: dict[str, str] = {}
    for shape in shapes:
        for extent, name in zip(shape.extents, told.get(shape.about, ()), strict=False):
            if (
                extent.startswith(_GROUP)
                and len(told[shape.about]) == len(shape.extents)
                and name.isidentifier()
            ):
                names.setdefault(extent, name)
    found: dict[str, Statement] = {}
    for shape in shapes:
        whole = told.get(shape.about, ())
        own = shape.about.partition(".")[2]
        extents = []
        for axis, extent in enumerate(shape.extents):
            if extent == _FREE:
                extents.append(whole[axis] if len(whole) == len(shape.extents) else f"{own}_{axis}")
            else:
                extents.append(names.get(extent, extent))
        also = named[shape.about].origin.sources if shape.about in named else ()
        origin = replace(shape.origin, sources=(*shape.origin.sources, *also))
        found[shape.about] = StatedShape(shape.about, origin, tuple(extents))
    first = [each for each in taken if isinstance(each, Rank) and each.least == each.most]
    last = [
        each
        for each in taken
        if each not in first and not isinstance(each, StatedShape) and each.about not in others
    ]
    kept = [each for each in stated if not (isinstance(each, StatedShape) and each.about in found)]
    return (*found.values(), *(each for each in first if each.about not in others), *kept, *last)


_ANY, _FREE, _GROUP = "...", "?", "n"
"""Extents of the rows of shape functions: any number of them, one of which the function says nothing, and
how the names of those that are equal begin."""


def _rank_of(told: Sequence[str]) -> int | None:
    return None if _ANY in told else len(told)


def _is_as_open(taken: Sequence[str], told: Sequence[str]) -> bool:
    """Whether a docstring's shape leaves the number of extents open nowhere else than the function does."""
    at = [place for place, extent in enumerate(told) if extent == _ANY]
    return not at or (len(taken) == len(told) and taken[at[0]] == _ANY)


def _of_rank(shape: StatedShape, rank: int | str | None) -> StatedShape:
    """A shape with as many extents as the rank says where it leaves their number open."""
    missing = int(rank) - len(shape.extents) + 1 if rank is not None and str(rank).isdecimal() else -1
    if _ANY not in shape.extents or missing < 0:
        return shape
    at = shape.extents.index(_ANY)
    return replace(shape, extents=(*shape.extents[:at], *[_FREE] * missing, *shape.extents[at + 1 :]))


def layers(rows: Sequence[DumpLine], name: OperatorName, document: Document) -> tuple[Spec, Spec]:
    """What the docstring says, and what the definition says, by the names that the function's users know."""
    lines = [Line(row.word("text").rstrip(), row.number) for row in rows if row.kind == "text"]
    docstring = read_docstring(lines, name, document)
    if not docstring.inputs and not docstring.attributes:
        findings = [finding for finding in docstring.findings if finding.code != "section-missing"]
        docstring = replace(docstring, findings=tuple(findings))
    return docstring, _renamed(docstring, read_definition(rows, name, document))


def _renamed(docstring: Spec, definition: Spec) -> Spec:
    """The definition with the function's names, where the function calls some of as many inputs otherwise."""
    ours = [each.name for each in docstring.inputs]
    theirs = [each.name for each in definition.inputs]
    if len(ours) != len(theirs):
        return definition
    names = {old: new for old, new in zip(theirs, _in_order(theirs, ours), strict=True) if old != new}
    variables = {f"T_{old}": f"T_{new}" for old, new in names.items()}

    def rename(parameter: ParameterSpec) -> ParameterSpec:
        return replace(
            parameter,
            name=names.get(parameter.name, parameter.name),
            type=variables.get(parameter.type, parameter.type),
        )

    def with_our_names(statement: Statement) -> Statement:
        about = _renamed_part(statement.about, names)
        if isinstance(statement, SameShape):
            return replace(statement, about=about, as_=_renamed_part(statement.as_, names))
        if isinstance(statement, Broadcast):
            inputs = tuple(names.get(each, each) for each in statement.inputs)
            return replace(statement, about=about, inputs=inputs)
        return replace(statement, about=about)

    attributes = definition.attributes
    lost = [attribute for attribute in attributes if attribute not in docstring.attributes]
    found = [attribute for attribute in docstring.attributes if attribute not in attributes]
    if len(lost) == len(found):
        renamed = dict(zip(lost, found, strict=True))
        attributes = {
            renamed.get(name, name): replace(attribute, name=renamed.get(name, name))
            for name, attribute in attributes.items()
        }
    return replace(
        definition,
        attributes=attributes,
        inputs=tuple(map(rename, definition.inputs)),
        outputs=tuple(map(rename, definition.outputs)),
        statements=tuple(map(with_our_names, definition.statements)),
        type_constraints={
            variables.get(name, name): TypeConstraint(
                variables.get(name, name), type_constraint.types, type_constraint.origin
            )
            for name, type_constraint in definition.type_constraints.items()
        },
    )


def _renamed_part(about: str, names: Mapping[str, str]) -> str:
    group, _, name = about.partition(".")
    return f"{group}.{names.get(name, name)}"


def _in_order(theirs: Sequence[str], ours: Sequence[str]) -> list[str]:
    """Our names in the order of theirs: the same name where there is one, else the next that is left."""
    left = iter([own for own in ours if own not in theirs])
    return [other if other in ours else next(left) for other in theirs]


IMPORTERS = (Importer(DIALECT, recognise, read),)
