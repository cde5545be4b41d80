"""What entries of `disagreements.yaml` explain: who asks runtimes writes it, `tools.entries` reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from generator.measured.measured_files import measured_json, read_measured_file
from generator.trust.witnesses.truth_explanations import ExplainedRefusal
from generator.trust.witnesses.truth_table import TruthTable
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.whole_files import write_text
from reference.readings.disagreements import Disagreement
from tools.disagreeing import Disagreeing

FORMAT = "opcert-explained/1"
FILE_NAME = "explained.json"
REMEDY = "Ask again with `--records` of `python -m tools.operators` or `python -m tools.truth`."

Part = Literal["cases", "calls"]
"""The part of `disagreements.yaml` that an entry stands in."""


@dataclass(frozen=True, order=True)
class Use:
    """An entry, by the operator version and the witness that it explained something of."""

    part: Part
    entry: str
    operator: str
    witness: str


@dataclass(frozen=True)
class Explained:
    """What was asked, the versions of the witnesses by their names, and how much each entry explained.

    `parts` are those of `disagreements.yaml` that were held against it.
    """

    asked: str
    parts: tuple[Part, ...]
    versions: Mapping[str, str]
    uses: Mapping[Use, int]


def uses_in_run(runtime: str, found: Iterable[Disagreeing]) -> Counter[Use]:
    """The entries that explain failing cases and faults of a run."""
    return Counter(
        Use("cases", each.entry.id, each.operator, runtime) for each in found if each.entry is not None
    )


def uses_in_table(table: TruthTable) -> Counter[Use]:
    """The entries that explain calls of the truth test of an operator version."""
    uses: Counter[Use] = Counter()
    for use, count in _uses_in_table(table):
        uses[use] += count
    return uses


def _uses_in_table(table: TruthTable) -> Iterator[tuple[Use, int]]:
    for group in table.refusals:
        if isinstance(group.explanation, Disagreement | ExplainedRefusal):
            part: Part = "cases" if isinstance(group.explanation, Disagreement) else "calls"
            use = Use(part, group.explanation.id, str(table.operator), group.witness)
            yield use, len(group.calls)
    for answered in table.answered_errors:
        if answered.explanation is not None:
            use = Use("calls", answered.explanation.id, str(table.operator), answered.explanation.against)
            yield use, len(answered.calls)


def write_explained(folder: Path, explained: Explained) -> Path:
    """Write `explained.json` into a folder; returns its path."""
    rows = [{**asdict(use), "count": count} for use, count in sorted(explained.uses.items())]
    content = {
        "asked": explained.asked,
        "parts": explained.parts,
        "versions": dict(explained.versions),
        "uses": rows,
    }
    return write_text(folder / FILE_NAME, measured_json(FORMAT, content))


def read_explained(folder: Path) -> Explained:
    """Read it; UserError where it is not there, or damaged."""
    path = folder / FILE_NAME
    found = read_measured_file(path, FORMAT, _made, "what entries explain", REMEDY)
    if found is None:
        raise UserError(
            "nothing says what entries explain", expected=FILE_NAME, where=Place(str(path)), remedy=REMEDY
        )
    return found


def _made(raw: dict[str, Any]) -> Explained:
    uses = {
        Use(**{key: each[key] for key in Use.__annotations__}): int(each["count"]) for each in raw["uses"]
    }
    return Explained(str(raw["asked"]), tuple(raw["parts"]), dict(raw["versions"]), uses)
