"""Names of operators and cases, and what they look like in files and on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache, total_ordering
from sys import intern

from opcert.vocabulary.errors import UserError

# Files are named after operators and cases, and no system takes a name of more than 255 bytes.
_DOMAIN, _NAME = r"(?=[\w.]{1,100}[:/])\w+(?:\.\w+)*", r"\w{1,100}"
_OPERATOR = re.compile(rf"(?P<domain>{_DOMAIN})(?:::|/)(?P<name>{_NAME})-(?P<version>[0-9]{{1,9}})", re.ASCII)
_CASE = re.compile(
    rf"(?P<operator>{_DOMAIN}/{_NAME}-[0-9]{{1,9}})/(?P<family>[a-z_]+)/"
    r"(?:(?P<word>\w{1,200})-)?(?P<digest>[0-9a-f]{12})",
    re.ASCII,
)

CHAINS = "pair"
"""The family of cases of several nodes in a row, which count for the operator of the last."""
FAMILIES = ("example", "boundary", "cover", "inert", CHAINS, "invalid", "survival")
"""Families of cases, in the order in which they run."""
DEFAULT_SUITE = "default"
"""What names the suite that is made where none is named."""


@total_ordering
@dataclass(frozen=True)
class OperatorName:
    """An operator version: domain, name and the opset version since which it holds."""

    domain: str
    name: str
    since_version: int

    @classmethod
    def parse(cls, text: str) -> OperatorName:
        """Read `ai.onnx::Resize-18` or `ai.onnx/Resize-18`; raises UserError on anything else."""
        match = _OPERATOR.fullmatch(text)
        if match is None:
            raise UserError(
                "not an operator's name",
                got=repr(text[:300]),
                expected="domain::Name-version, such as ai.onnx::Resize-18, each of 100 characters at most",
            )
        return cls(match["domain"], match["name"], int(match["version"]))

    @property
    def path(self) -> str:
        """The form in paths and case ids: `ai.onnx/Resize-18`."""
        return f"{self.domain}/{self.short}"

    @property
    def short(self) -> str:
        """Name and version without the domain: `Resize-18`."""
        return f"{self.name}-{self.since_version}"

    @property
    def unversioned(self) -> str:
        """The operator in all its versions: `ai.onnx::Resize`."""
        return f"{self.domain}::{self.name}"

    def __str__(self) -> str:
        return f"{self.domain}::{self.short}"

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, OperatorName):
            return NotImplemented
        return self._order < other._order

    @property
    def _order(self) -> tuple[str, str, int]:
        return (self.domain, self.name, -self.since_version)


BESIDE_ONNX = OperatorName("ai.onnx", "SimplifiedLayerNormalization", 1)
"""What ONNX Runtime registers under ONNX's domain, in every operator set, and ONNX does not have."""


@dataclass(frozen=True, slots=True)
class CaseId:
    """A case's name: `<domain>/<Operator>-<version>/<family>/<word->12hex`."""

    operator: OperatorName
    family: str
    word: str | None
    digest: str
    _text: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        last = f"{self.word}-{self.digest}" if self.word else self.digest
        text = f"{self.operator.path}/{self.family}/{last}"
        # One that is read keeps the text that it was read from, which others hold as well.
        object.__setattr__(self, "_text", self._text if self._text == text else text)

    @classmethod
    def parse(cls, text: str) -> CaseId:
        """Read a case id; raises UserError on anything else."""
        match = _CASE.fullmatch(text)
        if match is None or match["family"] not in FAMILIES:
            raise UserError(
                "not a case id",
                got=repr(text[:600]),
                expected="domain/Operator-version/family/word-12 hex digits",
            )
        operator, family = _known_operator(match["operator"]), intern(match["family"])
        return cls(operator, family, match["word"], match["digest"], text)

    def __str__(self) -> str:
        return self._text


def operator_path_of(case_id: str) -> str:
    """The operator of a text that is a case id, as ids begin with it: `ai.onnx/Resize-18`."""
    return case_id.rsplit("/", 2)[0]


@lru_cache(maxsize=1 << 10)
def _known_operator(text: str) -> OperatorName:
    """Neighbouring cases are of one operator."""
    return OperatorName.parse(text)


def newest_named(text: str, known: Iterable[OperatorName]) -> list[OperatorName]:
    """The operator versions that a name means, in order: `Resize-18` or `ai.onnx::Resize-18` that one.

    A name without a version (`Resize`, `ai.onnx::Resize`) means the newest, in each domain that has it.
    """
    every = list(known)
    found = [operator for operator in every if text in (str(operator), operator.path, operator.short)]
    if found:
        return found
    newest: dict[str, OperatorName] = {}
    for operator in every:
        if text in (operator.name, operator.unversioned, f"{operator.domain}/{operator.name}"):
            before = newest.get(operator.domain)
            newest[operator.domain] = operator if before is None else max(before, operator, key=_version)
    return sorted(newest.values())


def _version(operator: OperatorName) -> int:
    return operator.since_version


def slug(text: str) -> str:
    """A name that is safe as one path component: letters, digits, `.`, `_` and `-`; never empty."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or "unnamed"
