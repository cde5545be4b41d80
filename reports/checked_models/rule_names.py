"""Causes by names that stay: the same for the same cause in another model, and on another day."""

from __future__ import annotations

import hashlib
import re

from reports.causes.spoken_failures import said_form
from reports.checked_models.call_answers import CallCause

_DIGITS = 8


def rule_of(cause: CallCause) -> str:
    """The id of a known entry, else operator, answer and digits of what is said: `Conv/wrong/1a2b3c4d`."""
    found = cause.found
    alone = "" if cause.setting == "any" else f"/{cause.setting}"
    if found is not None and found.known is not None:
        return f"{found.known.id}{alone}"
    operator = cause.smallest.operator
    name = operator.name if operator.domain == "ai.onnx" else operator.unversioned.replace("::", ".")
    # Names of nodes and numbers in a runtime's message change from case to case.
    said = said_form(cause.smallest) if cause.answer in ("refused", "crashes") else cause.title
    digits = hashlib.sha256(re.sub(r"\d+", "#", said).encode()).hexdigest()[:_DIGITS]
    return f"{name}/{cause.answer}/{digits}{alone}"
