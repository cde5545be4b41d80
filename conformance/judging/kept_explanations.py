"""What failures resemble, beside a record: `explanations.json`, written after a run and shown by reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from conformance.judging.beside_record import BesideRecord
from opcert.vocabulary.strict_json import read_plain

FORMAT = "opcert-explanations/1"
FILE = "explanations.json"
_BESIDE = BesideRecord(
    FORMAT, "the explanations", "the explanations are damaged", "Remove the file, or certify again."
)


@dataclass(frozen=True)
class NamedChange:
    """A single change: `key` is stable, `text` says it in words (`mode half_pixel → asymmetric`)."""

    key: str
    text: str


@dataclass(frozen=True)
class TriedChange:
    """A change that was tried: in how many cases, in how many the result is right under it.

    `telling` counts the cases among those in which no expectation of the case itself is right under it.
    """

    key: str
    tested: int
    fits: int
    telling: int


@dataclass(frozen=True)
class ExplainedPart:
    """Cases of a class whose results are right under a change that was named for another class."""

    change: NamedChange
    cases: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """What the results of a class of failing cases equal.

    `cases` are the class; `explained` those whose results were compared and are right under what is named.
    `change` is the one change under which all of them are right; where several are, it is None and `either`
    holds them, as long as they are few. Where none is, `parts` may explain some of the cases. `sentence` says
    it, and is None where nothing is known.
    """

    cases: tuple[str, ...]
    compared: int
    change: NamedChange | None = None
    either: tuple[NamedChange, ...] = ()
    explained: tuple[str, ...] = ()
    sentence: str | None = None
    tried: tuple[TriedChange, ...] = ()
    parts: tuple[ExplainedPart, ...] = ()


def write_explanations(
    path: Path, suite: str, record: str | None, explanations: Sequence[Explanation]
) -> None:
    """Write them for a suite and a record, which their digests name; UserError where that is impossible."""
    _BESIDE.write(path, suite, record, {"classes": [asdict(explanation) for explanation in explanations]})


def read_explanations(path: Path, suite: str, record: str | None) -> tuple[Explanation, ...]:
    """The explanations of a record; none where there is no such file, or one of another run.

    Raises UserError where the file is damaged.
    """
    return _BESIDE.read(path, suite, record, _read_classes) or ()


def _read_classes(content: Mapping[str, Any]) -> tuple[Explanation, ...]:
    return tuple(read_plain(Explanation, explained) for explained in content["classes"])
