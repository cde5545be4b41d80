"""Levels of inputs that may be more than a tensor: a form, and how many values it holds."""

from __future__ import annotations

from dataclasses import dataclass

from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.value_types import MapType, OptionalType, SequenceType, TensorType, ValueType
from specs.model.spec import ParameterSpec, Spec
from specs.model.structures import TENSOR, forms_of, type_of_form

_NOTHING = "nothing"
_COUNTS = (2, 1, 0)
"""How many tensors a sequence, entries a map, and maps a sequence of them has; the plainest first."""


@dataclass(frozen=True)
class HeldForm:
    """A form such as `optional(seq(tensor))`, and how many it holds; None: an optional without a value."""

    form: str
    count: int | None = 1

    @property
    def level(self) -> str:
        """`tensor`, `seq(tensor) of 2`, `optional(tensor) of nothing`."""
        if self.count is None:
            return f"{self.form} of {_NOTHING}"
        return f"{self.form} of {self.count}" if _is_counted(self.form) else self.form

    def type(self, element_type: str) -> ValueType:
        """The type of the value, with that element type."""
        return type_of_form(self.form, element_type)

    def part_types(self, element_type: str) -> tuple[ElementType, ...]:
        """The element types of the tensors that the value is made of, in the order of a slot's parts."""
        if self.count is None:
            return ()
        kind = self.type(element_type)
        kind = kind.of if isinstance(kind, OptionalType) else kind
        if isinstance(kind, MapType):
            return (kind.key, kind.of.element_type)
        held = kind.of if isinstance(kind, SequenceType) else kind
        if isinstance(held, MapType):
            return (held.key, held.of.element_type) * self.count
        assert isinstance(held, TensorType)
        return (held.element_type,) * self.count

    @property
    def is_map(self) -> bool:
        """Whether its parts are keys and values."""
        return "map(" in self.form


def form_levels(spec: Spec, parameter: ParameterSpec) -> tuple[str, ...]:
    """The levels of an input's forms: the documents' first form is the plainest."""
    found = []
    for form in sorted(forms_of(spec, parameter), key=lambda form: form != TENSOR):
        counts: tuple[int | None, ...] = _COUNTS if _is_counted(form) else (1,)
        found += [HeldForm(form, count) for count in (*counts, *((None,) if form.startswith("opt") else ()))]
    return tuple(held_form.level for held_form in found)


def read_form(level: str) -> HeldForm:
    """The form of a level."""
    form, counted, count = level.partition(" of ")
    if not counted:
        return HeldForm(form)
    return HeldForm(form, None if count == _NOTHING else int(count))


def _is_counted(form: str) -> bool:
    return "seq(" in form or "map(" in form
