"""One argument in a cell of a web page, where backquotes have become blanks."""

from __future__ import annotations

import re

from opcert.vocabulary.names import OperatorName
from specs.documents.tensorflow_texts.examples import read_input_examples
from specs.documents.tensorflow_texts.phrases import (
    AttributePhrase,
    TensorPhrase,
    describe_tensor,
    is_type,
    our_type,
    read_attribute,
    unique,
)
from specs.documents.text.documents import Line, Passage
from specs.model.spec import Finding, Origin, ParameterSpec, Spec, TypeConstraint

_TENSOR = re.compile(
    r"\A\s*An? (?:mutable )?`?Tensor`?(?: of type `?(?P<single>\w+)`?)? ?\."
    r"(?:\s*Must be one of the following types: (?P<types>`?\w+`?(?: ?, `?\w+`?)*) ?\."
    r"|\s*(?:Must have|Has) the same type as `?(?P<same>\w+)`? ?\.)?"
)
_ATTRIBUTE = re.compile(
    r"\A(?P<article>An? (?:optional )?(?:list of )?)"
    r"`?(?P<type>int|float|string|bool|tf\.DType|tf\.TensorShape)(?P<s>s?)`?"
    r"(?P<or_list> or list of `?ints`?)?"
    r"(?: that (?P<bound>is|has length) `?(?P<least>>= -?\d+)`?)?"
    r"(?: from: `?(?P<values>[^`]+?)`?)? ?\.(?: Defaults to `?(?P<default>[^`]*?)`? ?\.)?(?=\s|\Z)"
)


def read_cell(name: str, passage: Passage, line: Line) -> Spec:
    """The facts of an argument that stands alone, in a spec of a nameless operator.

    The type variable of a tensor is `T_<name>` unless it shares another's.
    """
    origin = Origin("imported", (line.source(),))
    attribute = _attribute(passage.text)
    if attribute is not None:
        spec = attribute.spec(name, attribute.stated_values(origin), origin)
        return Spec(_NAMELESS, (), {name: spec}, (), (), {}, prose=(passage.prose(f"attributes.{name}"),))
    phrase = _tensor(passage.text)
    variable = f"T_{name}"
    constraints = {}
    findings = []
    if phrase.relation == "listed":
        place = passage.source(max(passage.text.find("types: ") + 7, 0))
        constraints[variable] = TypeConstraint(variable, phrase.listed, Origin("imported", (place,)))
    elif phrase.relation == "same":
        variable = f"T_{phrase.type}"
    elif phrase.type is not None:
        variable = our_type(phrase.type)
    if phrase.relation == "unread" or (phrase.relation == "single" and not is_type(variable)):
        message, shown = f"the type of {name} is no known one", passage.text[:80]
        findings.append(Finding("type-unread", "warning", line.source(), message, shown, "noted"))
    described = describe_tensor(passage, phrase.end)
    parameter = ParameterSpec(
        name=name,
        option="single",
        type=variable,
        origin=origin,
        rank=described.rank,
        shape=described.shape,
        at_least=described.at_least,
    )
    examples, more = read_input_examples(passage, name)
    return Spec(
        operator=_NAMELESS,
        documents=(),
        attributes={},
        inputs=(parameter,),
        outputs=(),
        type_constraints=constraints,
        formulas=described.formulas,
        prose=(passage.prose(f"inputs.{name}"),),
        examples=examples,
        findings=(*findings, *more),
    )


_NAMELESS = OperatorName("org.tensorflow", "unnamed", 1)


def _tensor(text: str) -> TensorPhrase:
    head = _TENSOR.match(text)
    if head is None:
        return TensorPhrase("unread")
    if head["types"]:
        types = unique(our_type(each) for each in re.findall(r"\w+", head["types"]))
        return TensorPhrase("listed", None, types, end=head.end())
    if head["same"]:
        return TensorPhrase("same", head["same"], end=head.end())
    return TensorPhrase("single" if head["single"] else "any", head["single"], end=head.end())


def _attribute(text: str) -> AttributePhrase | None:
    """The phrase of an attribute, its backquotes put back."""
    match = _ATTRIBUTE.match(text)
    if match is None:
        return None
    words = f"{match['article']}`{match['type']}{match['s']}`"
    words += " or list of `ints`" if match["or_list"] else ""
    words += f" that {match['bound']} `{match['least']}`" if match["least"] else ""
    words += f" from: `{match['values']}`." if match["values"] else "."
    words += f" Defaults to `{match['default']}`." if match["default"] is not None else ""
    return read_attribute(words)
