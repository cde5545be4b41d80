"""Which cases a run is of: those that a text means (operators by their names, a part of what follows in the
case id, or a glob), and those of a shard, which is chosen by case id alone."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from opcert.vocabulary.errors import NothingRan, Place, UserError
from opcert.vocabulary.near_names import near_names

_TEXT = re.compile(r"([0-9]{1,6})/([0-9]{1,6})", re.ASCII)


@dataclass(frozen=True)
class Shard:
    """Part `number` (from 1) of `count`. A case stays in its part when others are added to the suite."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read `i/n`; raises UserError on anything else."""
        match = _TEXT.fullmatch(text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise UserError("no shard", got=repr(text), expected="i/n with 1 <= i <= n, for example 2/4")
        return cls(int(match[1]), int(match[2]))

    def holds(self, case_id: str) -> bool:
        """Whether a case is in this part."""
        digest = hashlib.sha256(case_id.encode("utf-8")).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


MEANING = (
    "an operator by its name (Pad, Pad-1, com.microsoft::Pad), with or without more of the case id behind it "
    "(Pad-1/cover), a part of what follows the operator in case ids, or a pattern with * for the whole of it"
)
"""What a text that selects cases may be, for messages."""


def selects(text: str, case_id: str) -> bool:
    """Whether a text means a case: `Pad-1` means no case of CenterCropPad-18."""
    if "*" in text:
        return fnmatchcase(case_id, text)
    return names_operator(text, case_id) or text in f"/{case_id.split('/', 2)[2]}"


def names_operator(text: str, case_id: str) -> bool:
    """Whether a text is the name of a case's operator, or that and how the rest of the id begins."""
    domain, operator, rest = case_id.split("/", 2)
    begin = find_case_begin(text, domain, operator)
    return begin is not None and rest.startswith(begin)


def find_case_begin(text: str, domain: str, operator: str) -> str | None:
    """What a text that names an operator version says of the rest of a case id; None where it names none."""
    for name in operator_names(domain, operator):
        if text == name or text.startswith(f"{name}/"):
            return text[len(name) + 1 :]
    return "" if text in (domain, f"{domain}/") else None


def operator_names(domain: str, operator: str) -> Iterable[str]:
    """Every way to name an operator version, with and without version and domain."""
    for each in (operator, operator.rpartition("-")[0]):
        yield from (each, f"{domain}/{each}", f"{domain}::{each}")


def select_cases(text: str, case_ids: Iterable[str]) -> tuple[str, ...]:
    """The cases that a text means: where it names operators of these, their cases and no others."""
    ids = tuple(case_ids)
    named = () if "*" in text else tuple(each for each in ids if names_operator(text, each))
    return named or tuple(each for each in ids if selects(text, each))


def nothing_selected(text: str | None, case_ids: Iterable[str], where: str) -> NothingRan:
    """The error of a text that means none of these cases, with the operators that may have been meant."""
    operators = {tuple(case_id.split("/", 2)[:2]) for case_id in case_ids}
    names = {
        name: None for domain, operator in sorted(operators) for name in operator_names(domain, operator)
    }
    near = near_names((text or "").partition("/")[0], names)
    return NothingRan(
        "no case of the suite is selected",
        got=repr(text),
        expected=f"perhaps {' or '.join(near)}" if near else None,
        where=Place(where),
        remedy=f"-k takes {MEANING}.",
    )
