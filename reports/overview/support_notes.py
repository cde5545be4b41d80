"""Notes of a table of support: a note for each cause of what fails, with a name that other causes leave."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from conformance.judging.known_causes import WORDS
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import CaseId, OperatorName, slug
from reports.causes.class_words import headline
from reports.causes.failure_class import FailureClass
from reports.causes.failure_kinds import NOBODY
from reports.causes.spoken_failures import said_form
from reports.text.type_order import in_type_order

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{3,}\b")
_FOLDERS = re.compile(r"(?<![\w/])(?:/[\w.+@-]+)+/(?=[\w.+@-])")
_LONGEST = 400
_DIGITS = 6


@dataclass(frozen=True)
class SupportNote:
    """A cause and the cases that fail by it.

    `name` is of the cause alone: it stays where other causes come and go, and where the cause gets more cases
    or operators. `remarks` say what is known of it. Where it is `open`, the documents are wrong or leave it
    open, and no runtime is blamed.
    """

    name: str
    title: str
    operators: tuple[OperatorName, ...]
    element_types: tuple[str, ...]
    cases: tuple[str, ...]
    smallest: CaseId
    open: bool
    remarks: tuple[str, ...] = ()
    thread: str = ""


def make_notes(classes: Iterable[FailureClass]) -> tuple[SupportNote, ...]:
    """A note for each failure class, in the order of their names."""
    numbers = Counter[str]()
    notes = []
    for each in sorted(classes, key=lambda found: min(str(case.id) for case in found.cases)):
        name = _name(each)
        numbers[name] += 1
        notes.append(_note(each, name if numbers[name] == 1 else f"{name}-{numbers[name]}"))
    return tuple(sorted(notes, key=lambda note: note.name))


def steady_text(text: str) -> str:
    """The text on one line, without addresses and folders, which differ from run to run."""
    return one_line(_FOLDERS.sub("", _ADDRESS.sub("0x...", text)), _LONGEST)


def _note(found: FailureClass, name: str) -> SupportNote:
    known = found.known
    remarks = [WORDS[known.kind]] if known is not None else []
    if found.tier is NOBODY:
        remarks.append("no runtime that was tried passes one of these cases")
    if found.told == "association":
        remarks.append("an association with passing cases, which no experiment has tried")
    return SupportNote(
        name,
        steady_text(headline(found)),
        tuple(sorted(found.operators)),
        tuple(in_type_order(each.element_type for each in found.cases)),
        tuple(sorted(str(each.id) for each in found.cases)),
        found.smallest.id,
        not found.fails,
        tuple(map(steady_text, remarks)),
        (known.thread or "") if known is not None else "",
    )


def _name(found: FailureClass) -> str:
    """The id of the entry that explains the cases, else what they do and a digest of what tells the cause."""
    if found.known is not None:
        return slug(found.known.id)
    if found.told == "message":
        told = said_form(found.smallest)
    else:
        told = "\n".join([*sorted({each.unversioned for each in found.operators}), headline(found)])
    return f"{slug(found.kind.replace('_', '-'))}-{sha256(told.encode()).hexdigest()[:_DIGITS]}"
