"""What experiments on a runtime showed of its failures, beside a record: `diagnosis.json`.

It is written after a run, and reports read it; nobody needs the runtime for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from conformance.judging.beside_record import BesideRecord
from opcert.vocabulary.strict_json import read_plain

FORMAT = "opcert-diagnosis/1"
FILE = "diagnosis.json"
_BESIDE = BesideRecord(FORMAT, "the diagnosis", "the diagnosis is damaged", "Remove the file, or run again.")

Outcome = Literal["pass", "unsupported", "fails", "unknown"]
"""What becomes of a case without its cause; `unknown` where no call could be made or asked that says it."""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

TrialResult = Literal["equals", "cured", "spared", "alike", "together", "refuted", "silent"]
"""What a trial of an entry in a case says; see `EntryTrial`."""


@dataclass(frozen=True)
class Needed:
    """A factor that a failure needs, and its value in the call that is shown.

    With each value of `fails` the call fails in the same way, with each of `cures` it passes: all were tried.
    """

    factor: str
    value: str
    fails: tuple[str, ...]
    cures: tuple[str, ...]


@dataclass(frozen=True)
class TriedCall:
    """A call that was made: a case with one factor changed (None: as it is), and what became of it.

    `case` is where the experiment began; `step` counts the changes that were kept before this one. Of a call
    that fails `how` tells calls that fail in another way from it (None: it does not fail), `reason` says it,
    `pattern` what the wrong output looks like, `special` what its worst element is (NaN, infinity, number)
    where another of these is expected, and `empty` that it should have had no elements. `several`: two
    elements of what is expected differ. With these experiments go on without asking again.
    """

    case: str
    step: int
    factor: str | None
    to: str | None
    call: str
    outcome: str
    how: str | None = None
    reason: str = ""
    pattern: str = ""
    special: str = ""
    empty: bool = False
    several: bool = True

    def to_json(self) -> dict[str, Any]:
        """The same without what is as it mostly is."""
        plain = asdict(self)
        unsaid = {field.name: field.default for field in fields(self) if field.default is not MISSING}
        return {name: each for name, each in plain.items() if name not in unsaid or each != unsaid[name]}


@dataclass(frozen=True)
class DiagnosedCause:
    """Failing cases of one cause, as experiments showed it.

    `told` says that the cause was known before (by an entry, or by what the runtime said) and only its
    factors and its cost were asked for. `smallest` is the case that was taken apart, `call` what is left of
    it that still fails so, in lines, and `got` how; `beside` are factors with their plain value, of which
    each other one that was tried cures; `free` factors may have any other value that was
    tried. `confirmed` are the cases that pass with each factor of `needed` changed alone; `without` says of
    each case what becomes of it with one of them changed.
    """

    told: bool
    cases: tuple[str, ...]
    smallest: str
    call: tuple[str, ...]
    got: str
    needed: tuple[Needed, ...]
    beside: tuple[Needed, ...]
    free: tuple[str, ...]
    confirmed: tuple[str, ...]
    without: Mapping[str, Outcome]

    @property
    def sentence(self) -> str:
        """What was shown, and no more: with which values it fails, and with which it does not."""
        if not self.needed:
            return "no single change of an attribute, type, sign or element makes it right"
        fails = " and ".join(_with(each.factor, (each.value, *each.fails)) for each in self.needed)
        cures = " or ".join(_with(each.factor, each.cures) for each in self.needed)
        only = " and ".join(_with(each.factor, (each.value,)) for each in self.beside)
        return f"fails with {fails}{f', while {only}' if only else ''}; right with {cures}"

    def count(self, outcome: Outcome) -> int:
        """How many of its cases come to this without it."""
        return sum(each == outcome for each in self.without.values())


@dataclass(frozen=True)
class EntryTrial:
    """What became of an entry of known disagreements that may be about a wrong answer.

    `equals`: the answer is what the entry says is computed instead. `cured`: the runtime is right in the same
    call without what the entry is about; `spared`: so it is with other elements or lengths alone, with which
    what is wrong may not show; `alike`: other entries are no longer about that call either; `together`: it is
    right without several entries, and wrong without each. `refuted`: none of these. `silent`: no call could
    be made or asked that says it. `by` is the change in words; `of` the digest of what the entry said then.
    """

    case: str
    entry: str
    of: str
    result: TrialResult
    by: str = ""


@dataclass(frozen=True)
class SmallerCall:
    """What is left of a case that fails, made smaller on the runtime as long as it failed of the same cause.

    `cause` is the entry that it was made for, empty without one. Everything else is in words: of an attribute
    its name and value, of an input its name, type with shape, and values, and what was `expected` and what
    the runtime made of it (`got`).
    """

    case: str
    cause: str
    attributes: tuple[tuple[str, str], ...]
    inputs: tuple[tuple[str, str, str], ...]
    expected: str
    got: str


@dataclass(frozen=True)
class Diagnosis:
    """All experiments on one run. `stopped` says what ended them before their end, None where nothing did.

    `unexplained` are the cases that no experiment puts to a cause, `unsteady` those that did not fail again,
    `allowed` those that failed again by what they expect, and pass by what the documents allow. `trials` are
    what became of entries that may be about wrong answers. `smaller` are calls that reports show of causes.
    """

    causes: tuple[DiagnosedCause, ...]
    unexplained: tuple[str, ...]
    unsteady: tuple[str, ...]
    seconds: float
    stopped: str | None
    calls: tuple[TriedCall, ...]
    allowed: tuple[str, ...] = ()
    trials: tuple[EntryTrial, ...] = ()
    smaller: tuple[SmallerCall, ...] = ()


def _with(factor: str, values: Sequence[str]) -> str:
    """A factor with its values; elements and lengths, which have no value that could be named, as given."""
    named = [value for value in values if value]
    return f"{factor} = {_either(named)}" if named else f"{factor} as given"


def _either(values: Sequence[str]) -> str:
    found = list(dict.fromkeys(values))
    shown = [*found[:4], f"{len(found) - 4} others"] if len(found) > 5 else found
    return " or ".join(shown)


def write_diagnosis(path: Path, suite: str, record: str | None, diagnosis: Diagnosis) -> None:
    """Write it for a suite and a record, which their digests name; UserError where that is impossible."""
    calls = [call.to_json() for call in diagnosis.calls]
    _BESIDE.write(path, suite, record, {**asdict(replace(diagnosis, calls=())), "calls": calls})


def read_diagnosis(path: Path, suite: str, record: str | None) -> Diagnosis | None:
    """The diagnosis of a record; None where there is no such file, or one of another run.

    Raises UserError where the file is damaged.
    """
    return _BESIDE.read(path, suite, record, partial(read_plain, Diagnosis))
