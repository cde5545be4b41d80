"""An input that may be an optional, and has to hold something where it is one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.form_levels import form_levels, read_form
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import Kind, Level
from generator.calls.variables.kind_checks import need_form
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Held(Kind):
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
        held = [each for each in self._levels() if read_form(each).count is not None]
        return {self.name: (*held, *omitted)}

    def rules(self) -> Iterable[Constraint]:
        given = f"present({self.name})" if self.subject.may_be_omitted(self.name) else None
        yield self.rule(f"{self.name}_held", f"has_element({self.name})", given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for level in self._levels():
            if read_form(level).count is None:
                yield f"{self.name}_held", {f"level:{self.name}": level, f"shapes:{self.name}": []}

    def _levels(self) -> tuple[str, ...]:
        parameter = self.subject.input(self.name)
        assert parameter is not None
        return form_levels(self.subject.spec, parameter)
