"""What a single change is, and what must come out of a changed call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from conformance.suite.cases import Expectation, ExpectedOutput
from generator.asking.calls import Call
from generator.asking.expectations import expect
from opcert.vocabulary.attributes import AttributeValue
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.tensors import Tensor
from reference.answers import OutsideDomain, UnstableLength
from reference.registry.reference_operator import ReferenceOperator
from specs.model.spec import Spec

Narrow = Callable[[Tensor], Tensor | None]
"""An output in a narrower element type, or None where that loses something."""


@dataclass(frozen=True, eq=False)
class Changed:
    """A call after a change.

    `settled` overrides readings by id. `narrow` is put before the judge where the call computes in another
    element type than the runtime's output has. `expectations` is given where no call of the operator says
    what comes out, and then stands in its place. `before` is what the change replaces, in words. `breaks` are
    the rules of the spec that are not asked.
    """

    call: Call
    settled: Mapping[str, str] = field(default_factory=dict)
    narrow: Narrow | None = None
    expectations: tuple[Expectation, ...] | None = None
    before: str | None = None
    breaks: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Change:
    """One change. `key` is stable and names it in files; `text` says in words what was done instead.

    `apply` gives None where there is nothing to change in a call. A change that replaces one value by another
    has a `subject`, and its text is the new value. One that
    says no more than others is not named where one of those fits: they are its `variant_of`. What it does is
    right where a spec leaves the behaviour `accepted_by` open.
    """

    key: str
    text: str
    apply: Callable[[Spec, Call], Changed | None]
    subject: str | None = None
    variant_of: tuple[str, ...] = ()
    accepted_by: str | None = None

    def is_accepted(self, spec: Spec) -> bool:
        """Whether a runtime that makes it in every call keeps to the spec."""
        return any(reading.id == self.accepted_by and reading.chosen is None for reading in spec.readings)


def changed_expectations(
    spec: Spec, reference: ReferenceOperator, changed: Changed
) -> tuple[Expectation, ...] | None:
    """What must come out of a changed call; None where the documents define no result of it."""
    if changed.expectations is not None:
        return changed.expectations
    if any(option not in reference.readings.get(name, ()) for name, option in changed.settled.items()):
        return None
    readings = tuple(
        replace(reading, chosen=changed.settled[reading.id]) if reading.id in changed.settled else reading
        for reading in spec.readings
    )
    rules = tuple(constraint for constraint in spec.constraints if constraint.id not in changed.breaks)
    try:
        return expect(replace(spec, readings=readings, constraints=rules), reference, changed.call.trimmed())
    except UnstableLength:
        return None
    except InternalError as error:
        # `expect` takes calls that were made to be valid; a changed one need not be.
        if isinstance(error.__cause__, OutsideDomain):
            return None
        raise


def attribute_value(spec: Spec, call: Call, name: str) -> AttributeValue | None:
    """The value that an attribute has in a call, its default where it is not given."""
    given = call.attributes.get(name)
    if given is not None:
        return given.value
    known = spec.attributes.get(name)
    return None if known is None else known.default_value


def exactly(name: str, output: Tensor) -> tuple[Expectation, ...]:
    """The expectation of one output, bit for bit."""
    return (Expectation((ExpectedOutput(name, output),)),)
