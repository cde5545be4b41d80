"""What stays of a cause from run to run, so that one page can tell of it in every runtime and version."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from conformance.judging.verdicts import REJECTED_VALID
from opcert.vocabulary.names import slug
from reports.causes.failure_class import FailureClass
from reports.causes.spoken_failures import is_telling, said_form

_MOST_LETTERS = 60
_TENSOR = re.compile(r"\w*tensor\([\w#]+\)")
_TYPES = re.compile(r"\([#:,\s]*\)")
_SEVERAL = re.compile(r"#(?:[\s,:>-]*#)+")


@dataclass(frozen=True, order=True)
class CauseKey:
    """A cause by how it is known (`entry`, `message`, `experiment`, `rule`, `documents`, `unexplained`), and
    the words that name it there."""

    told: str
    words: tuple[str, ...]

    @property
    def file(self) -> str:
        """The name of its page without the ending; a cause keeps it, whatever else is in the site."""
        digest = hashlib.sha256("\0".join((self.told, *self.words)).encode("utf-8", "backslashreplace"))
        named = slug(self.words[0])[:_MOST_LETTERS] if self.told == "entry" else self.told
        return f"{named}-{digest.hexdigest()[:10]}"


def key_of(found: FailureClass, runtime: str) -> CauseKey:
    """The key of a class of failures of a runtime.

    Entries, rules and what a runtime says in a refusal are the same in all runtimes. What goes by
    experiments, signals or associations is a runtime's own; without a cause, cases of an operator that fail
    in one way stand together, for conditions that separate them do not last.
    """
    operators = tuple(dict.fromkeys(each.unversioned for each in found.operators))
    if found.known is not None:
        return CauseKey("entry", (found.known.id,))
    if found.told == "message":
        said = _without_types(said_form(found.smallest))
        if found.kind == REJECTED_VALID and is_telling(said):
            return CauseKey("message", (said,))
        return CauseKey("message", (runtime, found.kind, *operators, said))
    if found.told == "experiment" and found.shown is not None and found.shown.needed:
        needed = sorted(f"{each.factor}={each.value}" for each in found.shown.needed)
        return CauseKey("experiment", (runtime, *operators, *needed))
    if found.told == "rule" and found.smallest.constraint:
        return CauseKey("rule", (*operators, found.smallest.constraint))
    if found.told == "allowed":
        return CauseKey("documents", (runtime, *operators))
    return CauseKey("unexplained", (runtime, *operators, found.kind))


def _without_types(said: str) -> str:
    """A message without the element types that a call has: one check is made of all."""
    return _SEVERAL.sub("#", _TYPES.sub("#", _TENSOR.sub("#", said)))
