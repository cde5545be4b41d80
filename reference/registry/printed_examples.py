"""Worked examples of documents as calls of the reference, and what is printed against what it gives."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.attributes import AttributeValue, attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import OpcertError, UserError
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.numbers.numbers import encode, numbers
from reference.registry.reference_operator import Argument, ReferenceOperator
from specs.model.spec import Example, ParameterSpec, Spec, Value

MOST_ELEMENTS = 100_000
MOST_COMBINATIONS = 512


@dataclass(frozen=True)
class ExampleCall:
    """A call of the reference, and the answers under each combination of readings."""

    operator: ReferenceOperator
    attributes: Mapping[str, AttributeValue]
    inputs: Mapping[str, Argument]

    def answers(self, readings: Mapping[str, str]) -> tuple[Answer, ...] | None:
        """None where the reference does not take the call."""
        try:
            return self.operator.evaluate(self.attributes, self.inputs, readings)
        except (OpcertError, ArithmeticError, LookupError, TypeError, ValueError):
            # What a page prints need not lie in the domain, for which the function itself does not ask.
            return None

    def matter(self) -> Mapping[str, Sequence[str]]:
        """The options of those readings that, changed alone, change the answer."""
        readings = self.operator.readings
        default = {name: options[0] for name, options in readings.items()}
        first = self.answers(default)
        return {
            name: list(options)
            for name, options in readings.items()
            if any(not _same(first, self.answers({**default, name: each})) for each in options[1:])
        }

    def combinations(self) -> Iterator[Mapping[str, str]]:
        """The combinations of the options that matter, the others as they are by default."""
        default = {name: options[0] for name, options in self.operator.readings.items()}
        matter = self.matter()
        for chosen in itertools.islice(itertools.product(*matter.values()), MOST_COMBINATIONS):
            yield {**default, **dict(zip(matter, chosen, strict=True))}


def read_call(spec: Spec, operator: ReferenceOperator, example: Example) -> ExampleCall | None:
    attributes: dict[str, AttributeValue] = {}
    inputs: dict[str, Argument] = {}
    several = (
        len(spec.inputs) - 1 if spec.inputs and spec.inputs[-1].option == "variadic" else len(spec.inputs)
    )
    given: list[Tensor | None] = []
    try:
        for name, value in example.attributes.items():
            known = spec.attributes.get(name)
            attributes[name] = attribute(_kind(known.kind if known else None, value), value).value
        for position, (name, stated) in enumerate(example.inputs):
            if position >= several:
                given.append(_tensor(spec, spec.inputs[-1], stated, first=False))
            elif name:
                inputs[name] = _tensor(spec, spec.inputs[position], stated, first=position == 0)
    except (UserError, ValueError, TypeError, OverflowError, IndexError):
        return None  # a value that is none of its type: other rules speak of it
    if any(each is None for each in (*inputs.values(), *given)):
        return None
    if given:
        inputs[spec.inputs[-1].name] = tuple(each for each in given if each is not None)
    return ExampleCall(operator, attributes, inputs)


def _kind(kind: str | None, value: object) -> str:
    """The attribute's kind; where the document does not say it, the one that the value has."""
    if kind is not None:
        return kind
    items = value if isinstance(value, list) else [value]
    name = "string" if all(isinstance(each, str) for each in items) else (
        "int" if all(isinstance(each, int) for each in items) else "float"
    )  # fmt: skip
    return f"{name}s" if isinstance(value, list) else name


def _tensor(spec: Spec, parameter: ParameterSpec, value: Value | None, first: bool) -> Tensor | None:
    """The tensor that an example gives; of a first input of any data, consecutive numbers."""
    if value is None or prod(value.shape) > MOST_ELEMENTS or (value.data is None and not first):
        return None
    allowed = spec.types_of(parameter)
    data = range(prod(value.shape)) if value.data is None else value.data
    whole = all(isinstance(each, int) for each in data)
    likely = "float" if "float" in allowed or not allowed else allowed[0]
    kind = value.element_type or ("int64" if whole and not allowed and value.data is not None else likely)
    return tensor_of(data, value.shape, kind)


def tensor_of(data: Sequence[Any], shape: Sequence[int], kind: str) -> Tensor:
    """A tensor of numbers, words or truth values as a page writes them; floats are rounded to their type."""
    element_type = ELEMENT_TYPES[kind]
    if element_type.is_float and element_type.layout is not None:
        return Tensor(element_type, encode(element_type, list(data)).reshape(shape))
    return tensor(np.array(data, dtype=np.object_ if kind == "string" else None).reshape(shape), kind)


def _same(first: tuple[Answer, ...] | None, second: tuple[Answer, ...] | None) -> bool:
    if first is None or second is None:
        return first is second
    return all(one.expected == other.expected for one, other in zip(first, second, strict=True))


def find_difference(
    answers: Sequence[Answer],
    outputs: Sequence[tuple[str, Value | None]],
    inputs: Mapping[str, Argument],
    rounded: float = 0.0,
) -> str | None:
    """Why what an example prints is not what is answered, in words; None where it is.

    `rounded` is the relative difference that counts as none.

    A relation to the inputs is held to equal elements; numbers to what is allowed and what printing rounds.
    """
    for answer, (name, value) in zip(answers, outputs, strict=False):
        if value is None:
            continue
        if value.shape != answer.expected.shape and (value.data is not None or value.relation is None):
            return f"{name} is printed with shape {list(value.shape)}, and has {list(answer.expected.shape)}"
        if value.relation is not None:
            arrays = {each: given.array for each, given in inputs.items() if isinstance(given, Tensor)}
            try:
                related = value.relation.apply(arrays)
            except UserError as error:
                return f"the slices that {name} is said to be cannot be taken: {error}"
            if not np.array_equal(related, answer.expected.array):
                return f"the slices that {name} is said to be are not the result"
        elif (
            value.data is not None
            and (found := _elements(answer, value.data, value.decimals, rounded)) is not None
        ):
            return f"{name}{found}"
    return None


def _elements(answer: Answer, printed: Sequence[Any], decimals: int | None, rounded: float) -> str | None:
    """The element that differs most from what is printed, beyond what is allowed and what printing rounds."""
    array, kind = answer.expected.array, answer.expected.element_type
    if kind.is_float and array.dtype.kind != "f":
        array = np.array([float(each) for each in numbers(kind, array)]).reshape(array.shape)
    if kind.kind in ("string", "bool"):
        fits = np.array([str(one) == _word_of(other) for one, other in zip(printed, array.flat, strict=True)])
        return None if fits.all() else _told(array, printed, fits, int(np.argmin(fits)))
    if array.dtype.kind not in "fiu" or not all(isinstance(each, int | float) for each in printed):
        return None
    expected = array.astype(np.float64).reshape(-1)
    given = np.array(printed, dtype=np.float64)
    slack = np.zeros(expected.shape) if answer.allowed is None else answer.allowed.reshape(-1)
    half_a_digit = float(Fraction(10) ** -decimals / 2) if decimals is not None else 0.0
    # A page prints what a float32 computation gave.
    slack = slack + half_a_digit + np.spacing(np.abs(expected).astype(np.float32)).astype(np.float64)
    with np.errstate(invalid="ignore"):
        slack = slack + np.where(np.isfinite(expected), rounded * np.abs(expected), 0.0)
    with np.errstate(invalid="ignore"):  # infinities of one sign are equal, and their difference is NaN
        off = np.abs(given - expected)
    fits = (off <= slack) | (np.isnan(given) & np.isnan(expected)) | (given == expected)
    for index, others in (answer.alternatives or {}).items():
        fits[index] |= any(abs(float(each) - given[index]) <= half_a_digit for each in others)
    return None if fits.all() else _told(array, printed, fits, int(np.argmax(np.where(fits, -1.0, off))))


def _word_of(element: object) -> str:
    """A string or a truth value as a page prints it; strings are kept in UTF-8."""
    return element.decode(errors="backslashreplace") if isinstance(element, bytes) else str(element)


def _told(array: NDArray[Any], printed: Sequence[Any], fits: NDArray[np.bool_], worst: int) -> str:
    place = ", ".join(str(each) for each in np.unravel_index(worst, array.shape))
    plain = array.reshape(-1)[worst]
    is_now = f"{float(plain):.9g}" if array.dtype.kind in "fiu" else _word_of(plain)
    count = int(np.count_nonzero(~fits))
    return (
        f"[{place}] is printed as {printed[worst]} and is {is_now}; {count} of {array.size} elements differ"
    )
