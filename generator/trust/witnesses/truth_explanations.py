"""Why witnesses refuse valid calls of an operator, or answer calls that its text calls errors.

`calls` of `disagreements.yaml` in the operator's room is a list of entries; the first that fits explains.
What witnesses do to several operators alike stands once, in the file of the same name beside all rooms.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from generator.calls.declared.modelled import room_file
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.yaml_files import load_file
from opcert.vocabulary.yaml_schemas import validate
from reference.readings.disagreements import Passage
from specs.files.schemas import Entry
from specs.files.spec_folders import OWN_FOLDER

FILE_NAME = "disagreements.yaml"
ANYBODY = "*"
Cause = Literal["reading", "finding", "witness_fault", "limit"]
"""The text may be read so; the text is wrong; the witness is; the witness says that it does not offer it."""


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


Texts = Annotated[tuple[str, ...], BeforeValidator(_as_list)]


class ExplainedRefusal(Entry):
    """One entry: `against` a witness (`inference`, `checker`, a runtime's name, `*`: whoever), and why.

    With `reason` it explains refusals whose message fits one of these globs; with `accepts` that calls which
    break one of these rules are answered. `operators` are globs over operator names, `versions` say of which
    versions of the witness it is known. `passage` is where a document says what a witness is blamed for not
    doing, in the form of `reference.readings.disagreements`; a witness's fault has one.
    """

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    against: str = Field(min_length=1)
    operators: Texts = ("*",)
    versions: Texts = ("*",)
    reason: Texts = ()
    accepts: Texts = ()
    cause: Cause
    passage: Annotated[tuple[Passage, ...], BeforeValidator(_as_list)] = ()
    explanation: str = Field(min_length=1)
    evidence: Texts = ()

    @model_validator(mode="after")
    def _is_about_one_of_both(self) -> Self:
        if self.reason and self.accepts:
            raise ValueError("has both reason and accepts: write two entries")
        if not self.reason and not self.accepts:
            raise ValueError(
                "says neither why calls are refused (reason) nor why they are answered (accepts)"
            )
        if self.accepts and self.against != ANYBODY:
            raise ValueError("accepts is about all witnesses together: write against: '*'")
        return self

    @model_validator(mode="after")
    def _blame_stands_in_the_text(self) -> Self:
        if self.cause == "witness_fault" and not self.passage:
            raise ValueError("blames the witness without the passage that it does not keep")
        return self

    def explains_refusal(self, operator: str, witness: str, message: str) -> bool:
        """Whether it says why a witness refuses a valid call of the operator in these words."""
        return self._is_about(operator, witness) and any(fnmatchcase(message, each) for each in self.reason)

    def explains_answer(self, operator: str, rule: str) -> bool:
        """Whether it says why nobody refuses calls that break a rule."""
        return self._is_about(operator, ANYBODY) and any(
            fnmatchcase(rule, pattern) for pattern in self.accepts
        )

    def _is_about(self, operator: str, witness: str) -> bool:
        about = self.against in (witness, ANYBODY)
        return about and any(fnmatchcase(operator, each) for each in self.operators)


class _File(Entry):
    calls: tuple[ExplainedRefusal, ...] = ()
    cases: list[Any] = Field(default_factory=list)
    """Of the cases of suites (`reference/readings/disagreements.py`)."""


def explanations_of(operator: OperatorName, folders: Sequence[Path] = ()) -> tuple[ExplainedRefusal, ...]:
    """What is known of an operator's witnesses: its room's entries, then those of all operators."""
    room = room_file(operator, FILE_NAME, folders)
    shared = [folder / FILE_NAME for folder in (*folders, OWN_FOLDER)]
    found = [] if room is None else list(read_explanations(room))
    return (*found, *(explanation for path in shared for explanation in read_explanations(path)))


def read_explanations(path: Path) -> tuple[ExplainedRefusal, ...]:
    """The entries of a file; none where there is no file. Raises SeveralErrors with all that is wrong."""
    if not path.is_file():
        return ()
    documents = load_file(path)
    if len(documents) != 1:
        raise UserError("not one YAML document", got=f"{len(documents)} documents in {path.name}")
    return validate(_File, documents[0]).calls
