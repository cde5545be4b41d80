"""Which cases of a suite a run puts before a runtime in every form, where the others go in one alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

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
        found: dict[str, Sequence[str]] = dict.fromkeys(case_ids, forms)
    else:
        sample = sample_cases(case_ids, sampled)
        found = {each: forms if each in sample else forms[:1] for each in case_ids}
    for case_id, wanted in (own or {}).items():
        found[case_id] = [each for each in forms if each in wanted] or forms[:1]
    return found
