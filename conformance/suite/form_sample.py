"""Which cases of a suite a run puts before a runtime in which forms, where the others go in one alone.

Each form has a sample of its own, of each operator version: cases in which the form can tell something.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from conformance.suite.cases import CaseOutline

if TYPE_CHECKING:
    from conformance.suite.suites import Suite

CASES = 6
"""Of each operator version at least so many cases, where there are, are in the sample of a form of inputs."""
_MOST = 12
"""And so many at most, where further ones have levels that those before do not have."""
_PLAIN, _OTHERS = 20, 12
"""They are chosen among so many of the plainest type, which every runtime has, and so many others."""
_PLAINEST = "float"
_UNTOUCHED, _LARGEST, _PAIRS = 3, 2, 2
"""Of each operator version so many cases, the largest ones, and pairs have their model run several times."""
_NO_INPUT = ("data", "type_")
"""How factors begin that say nothing of how inputs lie: of values, and of types."""


@dataclass(frozen=True)
class FormSample:
    """The cases of each form, and for those of `again` the case that runs before each of their runs."""

    cases: Mapping[str, frozenset[str]]
    between: Mapping[str, str] = field(default_factory=dict)

    def forms_of(self, case_id: str, forms: Sequence[str]) -> list[str]:
        """Those of the forms that a case goes in, the first among them in any case."""
        return [form for form in forms if form == forms[0] or case_id in self.cases.get(form, ())]


@dataclass(frozen=True)
class _SuiteSamples:
    """The answered cases of each operator version of a suite, and the samples that were made of them."""

    answered: Mapping[str, Sequence[str]]
    made: dict[str, FormSample] = field(default_factory=dict)


_SAMPLES: dict[tuple[str, int, int], _SuiteSamples] = {}
_MOST_SAMPLES = 8


def form_sample(suite: Suite, cases: int = CASES, among: Sequence[str] | None = None) -> FormSample:
    """The sample of each form in a suite; it is made once for each operator version and number of cases.

    It hangs on the cases alone, not on their order. Calls that must be refused, or that nothing is said of,
    are none of it: a form says nothing of these. With `among` it is that of these cases' operators alone.
    """
    key = suite.digest, len(suite.case_ids), cases
    if key not in _SAMPLES:
        while len(_SAMPLES) >= _MOST_SAMPLES:
            del _SAMPLES[next(iter(_SAMPLES))]
        _SAMPLES[key] = _SuiteSamples(answered_cases(suite.case_ids))
    known, found = _SAMPLES[key], []
    wanted = known.answered if among is None else {case_id.rsplit("/", 2)[0] for case_id in among}
    for operator in wanted:
        if operator in known.answered:
            if operator not in known.made:
                known.made[operator] = _make(suite, known.answered[operator], cases)
            found.append(known.made[operator])
    chosen = {
        form: frozenset[str]().union(*(sample.cases.get(form, frozenset()) for sample in found))
        for form in (*_TELLS, "untouched", "threads", "again")
    }
    return FormSample(chosen, {one: other for sample in found for one, other in sample.between.items()})


def _make(suite: Suite, own: Sequence[str], cases: int) -> FormSample:
    """The sample of one operator version, of its cases."""
    chosen: dict[str, set[str]] = {}
    between: dict[str, str] = {}
    outlines = [suite.outline(candidate) for candidate in _candidates(suite, own)]
    for form, tells in _TELLS.items():
        chosen[form] = set(covering([outline for outline in outlines if tells(outline)], cases))
    chosen["untouched"] = set(covering(outlines, 1)[:_UNTOUCHED])
    chosen["threads"] = set(sorted(own, key=partial(_smallness, suite))[:_LARGEST])
    pairs = list(_pairs(suite, outlines)) or list(_pairs(suite, list(map(suite.outline, own))))
    for one, other in pairs:
        between |= {one: other, other: one}
    chosen["again"] = set(between)
    return FormSample({form: frozenset(each) for form, each in chosen.items()}, between)


def answered_cases(case_ids: Sequence[str]) -> dict[str, list[str]]:
    """Of each operator version the cases whose documents say what comes, those with small digests first.

    So they are spread over families, types and levels, and stay the same when a suite grows by others.
    """
    found: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for case_id in case_ids:
        operator, family, last = case_id.rsplit("/", 2)
        if family not in ("invalid", "survival"):
            found[operator].append((last[-12:], case_id))
    return {operator: [case for _, case in sorted(own)] for operator, own in found.items()}


def _candidates(suite: Suite, own: Sequence[str]) -> list[str]:
    """The cases that are looked at: of the plainest type first, then of others."""
    plain = [each for each in own if suite.entry(each)["element_type"] == _PLAINEST][:_PLAIN]
    known = frozenset(plain)
    return [*plain, *[each for each in own if each not in known][:_OTHERS]]


def _smallness(suite: Suite, case_id: str) -> tuple[bool, int, str]:
    """What orders cases: those of the plainest type first, and the largest first."""
    entry = suite.entry(case_id)
    return entry["element_type"] != _PLAINEST, -int(entry["length"]), case_id[-12:]


def covering(outlines: Sequence[CaseOutline], least: int) -> list[str]:
    """Cases that have every level of the others, at least so many of them: each the first that adds most."""
    left = [(str(outline.id), _levels(outline)) for outline in outlines]
    found: list[str] = []
    seen: set[tuple[str, str]] = set()
    while left and len(found) < _MOST:
        best = max(left, key=lambda each: len(each[1] - seen))
        if best[1] <= seen:
            return [*found, *[each for each, _ in left[: max(0, least - len(found))]]]
        found.append(best[0])
        seen |= best[1]
        left.remove(best)
    return found


def _levels(outline: CaseOutline) -> frozenset[tuple[str, str]]:
    """What says how a case's inputs lie: levels, and of each input whether it is there, and its rank."""
    levels = {(name, level) for name, level in outline.levels.items() if not name.startswith(_NO_INPUT)}
    ranks = {
        (f"rank of {name}", str(None if shape is None else len(shape))) for name, shape in outline.shapes
    }
    return frozenset(levels | ranks)


def _given(outline: CaseOutline) -> list[tuple[int, ...]]:
    return [shape for _, shape in outline.shapes if shape is not None]


def _has_constants(outline: CaseOutline) -> bool:
    return len(_given(outline)) > 1


def _has_extents(outline: CaseOutline) -> bool:
    return any(map(len, _given(outline)))


def _can_be_turned(outline: CaseOutline) -> bool:
    first = next(iter(_given(outline)), ())
    return len(first) > 1 and prod(first) > 1


_TELLS = {
    "inputs": _has_constants,
    "initializers": _has_constants,
    "dynamic": _has_extents,
    "strided": _can_be_turned,
}
"""Whether a form's model is another one: `inputs` than `initializers`, the others than `inputs`."""


def _pairs(suite: Suite, outlines: Sequence[CaseOutline]) -> Iterator[tuple[str, str]]:
    """Pairs of calls that differ in extents and values alone; each case is in one pair."""
    alike: defaultdict[tuple[object, ...], list[CaseOutline]] = defaultdict(list)
    for outline in outlines:
        ranks = tuple((name, None if shape is None else len(shape)) for name, shape in outline.shapes)
        key = outline.element_type, ranks, repr(sorted(outline.attributes.items()))
        if outline.demand == "answer":
            alike[key].append(outline)
    taken: set[str] = set()
    number = 0
    for group in sorted(alike.values(), key=lambda each: -_extents_of(each)):
        for one, other in combinations(group, 2):
            both = {str(one.id), str(other.id)}
            if number == _PAIRS or one.shapes == other.shapes or taken & both:
                continue
            if _are_one_call(suite, *sorted(both)):
                taken |= both
                number += 1
                yield str(one.id), str(other.id)


def _extents_of(group: Sequence[CaseOutline]) -> int:
    """How many extents the inputs of a group's cases have: of scalars there is nothing to keep."""
    return sum(map(len, _given(group[0])))


def _are_one_call(suite: Suite, first: str, second: str) -> bool:
    """Whether two calls have one node: the same types, values and outputs, of the same ranks."""
    nodes = []
    for each in (suite.case(first), suite.case(second)):
        if each.model is not None or each.slots or each.properties:
            return False
        types = [None if tensor is None else tensor.element_type for _, tensor in each.inputs]
        outputs = [
            (output.name, output.expected.element_type, len(output.expected.shape))
            for expectation in each.expectations[:1]
            for output in expectation.outputs
        ]
        nodes.append((types, each.output_names, outputs))
    return nodes[0] == nodes[1]


def forms_by_case(
    suite: Suite,
    forms: Sequence[str],
    sampled: int | None,
    own: Mapping[str, Sequence[str]] | None = None,
    among: Sequence[str] | None = None,
) -> Mapping[str, Sequence[str]]:
    """The forms of each case of a suite: all, or with `sampled` the first and those it is in the sample of.

    A case that `own` has goes in those of its own that are among the forms, or else in the first. With
    `among` nobody asks for cases of other operators than of these.
    """
    found = FormsByCase(suite.case_ids, forms)
    if sampled is not None and len(forms) > 1:
        found = FormsByCase(suite.case_ids, forms[:1])
        sample = form_sample(suite, sampled, among)
        for case_id in frozenset[str]().union(*(sample.cases.get(form, ()) for form in forms[1:])):
            found.others[case_id] = sample.forms_of(case_id, forms)
    for case_id, wanted in (own or {}).items():
        found.others[case_id] = [form for form in forms if form in wanted] or forms[:1]
    return found


class FormsByCase(Mapping[str, Sequence[str]]):
    """The same forms for all cases but some, which `others` has: of many cases a few are kept."""

    def __init__(self, case_ids: Sequence[str], usual: Sequence[str]) -> None:
        self.others: dict[str, Sequence[str]] = {}
        self._case_ids = case_ids
        self._usual = usual

    def __getitem__(self, case_id: str) -> Sequence[str]:
        return self.others.get(case_id, self._usual)

    def __iter__(self) -> Iterator[str]:
        return iter(self._case_ids)

    def __len__(self) -> int:
        return len(self._case_ids)
