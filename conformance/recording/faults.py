"""Faults: what only the whole run shows, answers that differ and readings that do not agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from conformance.judging.verdicts import NOT_RUN
from conformance.recording.rows import Result
from conformance.suite.canonical import canonical_json

_EXAMPLES = 5
_LOST = ("crashed", "timed out")
_DIFFERING = {
    "unstable": "",
    "repeats_differ": "differ when the same case is run again",
    "threads_differ": "differ with another number of threads",
    "forms_differ": "differ between forms of the same case",
}


def fingerprint(result: Result) -> str:
    """Equal for two rows of a case whose responses are the same: bit for bit in answers, else in kind.

    Random answers are the same where both are right.
    """
    if result.varies and result.response == "answered":
        return result.verdict
    if result.response != "answered":
        return result.response
    return canonical_json([_essence(output) for output in result.outputs]).decode("ascii")


def _essence(entry: Any) -> Any:
    # Whether there was room for a file says nothing of the output, nor does how an object prints itself.
    left_out = ("file", "text")
    return entry if isinstance(entry, str) else {key: entry[key] for key in entry if key not in left_out}


def count_threads(header: Mapping[str, Any]) -> int:
    """How many thread counts the worker of a record's header named."""
    offer = (header.get("runtime") or {}).get("offer") or {}
    threads = offer.get("threads")
    return len(threads) if isinstance(threads, list) else 0


class FaultFinder:
    """Sees every row of a run and says at the end which faults it shows.

    `threads` is how many thread counts take turns in the repetitions of a case. Cases may come in any order,
    as of several lanes; with the place of each in the run the faults are those of the record, which is in
    order. Without it they must come in that order.
    """

    def __init__(self, threads: int = 1) -> None:
        self._threads = max(threads, 1)
        self._readings: dict[tuple[str, str], dict[tuple[str, ...], tuple[int, str]]] = {}
        self._differing: dict[str, list[tuple[int, dict[str, Any]]]] = {kind: [] for kind in _DIFFERING}

    def see(self, result: Result, place: int = 0) -> None:
        """Remember which options of each reading a result allows, and the first case with just these."""
        if result.unstable:
            self._differ("unstable", result, result, place)
        if result.verdict == "pass":
            for name, options in result.readings.items():
                seen = self._readings.setdefault((result.operator, name), {})
                key = tuple(sorted(options))
                if key not in seen or place < seen[key][0]:
                    seen[key] = place, result.case

    def compare(self, rows: Sequence[Result], place: int = 0) -> None:
        """Compare all rows of one case, in the order of the record.

        Where nothing is demanded but survival, answers may differ as they like; right ones may, in another
        form: documents leave the order of sums open, and it is another one in another place of memory.
        """
        first: dict[tuple[str, int], Result] = {}
        for result in rows:
            if result.verdict == "observed":
                continue
            before = first.setdefault((result.form, result.repeat % self._threads), result)
            if fingerprint(before) != fingerprint(result):
                lost = [each.response in _LOST for each in (before, result)]
                self._differ("unstable" if any(lost) else "repeats_differ", before, result, place)
        forms: dict[str, Result] = {}
        for (form, _), result in first.items():
            before = forms.setdefault(form, result)
            if fingerprint(before) != fingerprint(result):
                self._differ("threads_differ", before, result, place)
        answering = [form for form in forms.values() if form.verdict not in ("unsupported", NOT_RUN)]
        for result in answering[1:]:
            both_right = result.verdict == answering[0].verdict == "pass"
            if not both_right and fingerprint(result) != fingerprint(answering[0]):
                self._differ("forms_differ", answering[0], result, place)

    def _differ(self, kind: str, first: Result, second: Result, place: int) -> None:
        known = self._differing[kind]
        if not known or known[-1][1]["case"] != first.case:
            between = [[result.form, result.repeat, result.verdict] for result in (first, second)]
            if first is second:
                between = [[*between[0], *first.again]]
            known.append((place, {"case": first.case, "operator": first.operator, "between": between}))

    def faults(self, unload_losses: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Every fault: `kind`, `message`, and what tells more."""
        return [
            *self._inconsistent_readings(),
            *(
                differing_answer
                for kind, words in _DIFFERING.items()
                for differing_answer in self._differing_answers(kind, words)
            ),
            *([_unload_fault(unload_losses, len(unload_losses))] if unload_losses else []),
        ]

    def _inconsistent_readings(self) -> list[dict[str, Any]]:
        found = []
        for (operator, reading), seen in sorted(self._readings.items()):
            if set.intersection(*(set(options) for options in seen)):
                continue
            found.append(
                {
                    "kind": "inconsistent_reading",
                    "operator": operator,
                    "reading": reading,
                    "cases": {" or ".join(options): case for options, (_, case) in sorted(seen.items())},
                    "message": f"{operator} follows no single option of the reading {reading} throughout",
                }
            )
        return found

    def _differing_answers(self, kind: str, words: str) -> list[dict[str, Any]]:
        grouped: dict[str, list[dict[str, Any]]] = {}
        for _, each in sorted(self._differing[kind], key=itemgetter(0)):
            grouped.setdefault(each["operator"], []).append(each)
        return [
            {
                "kind": kind,
                "operator": operator,
                "count": len(cases),
                "cases": [{"case": each["case"], "between": each["between"]} for each in cases[:_EXAMPLES]],
                "message": _message(kind, operator, words, len(cases)),
            }
            for operator, cases in sorted(grouped.items())
        ]


def _message(kind: str, operator: str, words: str, number: int) -> str:
    told = "1 case" if number == 1 else f"{number} cases"
    if kind == "unstable":
        return f"unstable: {told} of {operator} killed the worker in one run and not in the next"
    return f"answers of {operator} {words} ({told})"


def _unload_fault(reasons: Sequence[str], count: int) -> dict[str, Any]:
    message = f"the worker was lost {count} times between two cases, with none of them to blame"
    return {
        "kind": "unload_crash",
        "count": count,
        "reasons": list(reasons[:_EXAMPLES]),
        "message": f"{message}; at first: {reasons[0]}" if reasons else message,
    }


def merge_unload_faults(faults: Sequence[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """What several records tell of workers lost while they forgot a model, as one fault at most."""
    found = [each for record in faults for each in record if each.get("kind") == "unload_crash"]
    if not found:
        return []
    reasons = [str(reason) for each in found for reason in each["reasons"]]
    return [_unload_fault(reasons, sum(int(each["count"]) for each in found))]
