"""What a runtime said of a failing case, without its particulars: what one cause is known by everywhere."""

from __future__ import annotations

from fnmatch import fnmatchcase

from conformance.judging.signatures import crash_signature, signature
from conformance.judging.verdicts import REJECTED_VALID
from reports.results.case_results import CaseResult

_CUT = " ... "
_FEWEST_LETTERS = 6


def said_form(case: CaseResult) -> str:
    """What was said of a refusal, or how a process was lost, in the form in which messages are compared.

    Empty where nothing was: of an answer that is wrong, and of a case without a row.
    """
    row = case.row
    if row is None:
        return ""
    if case.verdict == REJECTED_VALID:
        return signature(str(row.error), row.message or row.reason or "", (case.operator.name,))
    if case.verdict == "crash":
        return crash_signature(row.signal, row.reason or "", row.stderr or "")
    return f"no answer in time {row.stage or ''}".rstrip() if case.verdict == "timeout" else ""


def check_message(text: str) -> str:
    """The text, where it can name a cause; raises ValueError where next to any message would fit it."""
    if not is_telling(text):
        raise ValueError(f"the message {text!r} has too few letters to tell one cause from another")
    return text


def fits_message(text: str, case: CaseResult) -> bool:
    """Whether what was said of a failing case is this text.

    Names, sizes, quoted words, addresses and places do not matter; `*` stands for anything, and so does the
    ` ... ` with which reports shorten. The kind of the error may stand before it.
    """
    said = said_form(case)
    if not said:
        return False
    pieces = text.replace(_CUT, "*").split("*")
    # A text may be in the form already, of which making it once more can make another one.
    formed = [_form(piece, (case.operator.name,)) for piece in pieces]
    wanted = (_as_pattern(pieces), _as_pattern(formed))
    return any(fnmatchcase(each, one) for each in (said, said.partition(": ")[2]) for one in wanted)


def _form(piece: str, names: tuple[str, ...] = ()) -> str:
    return signature("", piece, names).removeprefix(":").strip()


def is_telling(text: str) -> bool:
    """Whether a message has enough letters to tell one cause from another."""
    return sum(each.isalpha() for each in _form(text)) >= _FEWEST_LETTERS


def _as_pattern(pieces: list[str]) -> str:
    """The pieces with anything between them, and nothing else in them that `fnmatch` gives a meaning."""
    plain = [piece.replace("[", "[[]").replace("?", "[?]") for piece in pieces]
    return "*".join(plain)
