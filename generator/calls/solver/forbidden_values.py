"""Values that a kind's own rules let stand, and that a rule which people wrote forbids in some calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from generator.calls.solver.partial import Bindings, Partial
from specs.language.evaluation import EvaluationError
from specs.language.expressions import parse
from specs.model.spec import Constraint


def forbidden(name: str, values: Sequence[Any], scope: Partial) -> Iterator[tuple[str, Bindings]]:
    """Of some values of a name those that break a written rule about it here, each with the rule's id."""
    for rule in scope.spec.constraints:
        if rule.origin.how == "derived" or rule.require is None or name not in parse(rule.require).names:
            continue
        for value in values:
            if _breaks(rule, Partial(scope.spec, {**scope.bindings, name: value})):
                yield rule.id, {name: value}


def _breaks(rule: Constraint, scope: Partial) -> bool:
    """Whether a rule that requires something is broken; not where what it is about cannot be told."""
    try:
        concerned = rule.when is None or bool(scope.value(parse(rule.when)))
        return concerned and not scope.value(parse(str(rule.require)))
    except EvaluationError:
        return False
