"""Demands as a matrix: what documents say of an operator, where, and the cases that rest on it.

What has no case is a demand that nothing in the suite looks at: who assesses a certificate asks for these.
What documents leave open (readings) is no demand.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.judging.verdicts import FAILING
from opcert.vocabulary.names import OperatorName
from reports.results.case_results import CaseResult, Results
from reports.results.told_facts import items, mapping, text

_KINDS = {"attributes": "attribute", "constraints": "constraint", "may_refuse": "may be rejected"}
_Place = tuple[str, int]
"""A document by the key that facts have for it, and a line of it."""


@dataclass(frozen=True)
class DemandPlace:
    """Where a demand stands."""

    document: str
    sha256: str
    line: int


@dataclass(frozen=True)
class Demand:
    """What documents say of an operator version in one respect, and what became of the cases that rest on it.

    `verdicts` count its cases. `worst` is the greatest error over the error allowed to its element, of cases
    that are allowed one. `failing` is a case that fails.
    """

    operator: OperatorName
    says: str
    places: tuple[DemandPlace, ...]
    verdicts: Mapping[str, int]
    worst: float | None
    failing: str | None

    @property
    def cases(self) -> int:
        """How many cases rest on it."""
        return sum(self.verdicts.values())


def list_demands(results: Results) -> Iterator[Demand]:
    """Every demand of the suite's operators, in the order of the suite."""
    by_operator: defaultdict[OperatorName, list[CaseResult]] = defaultdict(list)
    for result in results.cases:
        by_operator[result.operator].append(result)
    for operator, own in by_operator.items():
        facts = results.operator_facts(operator)
        cited = _cited(results, own)
        for says, stated in _said(facts):
            resting = {id(result): result for place in stated for result in cited.get(place, ())}
            ratios = [result.ratio for result in resting.values() if result.ratio is not None]
            yield Demand(
                operator,
                says,
                tuple(_place(facts, place) for place in stated),
                dict(sorted(Counter(result.verdict for result in resting.values()).items())),
                max(ratios, default=None),
                next((str(result.id) for result in resting.values() if result.verdict in FAILING), None),
            )


def _said(facts: Mapping[str, Any]) -> Iterator[tuple[str, tuple[_Place, ...]]]:
    """What is said of an operator, with its places; what stands in no document is said by nobody."""
    for name, kind in _KINDS.items():
        for fact, content in mapping(facts.get(name)).items():
            places = tuple(dict.fromkeys(_places(mapping(content).get("sources"))))
            rule = text(mapping(content).get("rule"))
            if places:
                yield f"{kind} {fact}{f': {rule}' if rule else ''}", places


def _place(facts: Mapping[str, Any], place: _Place) -> DemandPlace:
    document = mapping(mapping(facts.get("documents")).get(place[0]))
    return DemandPlace(text(document.get("file") or place[0]), text(document.get("sha256")), place[1])


def _cited(results: Results, own: Iterable[CaseResult]) -> Mapping[_Place, list[CaseResult]]:
    """The cases that rest on each place."""
    found: defaultdict[_Place, list[CaseResult]] = defaultdict(list)
    for result in own:
        sources = results.suite.case(str(result.id), call_alone=True).sources
        for place in dict.fromkeys(_places([list(source) for source in sources])):
            found[place].append(result)
    return found


def _places(sources: object) -> Iterator[_Place]:
    for source in items(sources):
        match source:
            case [str(key), int(line), *_]:
                yield key, line
