"""What a record says that nobody can see again: it is believed, so it is counted and named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.judging.verdicts import REJECTED_VALID
from conformance.recording.rows import Result
from reports.results.case_results import Results
from reports.results.told_facts import mapping
from reports.text.phrasing import plural

_EXAMPLES = 3


@dataclass(frozen=True)
class Believed:
    """Rows of one kind: `what` is said of them in words, `against` whether they speak against the runtime."""

    kind: str
    what: str
    against: bool
    rows: int
    examples: tuple[str, ...]

    @property
    def text(self) -> str:
        """One sentence."""
        return f"{plural(self.rows, 'row')} {self.what}, such as {self.examples[0]}"

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "says": self.text, "rows": self.rows, "examples": list(self.examples)}


@dataclass(frozen=True)
class _Kind:
    name: str
    what: str
    against: bool
    holds: Callable[[Result], bool]


def _by_digest(row: Result) -> bool:
    return any(
        isinstance(each, dict) and "sha256" in each and "file" not in each and "data" not in each
        for each in row.outputs
    )


_KINDS: Sequence[_Kind] = (
    _Kind(
        "digests",
        "whose outputs are too large to be kept: their digests alone are there",
        False,
        _by_digest,
    ),
    _Kind(
        "not offered",
        "not sent, because the runtime's worker had said that it does not offer this",
        False,
        lambda row: row.response == "not offered",
    ),
    _Kind(
        "unsupported",
        "that count as unsupported, by the error that the worker reported",
        False,
        lambda row: row.response == "refused" and row.verdict == "unsupported",
    ),
    _Kind(
        "refused",
        "of calls that must be refused, and were by the error that the worker reported",
        False,
        lambda row: row.response == "refused" and row.verdict == "pass",
    ),
    _Kind(
        "survived",
        "of calls that nothing is demanded of but survival, and that the worker survived",
        False,
        lambda row: row.verdict == "observed",
    ),
    _Kind(
        "rejected",
        "in which the runtime refused a valid call, by the error that the worker reported",
        True,
        lambda row: row.verdict == REJECTED_VALID,
    ),
    _Kind("crashed", "in which the worker was lost", True, lambda row: row.response == "crashed"),
    _Kind("timed out", "in which the worker did not answer", True, lambda row: row.response == "timed out"),
)


_READABLE = _Kind(
    "expected",
    "answered by a worker that could have read the expected outputs",
    False,
    lambda row: row.response == "answered",
)
"""Of all that were answered, where the system could not keep workers from the files of the suite."""


def find_believed(results: Results) -> tuple[Believed, ...]:
    """What is believed of a record's rows, the kinds that speak for the runtime first; none of no rows."""
    confinement = mapping(results.record.header.get("confinement"))
    kinds = [*[_READABLE] * (confinement.get("expected") == "could be read"), *_KINDS]
    rows: Counter[str] = Counter()
    examples: dict[str, dict[str, None]] = {each.name: {} for each in kinds}
    for row in results.record.results:
        for kind in kinds:
            if kind.holds(row):
                rows[kind.name] += 1
                if len(examples[kind.name]) < _EXAMPLES:
                    examples[kind.name][row.case] = None
    return tuple(
        Believed(
            kind.name,
            kind.what,
            kind.against,
            rows[kind.name],
            tuple(examples[kind.name]),
        )
        for kind in kinds
        if rows[kind.name]
    )
