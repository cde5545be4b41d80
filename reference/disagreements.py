"""Known disagreements of the reference with documents' examples, witnesses and runtimes, each with its cause.

`disagreements.yaml` beside this file is a list of entries; the first that fits a disagreement explains it.
A disagreement without an entry is a mistake of ours until somebody has looked into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, RootModel

from opcert.errors import SeveralErrors, UserError
from specs.schemas import Entry, validate
from specs.yaml_files import load_file

FILE = Path(__file__).with_name("disagreements.yaml")

Cause = Literal["reading", "finding", "witness_fault", "tolerance"]
"""The document may be read so; the document is wrong; the other side is; it rounds beyond the bound."""


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


Texts = Annotated[tuple[str, ...], BeforeValidator(_as_list)]


class Disagreement(Entry):
    """One class of disagreements.

    `operator` and `cases` are globs over operator names (`ai.onnx::Resize-*`) and case ids
    (`ai.onnx/Resize-18/cover/*`); `against` is `document` (a printed example), `onnx-node-tests`, or a
    runtime's name. Where given, `verdicts` are those that the entry explains, `levels` asks for certain
    levels of the case's factors, and `reason` is a glob over the verdict's reason.
    """

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    operator: str
    cases: Texts = ("*",)
    against: str
    verdicts: Texts = ()
    levels: dict[str, Texts] = Field(default_factory=dict)
    reason: str | None = None
    cause: Cause
    explanation: str = Field(min_length=1)
    evidence: Texts = Field(min_length=1)

    def explains(
        self,
        operator: str,
        case: str,
        against: str,
        verdict: str = "mismatch",
        levels: Mapping[str, str] | None = None,
        reason: str | None = None,
    ) -> bool:
        """Whether the entry is about such a disagreement."""
        given = levels or {}
        return (
            against == self.against
            and fnmatchcase(operator, self.operator)
            and any(fnmatchcase(case, pattern) for pattern in self.cases)
            and (not self.verdicts or verdict in self.verdicts)
            and all(str(given.get(factor)) in wanted for factor, wanted in self.levels.items())
            and (self.reason is None or fnmatchcase(reason or "", self.reason))
        )


class _File(RootModel[tuple[Disagreement, ...]]):
    pass


def load_disagreements(path: Path = FILE) -> tuple[Disagreement, ...]:
    """The entries of a file; raises SeveralErrors with everything that is wrong in it."""
    documents = load_file(path, path.name)
    if len(documents) != 1:
        raise UserError("not one YAML document", got=f"{len(documents)} documents in {path.name}")
    entries = validate(_File, documents[0]).root
    counts: dict[str, int] = {}
    for position, each in enumerate(entries):
        counts.setdefault(each.id, position)
    repeated = [
        UserError("two entries of one id", got=each.id, where=documents[0].place((position, "id")))
        for position, each in enumerate(entries)
        if counts[each.id] != position
    ]
    if repeated:
        raise SeveralErrors(list(repeated))
    return entries


def explain(
    entries: Iterable[Disagreement],
    operator: str,
    case: str,
    against: str,
    verdict: str = "mismatch",
    levels: Mapping[str, str] | None = None,
    reason: str | None = None,
) -> Disagreement | None:
    """The first entry about a disagreement, or None where nobody has explained it."""
    found = (each for each in entries if each.explains(operator, case, against, verdict, levels, reason))
    return next(found, None)
