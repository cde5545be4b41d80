"""Profiles: which operators, element types and families a certificate demands, and what is waived."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
)

from conformance.judging.verdicts import FAILING, Verdict
from conformance.suite.case_selection import selects
from opcert.vocabulary.arithmetics import Arithmetic
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import Place, UserError, unreadable
from opcert.vocabulary.names import FAMILIES, OperatorName
from opcert.vocabulary.near_names import near_names
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.yaml_files import MOST_BYTES, YamlDocument, load_bytes
from opcert.vocabulary.yaml_schemas import validate
from reports.causes.spoken_failures import check_message, fits_message
from reports.results.case_results import CaseResult


class Strict(BaseModel):
    """A mapping of which every key is known and every value has its type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _read_date(value: object) -> object:
    return date.fromisoformat(value) if isinstance(value, str) else value


def read_list(value: object) -> object:
    """A list as a tuple; anything else as it is, for the type to refuse."""
    return tuple(value) if isinstance(value, list) else value


Item = TypeVar("Item")
Date = Annotated[date, BeforeValidator(_read_date)]
"""A day, `2027-12-31`."""
Listed = Annotated[tuple[Item, ...], BeforeValidator(read_list)]
"""A list of values of one type."""


_RANGE = re.compile(r"(\d{1,3})(?:\.\.(\d{1,3}))?", re.ASCII)


def opsets_in(text: str) -> range:
    """The opsets of a range, both ends among them; raises ValueError where it is none."""
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise ValueError("expected an opset, or a range of them, such as 13..21")
    first, last = int(found[1]), int(found[2] or found[1])
    if last < first:
        raise ValueError(f"expected a range that does not go down, such as {last}..{first}")
    return range(first, last + 1)


def _read(value: object) -> object:
    """A range in one way of writing it; what is neither number nor text is left to the type to refuse."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return value
    opsets = opsets_in(value)
    return str(opsets[0]) if len(opsets) == 1 else f"{opsets[0]}..{opsets[-1]}"


OpsetRange = Annotated[str, BeforeValidator(_read)]
"""One opset or a range, `13..21`."""


Unsupported = Literal["operator", "case", "none"]
Lenient = Literal["any", "none"]
Everything = Literal["all"]
DemandedSuite = Literal["released", "any"]
Restriction = Literal["explicit", "none"]
_EVERY_OF = re.compile(r"\w+(?:\.\w+)*::\*", re.ASCII)
_UNVERSIONED = re.compile(r"\w+(?:\.\w+)*::\w+", re.ASCII)
_DOMAIN = re.compile(r"\w+(?:\.\w+)*", re.ASCII)
_FORMER_NAMES = {"seeds": "first-operators"}


def _check_domain(text: str) -> str:
    if _DOMAIN.fullmatch(text) is None:
        raise ValueError("expected the name of a domain, such as ai.onnx")
    return text


class Waiver(Strict):
    """Failing cases that do not count.

    `cases` means cases as `-k` does (`conformance.suite.case_selection`). `conditions` narrows it to those
    with these levels, attributes or facts about inputs, as a report's notes name them; `verdicts` to these;
    `message` to those of which the runtime says this (`reports.causes.spoken_failures`).
    """

    cases: str = Field(min_length=1)
    conditions: dict[str, str] = Field(default_factory=dict)
    verdicts: Listed[Verdict] = tuple(sorted(FAILING))
    message: str = ""
    reason: str = Field(min_length=1)
    link: str = Field(min_length=1)
    expires: Date

    @field_validator("message")
    @classmethod
    def _check_message(cls, value: str) -> str:
        return check_message(value) if value else value

    def covers(self, case: CaseResult) -> bool:
        """Whether a failing case is meant."""
        named = selects(self.cases, str(case.id)) and case.verdict in self.verdicts
        fits = all(case.features.get(name) == value for name, value in self.conditions.items())
        return named and fits and (not self.message or fits_message(self.message, case))


class Profile(Strict):
    """A profile as its file states it.

    `operators` are versions by name, or `domain::*`: every one of a domain that the suite has. With `opsets`
    ONNX's are meant in the versions that these opsets have, and need none in their names. `domains` are whole
    ones; a `model` (a path beside the file) has its own operator versions, of these domains, and its
    `model_sha256`; what it uses and nobody has cases of must stand in `untested`. These four keys come to
    `operators` in a profile that is settled (`reports.gates.profile_settling`), and only such a one demands.
    `unsupported` is what a runtime may leave unsupported: `none`, nothing; `operator`, operator versions of
    which it supports no case; `case`, any case, as long as one case of the profile passes. `lenient` says
    whether passes may be so (`reports.causes.lenient_passes`): `any`; `none` refuses them. `inexact` says
    the same of answers that are less exact than the table of functions. `suite` is whose
    cases they must be: `released`, of each operator version those of the suite that opcert carries; `any`.
    `arithmetic` is in what float may be computed, as `--arithmetic` takes it; float32 where nothing is said.
    `restriction` leaves out what leaves something unsaid: `explicit`, calls that a default completes, and
    models with open extents or values without a declared type (`reports.gates.profile_evaluation`).
    """

    profile: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,63}$")
    description: str
    opsets: OpsetRange | None = None
    domains: Listed[Annotated[str, AfterValidator(_check_domain)]] = ()
    model: str | None = Field(default=None, min_length=1)
    model_sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    untested: Listed[str] = ()
    operators: Annotated[Listed[str], Field(validate_default=True)] = ()
    element_types: Annotated[Everything | tuple[str, ...], BeforeValidator(read_list)] = Field(
        default="all", validation_alias=AliasChoices("element_types", "types")
    )
    families: Annotated[Everything | tuple[str, ...], BeforeValidator(read_list)] = "all"
    unsupported: Unsupported = "none"
    lenient: Lenient = "any"
    inexact: Lenient = "any"
    suite: DemandedSuite = "any"
    arithmetic: str | None = None
    restriction: Restriction = "none"
    waivers: Listed[Waiver] = ()
    _document: YamlDocument | None = PrivateAttr(default=None)

    @field_validator("operators")
    @classmethod
    def _check_operators(cls, value: tuple[str, ...], told: ValidationInfo) -> tuple[str, ...]:
        # What is wrong with another key is told there, and it stands in no data.
        if not value and not any(told.data.get(each, True) for each in ("opsets", "domains", "model")):
            raise ValueError("expected operators, or opsets, domains or a model that say which are meant")
        for each in value:
            if _EVERY_OF.fullmatch(each):
                continue
            if _UNVERSIONED.fullmatch(each):
                if told.data.get("opsets", True):
                    continue
                raise ValueError(f"{each}: not an operator's name: a version lacks, or opsets that say which")
            try:
                OperatorName.parse(each)
            except UserError as error:
                raise ValueError(f"{error}; or domain::* for every one of the suite") from error
        return value

    @field_validator("arithmetic")
    @classmethod
    def _check_arithmetic(cls, value: str | None) -> str | None:
        try:
            return None if value is None else str(Arithmetic.parse(value))
        except UserError as error:
            raise ValueError(str(error)) from error

    @field_validator("element_types")
    @classmethod
    def _check_element_types(cls, value: Everything | tuple[str, ...]) -> Everything | tuple[str, ...]:
        return _known_words(value, ELEMENT_TYPES, "no element type")

    @field_validator("families")
    @classmethod
    def _check_families(cls, value: Everything | tuple[str, ...]) -> Everything | tuple[str, ...]:
        return _known_words(value, FAMILIES, "no family of cases")

    @property
    def demanded_arithmetic(self) -> Arithmetic:
        """In what float may be computed, and no less exactly."""
        return Arithmetic() if self.arithmetic is None else Arithmetic.parse(self.arithmetic)

    @property
    def is_settled(self) -> bool:
        """Whether `operators` say all that is demanded."""
        return bool(self.operators) and not any(map(_UNVERSIONED.fullmatch, self.operators))

    @property
    def named_operators(self) -> tuple[OperatorName, ...]:
        """The operator versions that the profile names one by one."""
        return tuple(
            OperatorName.parse(operator) for operator in self.operators if not _EVERY_OF.fullmatch(operator)
        )

    @property
    def is_written(self) -> bool:
        """Whether its words name all its operators, and no opsets, domains or model do."""
        return not (self.opsets or self.domains or self.model)

    def has_key(self, key: str) -> bool:
        """Whether the profile's file has a key."""
        return self._document is not None and key in self._document.value

    def place(self, *path: str | int) -> Place | None:
        """Where a value stands in the profile's file; None where it was read from none."""
        return None if self._document is None else self._document.place(path)

    def demands_operator(self, operator: OperatorName) -> bool:
        """Whether an operator version belongs to the profile, by its name or as one of a whole domain."""
        return str(operator) in self.operators or f"{operator.domain}::*" in self.operators

    def demands(self, operator: OperatorName, family: str, element_type: str) -> bool:
        """Whether a case of this kind belongs to the profile."""
        return (
            self.demands_operator(operator)
            and (self.families == "all" or family in self.families)
            and (self.element_types == "all" or element_type in self.element_types)
        )


def _known_words(
    value: Everything | tuple[str, ...], known: Collection[str], what: str
) -> Everything | tuple[str, ...]:
    for each in value if value != "all" else ():
        if each not in known:
            near = near_names(each, known)
            told = f"perhaps {' or '.join(near)}" if near else f"known: {', '.join(known)}"
            raise ValueError(f"{what}: {each}; {told}")
    return value


def list_profiles() -> list[str]:
    """The names of the profiles that opcert brings."""
    folder = files("conformance").joinpath("profiles")
    return sorted(Path(path.name).stem for path in folder.iterdir() if path.name.endswith(".yaml"))


def load_profile(text: str) -> Profile:
    """The profile of a name, or of a former name, or of a file's path.

    Raises UserError where there is none, and SeveralErrors with every mistake in the file: its line and key,
    what was got and what expected.
    """
    name = _FORMER_NAMES.get(text, text)
    if name in list_profiles():
        file = f"{name}.yaml"
        raw = files("conformance").joinpath("profiles", file).read_bytes()
        return read_profile(raw, file)
    path = Path(text)
    if not path.exists():
        raise UserError(
            "unknown profile",
            got=repr(text),
            expected=f"one of {', '.join(list_profiles())}, or the path of a profile's YAML file",
        )
    try:
        return read_profile(read_regular(path, MOST_BYTES), str(path))
    except OSError as error:
        raise unreadable("the profile", path, error) from error


def read_profile(raw: bytes, file: str) -> Profile:
    """A profile from the bytes of its file; errors as of `load_profile`."""
    documents = load_bytes(raw, file)
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        raise UserError("not a profile", expected="one mapping of keys to values", where=Place(file, 1))
    profile = validate(Profile, documents[0])
    profile._document = documents[0]
    return profile
