"""Faults: what only the whole run shows, answers that differ and readings that do not agree."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from conformance.responses import Answered, NotTensor, Response
from conformance.results import Result

_EXAMPLES = 5


def fingerprint(response: Response) -> str:
    """Equal for two responses that are the same: bit for bit where it is an answer, else in kind."""
    if not isinstance(response, Answered):
        return type(response).__name__
    digest = hashlib.sha256()
    for each in response.outputs:
        if isinstance(each, NotTensor):
            digest.update(f"{each.kind};".encode())
        else:
            digest.update(f"{each.element_type}{list(each.shape)};".encode())
            digest.update(each.to_bytes())
    return digest.hexdigest()


class FaultFinder:
    """Sees every row of a run and says at the end which faults it shows."""

    def __init__(self) -> None:
        self._readings: dict[tuple[str, str], dict[tuple[str, ...], str]] = {}
        self._differing: dict[str, list[dict[str, Any]]] = {"repeats_differ": [], "forms_differ": []}

    def see(self, result: Result) -> None:
        """Remember which options of each reading a result allows, and the first case with just these."""
        if result.verdict == "pass":
            for name, options in result.readings.items():
                seen = self._readings.setdefault((result.operator, name), {})
                seen.setdefault(tuple(sorted(options)), result.case)

    def compare(self, rows: Sequence[tuple[Result, str]]) -> None:
        """Compare all rows of one case, each with the fingerprint of its response.

        Where nothing is demanded but survival, answers may differ as they like.
        """
        rows = [each for each in rows if each[0].verdict != "observed"]
        first: dict[str, tuple[Result, str]] = {}
        for result, print_ in rows:
            before = first.setdefault(result.form, (result, print_))
            if before[1] != print_:
                self._differ("repeats_differ", before[0], result)
        answering = [each for each in first.values() if each[0].verdict not in ("unsupported", "not_run")]
        for result, print_ in answering[1:]:
            if print_ != answering[0][1]:
                self._differ("forms_differ", answering[0][0], result)

    def _differ(self, kind: str, first: Result, second: Result) -> None:
        known = self._differing[kind]
        if not known or known[-1]["case"] != first.case:
            between = [[each.form, each.repeat, each.verdict] for each in (first, second)]
            known.append({"case": first.case, "operator": first.operator, "between": between})

    def faults(self, unload_losses: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Every fault: `kind`, `message`, and what tells more."""
        return [
            *self._inconsistent_readings(),
            *self._differing_answers("repeats_differ", "differ when the same case is run again"),
            *self._differing_answers("forms_differ", "differ between forms of the same case"),
            *([_unload_fault(unload_losses)] if unload_losses else []),
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
                    "cases": {" or ".join(options): case for options, case in sorted(seen.items())},
                    "message": f"{operator} follows no single option of the reading {reading} throughout",
                }
            )
        return found

    def _differing_answers(self, kind: str, words: str) -> list[dict[str, Any]]:
        grouped: dict[str, list[dict[str, Any]]] = {}
        for each in self._differing[kind]:
            grouped.setdefault(each["operator"], []).append(each)
        return [
            {
                "kind": kind,
                "operator": operator,
                "count": len(cases),
                "cases": [{"case": each["case"], "between": each["between"]} for each in cases[:_EXAMPLES]],
                "message": f"answers of {operator} {words} ({len(cases)} cases)",
            }
            for operator, cases in sorted(grouped.items())
        ]


def _unload_fault(losses: Sequence[str]) -> dict[str, Any]:
    return {
        "kind": "unload_crash",
        "count": len(losses),
        "reasons": list(losses[:_EXAMPLES]),
        "message": f"the worker was lost {len(losses)} times while it forgot a model",
    }
