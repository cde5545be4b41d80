"""Kinds of data that is drawn as that of other inputs and then mended."""

from __future__ import annotations

from generator.calls.solver.partial import Partial
from generator.calls.variables.kind import Kind
from specs.language.expressions import Expression


class MendedData(Kind):
    """A kind without values of its own: data drawn as that of other inputs, mended where `when` holds.

    Each has `when` among its own arguments, so that it stands where it reads best.
    """

    when: Expression | None

    @property
    def covers(self) -> tuple[str, ...]:
        return ()

    @property
    def mends(self) -> tuple[str, ...]:
        return (self.name,) if self.subject.has(self.name) else ()

    def holds(self, scope: Partial) -> bool:
        """Whether the data is to be mended here."""
        return self.when is None or bool(scope.value(self.when))
