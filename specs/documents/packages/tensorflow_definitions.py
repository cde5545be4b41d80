"""The definition of a TensorFlow operator, as its registry has it and a dump holds it, as facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opcert.vocabulary.attributes import AttributeKind
from opcert.vocabulary.names import OperatorName
from specs.documents.packages.dumped_rows import DumpLine
from specs.documents.tensorflow_texts.phrases import our_type
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
        input_arity=Arity.of(parameters),
        output_arity=Arity.of(results),
    )


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
