"""What a runtime's record has against the reference, each with the entry that explains it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from conformance.judging.judge import FAILING
from conformance.recording.records import Record
from conformance.suite.cases import Case
from conformance.suite.suites import Suite
from opcert.vocabulary.names import OperatorName
from reference.disagreements import Disagreement, explain
from specs.call_scopes import Scope, scope_of
from specs.library import load_spec
from specs.model import Spec


@dataclass(frozen=True)
class Disagreeing:
    """One failing row, or one fault of the run, and the entry that explains it (None: nobody has)."""

    subject: str
    operator: str
    verdict: str
    reason: str
    entry: Disagreement | None


_spec = cache(load_spec)
_AFTER = re.compile(r" after (\S+)$")


def names_of(case: Case) -> Scope:
    """A case's attributes (with their defaults) and inputs, as expressions see them."""
    spec: Spec = _spec(case.operator)
    return scope_of(spec, case.attributes, dict(case.inputs))


def disagreeing(suite: Suite, record: Record, entries: Sequence[Disagreement]) -> Iterator[Disagreeing]:
    """Every failing row and fault of a record, in its order."""
    runtime = str(record.header["runtime"]["name"])
    for row in record.results:
        if row.verdict not in FAILING:
            continue
        case = suite.case(row.case)
        # What a row says in full: a refusal's first line is seldom the one that says why.
        reason = "\n".join(each for each in (row.reason, row.message) if each)
        names = names_of(case)
        levels = {"element_type": case.element_type.name, **case.levels}
        entry = explain(entries, row.operator, row.case, runtime, row.verdict, levels, reason, names)
        yield Disagreeing(row.case, row.operator, row.verdict, reason, entry)
    for fault in record.faults:
        operator, reason = str(fault.get("operator", "")), str(fault["message"])
        subject = f"{OperatorName.parse(operator).path}/{fault['kind']}" if operator else str(fault["kind"])
        entry = explain(entries, operator, subject, runtime, "fault", {}, reason)
        if entry is None and fault["kind"] == "unload_crash":
            entry = _explain_lost(suite, runtime, entries, [str(each) for each in fault["reasons"]])
        yield Disagreeing(subject, operator, "fault", reason, entry)


def _explain_lost(
    suite: Suite, runtime: str, entries: Sequence[Disagreement], reasons: Sequence[str]
) -> Disagreement | None:
    """The entry about the crash of the case before, where a worker was lost just behind each such case.

    A process whose memory a case has broken may die in the case or a moment later.
    """
    found = []
    for reason in reasons:
        case = _AFTER.search(reason)
        if case is None or case[1] not in suite.case_ids:
            return None
        known = suite.case(case[1])
        levels = {"element_type": known.element_type.name, **known.levels}
        operator = str(known.operator)
        names = names_of(known)
        found.append(explain(entries, operator, case[1], runtime, "crash", levels, reason, names))
    return found[0] if found and all(found) else None
