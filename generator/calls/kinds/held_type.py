"""An attribute that is the type of what an input would hold, and is needed where the input is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.form_levels import read_form
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, Level
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.value_types import SequenceType, TensorType, ValueType
from specs.model.spec import Constraint
from specs.model.structures import TENSOR, element_types_of, forms_of


@dataclass(frozen=True)
class HeldType(Kind):
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
        parameter = self.subject.input(self.of)
        assert parameter is not None
        yield {self.name: read_form(form).type(scope.element_type(parameter))}

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
        parameter = self.subject.input(self.of)
        assert parameter is not None
        forms, types = forms_of(self.subject.spec, parameter), element_types_of(self.subject.spec, parameter)
        return [
            each if form == TENSOR else str(read_form(form).type(each)) for form in forms for each in types
        ]
