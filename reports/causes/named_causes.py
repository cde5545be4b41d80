"""Causes in files that people keep: named by what stays the same in another suite, version or place."""

from __future__ import annotations

from typing import Self

from pydantic import Field, field_validator, model_validator

from conformance.judging.verdicts import ACCEPTED_INVALID
from reports.causes.failure_class import FailureClass
from reports.causes.spoken_failures import check_message, fits_message, is_telling, said_form
from reports.results.case_results import CaseResult
from reports.text.yaml_types import Listed, Strict


class NamedCause(Strict):
    """A cause, by exactly one of `known`, `message`, `factors` and `rule`.

    `known` is the id of an entry of known causes, `message` what the runtime says (`fits_message`), `rule`
    the rule that calls break which are answered. `factors` are what an experiment showed that failing needs,
    each with values that fail. `operators` (`ai.onnx::Resize`) narrow it; where there are none, it is of any.
    """

    known: str = ""
    message: str = ""
    factors: dict[str, Listed[str]] = Field(default_factory=dict)
    rule: str = ""
    operators: Listed[str] = ()

    @field_validator("message")
    @classmethod
    def _check_message(cls, value: str) -> str:
        return check_message(value) if value else value

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        given = [each for each in ("known", "message", "factors", "rule") if getattr(self, each)]
        if len(given) != 1:
            raise ValueError(
                f"a cause is named by one of known, message, factors and rule, not by {given or 'none'}"
            )
        return self

    def fits(self, case: CaseResult, found: FailureClass | None) -> bool:
        """Whether a failing case has this cause; `found` is the class that it is in."""
        if self.operators and case.operator.unversioned not in self.operators:
            return False
        if self.message:
            return fits_message(self.message, case)
        if self.rule:
            return case.verdict == ACCEPTED_INVALID and case.constraint == self.rule
        if found is None:
            return False
        if self.known:
            return found.known is not None and found.known.id == self.known
        return self._factors_fit(found)

    def _factors_fit(self, found: FailureClass) -> bool:
        """Whether experiments showed the same factors, and none right with what fails here."""
        if found.told != "experiment" or found.shown is None:
            return False
        needed = {each.factor: each for each in found.shown.needed}
        return needed.keys() == self.factors.keys() and all(
            not set(values) & set(needed[name].cures) for name, values in self.factors.items()
        )


def name_cause(found: FailureClass) -> NamedCause | None:
    """The name of a class's cause; None where it is known by association or by nothing, which do not last."""
    operators = tuple(dict.fromkeys(each.unversioned for each in found.operators))
    if found.known is not None:
        return NamedCause(known=found.known.id)
    if found.told == "message":
        said = said_form(found.smallest)
        named = is_telling(said)
        return NamedCause(message=said, operators=operators) if named else None
    if found.told == "experiment" and found.shown is not None and found.shown.needed:
        factors = {
            each.factor: tuple(dict.fromkeys((each.value, *each.fails))) for each in found.shown.needed
        }
        return NamedCause(factors=factors, operators=operators)
    rule = found.smallest.constraint
    return NamedCause(rule=rule, operators=operators) if found.told == "rule" and rule else None
