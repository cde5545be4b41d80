"""Which cases of a suite a run puts before a runtime in every form, where the others go in one alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

CASES = 6
"""So many cases of each operator version are in the sample."""


def sample_cases(case_ids: Iterable[str], cases: int = CASES) -> frozenset[str]:
    """Of each operator version so many cases whose documents say what comes, whatever else is selected.

    They are those with the smallest digests, so that they are spread over families, types and levels, and
    stay the same when a suite grows by others. Calls that must be refused, or that nothing is said of, are
    none of them: a form says nothing of these.
    """
    by_operator: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for each in case_ids:
        operator, family, last = each.rsplit("/", 2)
        if family not in ("invalid", "survival"):
            by_operator[operator].append((last[-12:], each))
    return frozenset(case for own in by_operator.values() for _, case in sorted(own)[:cases])


def forms_by_case(
    case_ids: Sequence[str],
    forms: Sequence[str],
    sampled: int | None,
    own: Mapping[str, Sequence[str]] | None = None,
) -> Mapping[str, Sequence[str]]:
    """The forms of each case of a suite: all of them, or with `sampled` the first alone but in the sample.

    A case that `own` has goes in those of its own that are among the forms, or else in the first.
    """
    if sampled is None or len(forms) < 2:
        found = FormsByCase(case_ids, forms)
    else:
        found = FormsByCase(case_ids, forms[:1])
        found.others.update(dict.fromkeys(sample_cases(case_ids, sampled), forms))
    for case_id, wanted in (own or {}).items():
        found.others[case_id] = [each for each in forms if each in wanted] or forms[:1]
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
