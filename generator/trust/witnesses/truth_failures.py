"""What is known of failing cases of suites, held against refusals of the truth test.

A valid call that a runtime refuses is a case that fails as `rejected_valid`, whoever asks about it, and where
the spec says that a document can be read to exclude it, it is no failure: what is known of the one need not
be written again for the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.judging.verdicts import REJECTED_VALID, Verdict
from conformance.suite.cases import Case
from generator.asking.bare_cases import bare_case
from generator.asking.calls import Call
from generator.asking.validity import find_refusable
from generator.trust.witnesses.truth_runs import Reaction, Witnessed
from opcert.vocabulary.errors import UserError
from reference.readings.disagreements import Disagreement
from specs.model.call_scopes import scope_of
from specs.model.spec import Refusable, Spec

_VERDICTS: dict[Reaction, Verdict] = {
    "refused": REJECTED_VALID,
    "crashed": "crash",
    "timed out": "timeout",
}


@dataclass(frozen=True)
class FailureEntries:
    """The entries of `cases` in `disagreements.yaml`, and the spec whose calls they are held against."""

    spec: Spec
    entries: Sequence[Disagreement]

    def explain(self, witness: str, found: Witnessed, call: Call) -> Disagreement | Refusable | None:
        """What of `may_refuse` lets a witness refuse a valid call, or the first entry that says why it does.

        None where there is neither. What asks for levels of other factors than the element type, or for
        cases of a certain family, is not about calls.
        """
        if found.reaction not in _VERDICTS:
            return None
        if found.reaction == "refused":
            left_open = find_refusable(self.spec, call)
            if left_open is not None:
                return left_open
        case = bare_case(self.spec, call)
        about = (each for each in self.entries if witness in each.against)
        return next((each for each in about if self._fits(each, witness, found, call, case)), None)

    def _fits(self, entry: Disagreement, witness: str, found: Witnessed, call: Call, case: Case) -> bool:
        levels = {"element_type": case.element_type.name}
        operator, verdict = str(self.spec.operator), _VERDICTS[found.reaction]
        try:
            names = None if entry.when is None else scope_of(self.spec, call.attributes, dict(call.inputs))
            return entry.explains(operator, str(case.id), witness, verdict, levels, found.message, names)
        except (KeyError, UserError):
            return False  # its condition has no value for this call
