"""Which way a runtime reads what documents leave open, and whether it does so throughout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opcert.vocabulary.names import OperatorName
from reports.results.case_results import CaseResult, Results
from reports.results.told_facts import items, joined, mapping, places, text
from reports.text.phrasing import count, listed, plural

_EVIDENCE = {
    "text": "says so",
    "example": "shows it",
    "document": "another document says so",
    "witness": "does so",
}


@dataclass(frozen=True)
class OptionFollowed:
    """One option of a reading, and over how many cases the runtime followed it and no other."""

    name: str
    meaning: str
    evidence: tuple[str, ...]
    number: int | None


@dataclass(frozen=True)
class ReadingFollowed:
    """A question that the documents of an operator leave open, and what the runtime's answers say to it.

    `told` counts, by option, the cases whose answers fit that option alone; `either` those whose answers fit
    several.
    """

    id: str
    kind: str
    question: str
    options: tuple[OptionFollowed, ...]
    told: Mapping[str, int]
    either: int
    chosen: str | None
    faults: tuple[str, ...]

    @property
    def followed(self) -> str:
        """The answer in one line."""
        if self.chosen is not None:
            return f"Settled: {self.chosen}; any other answer is a mismatch."
        seen = [name for name, number in self.told.items() if number]
        if not seen:
            return "No answer of this run tells."
        if len(seen) == 1:
            return f"Follows {seen[0]} in all {plural(self.told[seen[0]], 'case')} that tell."
        parts = [f"{name} in {plural(self.told[name], 'case')}" for name in seen]
        return f"Not the same way throughout: {listed(parts)}."

    @property
    def detail(self) -> str:
        if not self.either:
            return ""
        verb = "fits" if self.either == 1 else "fit"
        return f"{plural(self.either, 'further answer')} {verb} more than one option."


def find_readings(results: Results, operator: OperatorName) -> tuple[ReadingFollowed, ...]:
    """The readings and implementation-defined behaviours of an operator version, as documents list them."""
    facts = results.operator_facts(operator)
    cases = results.by_operator.get(operator, ())
    return tuple(
        _reading(facts, mapping(item), cases, _faults(results, operator, text(mapping(item).get("id"))))
        for item in items(facts.get("readings"))
    )


def untold_of_doubles(facts: Mapping[str, Any]) -> str:
    """What nothing tells of results of doubles: where half of the cases or more accept them rounded to float.

    `facts` are the manifest's of an operator version.
    """
    told = mapping(facts.get("rounded_to_float"))
    cases, accepting = told.get("cases"), told.get("accepting")
    if not isinstance(cases, int) or not isinstance(accepting, int) or not accepting or 2 * accepting < cases:
        return ""
    names = [text(item) for item in items(told.get("readings"))]
    where = "all" if accepting == cases else f"{count(accepting)} of"
    verb = "accepts" if accepting == 1 else "accept"
    why = f"by {listed(names)}" if names else "whatever is read"
    return (
        f"{where.capitalize()} {plural(cases, 'case')} with results of doubles that float does not hold "
        f"{verb} them rounded to it, {why}: nothing tells there whether they were computed in double."
    )


def _reading(
    facts: Mapping[str, Any],
    reading: Mapping[str, Any],
    cases: Sequence[CaseResult],
    faults: tuple[str, ...],
) -> ReadingFollowed:
    name = text(reading.get("id"))
    told: Counter[str] = Counter()
    either = 0
    for case in cases:
        matched = matched_options(case).get(name, ())
        if len(matched) == 1:
            told[matched[0]] += 1
        elif matched:
            either += 1
    options = {**mapping(reading.get("options"))}
    for each in told:
        options.setdefault(each, "")
    chosen = reading.get("chosen")
    return ReadingFollowed(
        name,
        "implementation-defined" if reading.get("kind") == "behaviour" else "reading",
        text(reading.get("question")),
        tuple(
            OptionFollowed(
                each,
                text(meaning),
                _evidence(facts, reading, each),
                None if chosen is not None else told[each],
            )
            for each, meaning in options.items()
        ),
        told,
        either,
        None if chosen is None else text(chosen),
        faults,
    )


def matched_options(case: CaseResult) -> dict[str, tuple[str, ...]]:
    """For each reading and behaviour of a passing case, the options that its answers fit in every row."""
    found: dict[str, tuple[str, ...]] = {}
    for row in case.rows:
        if row.verdict != "pass":
            continue
        for name, options in {**row.readings, **row.behaviours}.items():
            before = found.get(name)
            found[name] = tuple(option for option in options if before is None or option in before) or tuple(
                options
            )
    return found


def _evidence(facts: Mapping[str, Any], reading: Mapping[str, Any], option: str) -> tuple[str, ...]:
    lines = []
    for item in items(reading.get("evidence")):
        evidence = mapping(item)
        if text(evidence.get("option")) != option:
            continue
        where = joined(places(facts, evidence.get("sources")))
        kind = _EVIDENCE.get(text(evidence.get("kind")), text(evidence.get("kind")))
        note = text(evidence.get("note"))
        lines.append(": ".join(part for part in (f"{where} {kind}".strip(), note) if part))
    return tuple(lines)


def _faults(results: Results, operator: OperatorName, reading: str) -> tuple[str, ...]:
    return tuple(
        fault_text(fault)
        for fault in results.record.faults
        if mapping(fault).get("operator") == str(operator) and mapping(fault).get("reading") == reading
    )


def fault_name(fault: Mapping[str, Any]) -> str:
    """What a fault of a whole run is called beside the ids of cases."""
    return f"fault/{text(fault.get('kind'))}/{text(fault.get('operator'))}"


def fault_text(fault: object) -> str:
    """A fault of a run as one line."""
    if not isinstance(fault, dict):
        return text(fault)
    message = fault.get("message") or fault.get("reason")
    if message:
        return text(message)
    return "; ".join(f"{name}: {value}" for name, value in fault.items())


def readings_summary(results: Results, operator: OperatorName) -> str:
    """One line for a terminal: `align_corners_length: floored (12 cases)`."""
    parts = []
    for reading in find_readings(results, operator):
        seen = [f"{name} ({count(number)})" for name, number in reading.told.items() if number]
        if seen:
            parts.append(f"{reading.id}: {' and '.join(seen)}")
    return "; ".join(parts)
