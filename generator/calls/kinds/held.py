"""What an optional holds: an input that has to hold something, or the type of what one would hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.form_levels import form_levels, read_form
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, Level
from generator.calls.variables.kind_checks import need_form
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.value_types import SequenceType, TensorType, ValueType
from specs.model.spec import Constraint
from specs.model.structures import TENSOR, element_types_of, forms_of


@dataclass(frozen=True)
class Held(Kind):
    """What an optional holds: its `value`, an input, or the `type` of that, an attribute in its place."""


@dataclass(frozen=True)
class _HeldValue(Held):
    """Its forms without the one that is an optional of nothing; values are drawn as those of other inputs."""

    def __post_init__(self) -> None:
        need_form(self.subject, self.name, "optional")

    @property
    def covers(self) -> tuple[str, ...]:
        return ()

    @property
    def mends(self) -> tuple[str, ...]:
        return (self.name,) if self.subject.input(self.name) is not None else ()

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        omitted = (OMITTED,) if self.subject.may_be_omitted(self.name) else ()
        held = [level for level in self._levels() if read_form(level).count is not None]
        return {self.name: (*held, *omitted)}

    def rules(self) -> Iterable[Constraint]:
        given = f"present({self.name})" if self.subject.may_be_omitted(self.name) else None
        yield self.rule(f"{self.name}_held", f"has_element({self.name})", given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for level in self._levels():
            if read_form(level).count is None:
                yield f"{self.name}_held", {f"level:{self.name}": level, f"shapes:{self.name}": []}

    def _levels(self) -> tuple[str, ...]:
        return form_levels(self.subject.spec, self.subject.parameter(self.name))


@dataclass(frozen=True)
class _HeldType(Held):
    """The type of an input, which may be written beside it, and stands for it where it is left out."""

    of: InputName

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shapes:{self.of}"})

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        parameter = self.subject.input(self.of)
        forms = forms_of(self.subject.spec, parameter) if parameter is not None else (TENSOR,)
        return {self.name: (OMITTED, *forms)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        form, given = str(levels[self.name]), scope.find(f"shapes:{self.of}") is not None
        if form == OMITTED:
            if given:
                yield {self.name: None}
            return
        if given and read_form(str(scope.level(self.of))).form != form:
            return
        yield {self.name: read_form(form).type(self.type_of(scope, self.of).name)}

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_or_{self.of}", f"present({self.name}) or present({self.of})")
        allowed = self._allowed()
        yield self.rule(
            f"{self.name}_allowed", f"value_type({self.name}) in {allowed!r}", f"present({self.name})"
        )
        yield self.rule(
            f"{self.name}_of_{self.of}",
            f"value_type({self.name}) == value_type({self.of})",
            f"present({self.name}) and present({self.of}) and value_type({self.name}) in {allowed!r}",
        )

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        given = scope.find(f"shapes:{self.of}") is not None
        if not given:
            yield f"{self.name}_or_{self.of}", {self.name: None}
            return
        held = TensorType(ELEMENT_TYPES["int64"])
        others: tuple[ValueType, ...] = (held, SequenceType(held), TensorType(ELEMENT_TYPES["string"]))
        for other in others:
            yield f"{self.name}_of_{self.of}", {self.name: other}
        yield f"{self.name}_allowed", {self.name: SequenceType(SequenceType(held))}

    def _allowed(self) -> list[str]:
        parameter = self.subject.parameter(self.of)
        forms, types = forms_of(self.subject.spec, parameter), element_types_of(self.subject.spec, parameter)
        return [
            each if form == TENSOR else str(read_form(form).type(each)) for form in forms for each in types
        ]


Held.variants = {"value": _HeldValue, "type": _HeldType}
