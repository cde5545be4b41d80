"""A call that is being made: what is bound so far, as kinds and expressions see it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.solver.form_levels import read_form
from opcert.vocabulary.tensors import Tensor
from specs.language.evaluation import EvaluationError, Operand, Operands
from specs.language.expressions import Expression, parse
from specs.language.shape_expressions import evaluate_part, parse_shape
from specs.language.words import CONSTANTS
from specs.model.call_scopes import operand_of
from specs.model.spec import ParameterSpec, Spec
from specs.model.structures import TENSOR, InputForm


class UndrawnElements(Sequence[Any]):
    """The elements of data that nobody has drawn yet."""

    def __len__(self) -> int:
        raise EvaluationError("the data is not drawn yet")

    def __getitem__(self, index: Any) -> Any:
        raise EvaluationError("the data is not drawn yet")


class AskedPart(Operand):
    """A tensor of an input that may be more than one; its shape is asked for when it is looked at."""

    def __init__(self, element_type: str, find: Callable[[str], Any], name: str, place: int) -> None:
        for field, value in (
            ("element_type", element_type),
            ("values", UndrawnElements()),
            ("_find", find),
            ("_name", name),
            ("_place", place),
        ):
            object.__setattr__(self, field, value)

    _find: Callable[[str], Any]
    _name: str
    _place: int

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._find(f"shapes:{self._name}")[self._place])


OMITTED = "omitted"
"""The level of what is left out; its value is None."""
Bindings = Mapping[str, Any]
"""Values by name, levels by `level:<factor>`, shapes of inputs by `shape:<input>` (None: left out)."""


def levels_in(bindings: Bindings) -> dict[str, Any]:
    """The levels that bindings name, by their factors."""
    marked = {name: value for name, value in bindings.items() if name.startswith("level:")}
    return {name.removeprefix("level:"): value for name, value in marked.items()}


class PartialInput(Operand):
    """A required input of which shape and elements are asked for when they are looked at, and not before.

    A rule on its element type alone thereby hangs on no shape, and on no value.
    """

    def __init__(self, element_type: str, scope: Partial, parameter: ParameterSpec) -> None:
        for field, value in (("element_type", element_type), ("_scope", scope), ("_parameter", parameter)):
            object.__setattr__(self, field, value)

    _scope: Partial
    _parameter: ParameterSpec

    @property
    def shape(self) -> tuple[int, ...]:
        if self._parameter.name in self._scope.bindings:
            return self._array.shape
        return tuple(self._scope.find(f"shape:{self._parameter.name}"))

    @property
    def values(self) -> Sequence[Any]:
        if self._parameter.name not in self._scope.bindings:
            return UndrawnElements()
        found: list[Any] = self._array.reshape(-1).tolist()
        return found

    @property
    def _array(self) -> NDArray[Any]:
        return shaped(self._scope, self._parameter, self._scope.find(self._parameter.name))


class SearchedLevels(Mapping[str, Any]):
    """The levels of some factors in a search, each asked for when it is looked at and not before.

    A kind that fails by two of its levels thereby hangs on these two alone.
    """

    def __init__(self, scope: Partial, names: Collection[str]) -> None:
        self._scope = scope
        self._names = names

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return self._scope.level(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Partial(Mapping[str, object]):
    """Names for expressions over the bindings of a search; EvaluationError for what is not bound yet.

    It notes what is asked for in `asked`, so that a search knows what a failure hangs on.
    """

    def __init__(self, spec: Spec, bindings: Bindings) -> None:
        self.spec = spec
        self.asked: set[str] = set()
        self._bindings = bindings

    @property
    def bindings(self) -> Bindings:
        """Everything that is bound, for whoever needs no note of it."""
        return self._bindings

    def level(self, factor: str) -> Any:
        """The level of a factor; None where it has none."""
        return self.find(f"level:{factor}")

    def has(self, name: str) -> bool:
        """Whether something is bound under a name, be it None."""
        self.asked.add(name)
        return name in self._bindings

    def find(self, name: str) -> Any:
        """What is bound under a name; None where nothing is."""
        self.asked.add(name)
        return self._bindings.get(name)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an input; EvaluationError where it is not bound, or the input left out.

        Of a variadic input and a sequence it is that of the first tensor; a pack is a shape itself.
        """
        if (found := self.find(f"shape:{name}")) is not None:
            return tuple(found)
        value = self[name]
        if isinstance(value, list) and value and isinstance(value[0], Operand):
            value = value[0]
        if isinstance(value, list) and all(type(each) is int for each in value):
            return tuple(value)
        if not isinstance(value, Operand):
            raise EvaluationError("an input without a shape", got=repr(name))
        return value.shape

    def value(self, expression: Expression) -> Any:
        """The value of an expression over what is bound."""
        return expression.evaluate(self)

    def element_type(self, parameter: ParameterSpec) -> str:
        """The element type that an input has, or the first that it may have."""
        return self._element_type(self.spec.input_forms[parameter.name])

    def _element_type(self, form: InputForm) -> str:
        chosen = self.find(f"level:type_{form.type_variable}")
        if chosen is not None:
            return str(chosen)
        return form.element_types[0] if form.element_types else "float"

    def __getitem__(self, name: str) -> object:
        spec = self.spec
        if (form := spec.input_forms.get(name)) is not None:
            return self._operand(form)
        if (known := spec.attributes.get(name)) is not None:
            if not self.has(name):
                raise EvaluationError("not bound yet", got=repr(name))
            value = self._bindings[name]
            if isinstance(value, Tensor):
                return operand_of(value)
            return value if value is not None else (known.default if known.has_default else None)
        if self.has(name):
            return self._bindings[name]
        if name in spec.let:
            return parse(spec.let[name]).evaluate(self)
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name == "version":
            return spec.operator.since_version
        raise EvaluationError("not bound yet", got=repr(name))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __iter__(self) -> Iterator[str]:
        return iter(self._bindings)

    def __len__(self) -> int:
        return len(self._bindings)

    def _operand(self, form: InputForm) -> object:
        parameter, name = form.parameter, form.parameter.name
        if form.holds_several:
            shapes = self.find(f"shapes:{name}")
            if shapes is None:
                raise EvaluationError("not bound yet", got=repr(name))
            kind = self._element_type(form)
            return Operands([Operand(kind, tuple(each), UndrawnElements()) for each in shapes], kind)
        if form.is_structured:
            return self._structured(form)
        required = parameter.option == "single"
        if required and self._bindings.get(name, self._bindings.get(f"shape:{name}")) is not None:
            return PartialInput(self._element_type(form), self, parameter)
        if self.has(name):
            value = self._bindings[name]
            if value is None:
                return None
            array = shaped(self, parameter, value)
            return Operand(self._element_type(form), array.shape, array.reshape(-1).tolist())
        if not self.has(f"shape:{name}"):
            raise EvaluationError("not bound yet", got=repr(name))
        shape = self._bindings[f"shape:{name}"]
        return None if shape is None else Operand(self._element_type(form), tuple(shape), UndrawnElements())

    def _structured(self, form: InputForm) -> object:
        """An input that may be an optional, a sequence or a map; None where it is left out."""
        name = form.parameter.name
        if f"shapes:{name}" not in self._bindings:
            self.asked.add(f"shapes:{name}")
            raise EvaluationError("not bound yet", got=repr(name))
        # Whether it is left out, and what of, its level says; a rule on that alone hangs on no shape.
        level = self.level(name)
        if level == OMITTED:
            return None
        held = read_form(str(level))
        kind = self._element_type(form)
        types = held.part_types(kind)
        parts: list[Operand] = [AskedPart(dtype.name, self.find, name, at) for at, dtype in enumerate(types)]
        if held.form == TENSOR:
            return parts[0]
        return Operands(parts, kind, str(held.type(kind)), held.count is None)


def shaped(partial: Partial, parameter: ParameterSpec, value: Any) -> np.ndarray[Any, Any]:
    """A value of a kind as an array: a single number gets the shape that the declaration gives the input."""
    array = np.asarray(value)
    if partial.has(f"shape:{parameter.name}"):
        shape = partial.find(f"shape:{parameter.name}")
        if shape is None or array.shape == tuple(shape):
            return array
        return array.reshape(shape) if array.size == math.prod(shape) else np.resize(array, shape)
    declared = partial.spec.declared.shapes.get(parameter.name) if partial.spec.declared else None
    if array.ndim or declared is None:
        return array
    try:
        parts = parse_shape(declared).chosen(partial)
        extents = [extent for part in parts for extent in evaluate_part(part, partial)]
    except EvaluationError:
        return array
    return array.reshape(extents) if all(extent == 1 for extent in extents) else array
