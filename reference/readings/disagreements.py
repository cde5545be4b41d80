"""Known disagreements of the reference with documents' examples, witnesses and runtimes, each with its cause.

`cases` of `disagreements.yaml` in an operator's room is a list of entries, and so is that of the file of this
name in a folder of specs, for several operators, and of `disagreements/<runtime>.yaml` beside it, for what
one runtime does in several operators; the first that fits a disagreement explains it.
A disagreement without an entry is a mistake of ours until somebody has looked into it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from opcert.vocabulary.errors import Place, SeveralErrors, UserError
from opcert.vocabulary.yaml_files import load_file
from opcert.vocabulary.yaml_schemas import validate
from specs.files.schemas import Entry
from specs.files.spec_folders import OWN_FOLDER
from specs.language.expressions import parse

FILE_NAME = "disagreements.yaml"
BY_RUNTIME = "disagreements"
"""The folder of files that are named after the runtime which their entries are about."""

Cause = Literal["reading", "finding", "witness_fault", "tolerance"]
"""The document may be read so; the document is wrong; the other side is; it rounds beyond the bound.

A runtime that says that it does not offer something is no disagreement: its adapter's table makes it
`unsupported`.
"""
_BY_ITSELF = frozenset({"crash", "timeout", "fault"})
"""Verdicts that need no passage: no document allows them."""


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _check_expression(text: str) -> str:
    try:
        parse(text)
    except UserError as error:
        raise ValueError(str(error)) from None
    return text


Passage = Annotated[str, Field(pattern=r"^[\w.-]+:[1-9]\d*([:-][1-9]\d*)?$")]
Texts = Annotated[tuple[str, ...], BeforeValidator(_as_list)]
Condition = Annotated[str, AfterValidator(_check_expression)]


class Disagreement(Entry):
    """One class of disagreements.

    `operator` and `cases` are globs, one or several, over operator names (`ai.onnx::Resize-*`) and case ids
    (`ai.onnx/Resize-18/cover/*`); `against` is `document` (a printed example), `onnx-node-tests`, or the name
    of a runtime, or of several that are one code in several packages. Where given, `verdicts` are those that
    the entry explains (`fault` for one of the whole run), `levels` asks for certain levels of the case's
    factors, `when` is an expression over the call's attributes and inputs as in a spec's constraints, and
    `reason` are globs over the verdict's reason. Of a wrong answer these say only where to look:
    `generator.exploring.diagnosis` shows what it is of. `computes` says what is computed instead: keys of
    changes (`generator.calls.edits`) and of forms of results, or values, as expressions, that attributes and
    inputs are taken for (None: left out); one of them must give the answer. `versions` are globs over the
    versions of the runtime that the
    entry is known to be about. `passage` is where a document says what the other side is blamed for not
    doing: `file:line`, `file:first-last`, or in a document of one line `file:1:column`. A witness's fault has
    one, unless it is a crash or of the whole run. `title` is what one sees and when, without the operator
    ("segfault when an optional training output is left out"). `thread` is where it was reported to whom it
    concerns, `same_as` the id of an entry of the same cause, whose conditions are written otherwise: reports
    show both as that one. `by_chance` says that a case which fails may be right in another run of the same
    program, as where an answer is what was in memory: no version is better or worse for it.
    """

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    operator: Annotated[Texts, Field(min_length=1)]
    cases: Texts = ("*",)
    against: Annotated[Texts, Field(min_length=1)]
    versions: Texts = ("*",)
    verdicts: Texts = ()
    levels: dict[str, Texts] = Field(default_factory=dict)
    when: Condition | None = None
    computes: Annotated[tuple[str | dict[str, Condition | None], ...], BeforeValidator(_as_list)] = ()
    reason: Texts = ()
    cause: Cause
    passage: Annotated[tuple[Passage, ...], BeforeValidator(_as_list)] = ()
    title: str = Field(default="", max_length=120)
    explanation: str = Field(min_length=1)
    evidence: Texts = Field(min_length=1)
    thread: str | None = Field(default=None, pattern=r"^https?://\S+$")
    same_as: str | None = Field(default=None, pattern=r"^[a-z0-9_]+$")
    by_chance: bool = False

    @model_validator(mode="after")
    def _blame_stands_in_the_text(self) -> Self:
        alone = bool(self.verdicts) and set(self.verdicts) <= _BY_ITSELF
        if self.cause == "witness_fault" and not self.passage and not alone:
            raise ValueError("blames the other side without the passage that it does not keep")
        return self

    def explains(
        self,
        operator: str,
        case: str,
        against: str,
        verdict: str = "mismatch",
        levels: Mapping[str, str] | None = None,
        reason: str | None = None,
        names: Mapping[str, object] | None = None,
    ) -> bool:
        """Whether the entry is about such a disagreement.

        `names` are the call's attributes and inputs (`specs.model.call_scopes.scope_of`); an entry with a
        condition explains nothing without them. Raises EvaluationError where the condition has no value for
        this call.
        """
        given = levels or {}
        return (
            against in self.against
            and self.concerns(operator)
            and any(fnmatchcase(case, pattern) for pattern in self.cases)
            and (not self.verdicts or verdict in self.verdicts)
            and all(str(given.get(factor)) in wanted for factor, wanted in self.levels.items())
            and (not self.reason or any(fnmatchcase(reason or "", each) for each in self.reason))
            and (self.when is None or (names is not None and bool(parse(self.when).evaluate(names))))
        )

    def concerns(self, operator: str) -> bool:
        """Whether the entry may be about cases of an operator."""
        return any(fnmatchcase(operator, each) for each in self.operator)

    def is_about(self, version: str) -> bool:
        """Whether the entry is known to hold for a version of the runtime."""
        return any(fnmatchcase(version, pattern) for pattern in self.versions)


class _File(Entry):
    cases: tuple[Disagreement, ...] = ()
    calls: list[Any] = Field(default_factory=list)
    """Of the truth test (`generator/trust/witnesses/truth_table.py`)."""


def load_disagreements(folder: Path = OWN_FOLDER) -> tuple[Disagreement, ...]:
    """The entries of a folder of specs: of rooms, then of all operators, then of files by runtime.

    Raises SeveralErrors with everything that is wrong in a file, and where two entries have one id.
    """
    shared = [folder / FILE_NAME, *files_by_runtime(folder)]
    paths = [*sorted(folder.glob(f"*/*/{FILE_NAME}")), *shared]
    return _with_ids_of_their_own([each for path in paths if path.is_file() for each in _read(path)])


def files_by_runtime(folder: Path = OWN_FOLDER) -> list[Path]:
    """The files about one runtime each, in the order of their names."""
    return sorted((folder / BY_RUNTIME).glob("*.yaml"))


def read_disagreements(path: Path) -> tuple[Disagreement, ...]:
    """The entries of a file; raises SeveralErrors with everything that is wrong in it."""
    return _with_ids_of_their_own(_read(path))


def parse_disagreements(entries: Sequence[Any], path: Path) -> tuple[Disagreement, ...]:
    """Entries as a suite carries them; raises UserError where one is none."""
    try:
        return tuple(Disagreement.model_validate(each) for each in entries)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(
            "a known cause of the suite is damaged",
            got=f"{'.'.join(map(str, first['loc']))}: {first['msg']}",
            where=Place(str(path)),
        ) from error


def _with_ids_of_their_own(entries: Sequence[tuple[Place, Disagreement]]) -> tuple[Disagreement, ...]:
    known = Counter(each.id for _, each in entries)
    repeated = [
        UserError("two entries of one id", got=each.id, where=place)
        for place, each in entries
        if known[each.id] > 1
    ]
    if repeated:
        raise SeveralErrors(list(repeated[1:]))
    return tuple(each for _, each in entries)


def _read(path: Path) -> list[tuple[Place, Disagreement]]:
    documents = load_file(path)
    if len(documents) != 1:
        raise UserError("not one YAML document", got=f"{len(documents)} documents in {path.name}")
    entries = validate(_File, documents[0]).cases
    return [(documents[0].place(("cases", at, "id")), each) for at, each in enumerate(entries)]


def explain(
    entries: Iterable[Disagreement],
    operator: str,
    case: str,
    against: str,
    verdict: str = "mismatch",
    levels: Mapping[str, str] | None = None,
    reason: str | None = None,
    names: Mapping[str, object] | None = None,
) -> Disagreement | None:
    """The first entry about a disagreement, or None where nobody has explained it."""
    found = (
        each for each in entries if each.explains(operator, case, against, verdict, levels, reason, names)
    )
    return next(found, None)
