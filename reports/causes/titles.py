"""The title of a cause: operator first, symptom second, as somebody would search for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from conformance.judging.known_causes import EQUALS, KnownCause
from conformance.suite.where_shown import WORDS
from opcert.vocabulary.names import OperatorName
from reports.causes.class_words import equals_text, headline
from reports.causes.failure_class import FailureClass
from reports.text.phrasing import listed

_NAMED = 3
_LONGEST = 150
_SIGNALS: Mapping[str, str] = {
    "SIGSEGV": "segfault",
    "SIGBUS": "bus error",
    "SIGABRT": "abort",
    "SIGFPE": "arithmetic fault that ends the process",
    "SIGILL": "illegal instruction",
    "SIGKILL": "process killed",
}
_EQUALS = f"{EQUALS} "
_JOINED: Mapping[str, tuple[str, str]] = {
    "either": ("one of these, which do alike", "; or "),
    "together": ("of these together", "; and "),
    "suspected": ("suspected and not shown", "; or "),
}
_ID = re.compile(r"\b[a-z0-9]+(_[a-z0-9]+)+\b")
"""What readings and leaves to refuse are called in specs."""
_SENTENCE = re.compile(r"(?<=[.;:]) +(?=[A-Z`])")
_OF_VERSIONS = re.compile(r"Mended in |\d+\.\d+ (has|had) |With |Nearest |So ")
"""Sentences that say when something was mended, or what works beside it: no symptom."""
_OWN_NAMES: Mapping[str, tuple[str, ...]] = {
    "onnxruntime": ("ONNX Runtime",),
    "openvino": ("OpenVINO",),
    "opencv": ("OpenCV",),
    "tensorflow": ("TensorFlow",),
    "tract": ("tract", "Tract"),
    "onnx": ("evaluator",),
}


def title(found: FailureClass, runtime: str = "", resembles: str = "") -> str:
    """`BatchNormalization: segfault when an optional training output is left out`.

    Without an entry that has a title of its own, what the answers of all its cases equal says most
    (`resembles` has it in a sentence), and then what entries say of the runtime behind what one sees.
    """
    return f"{operator_names(found.operators)}: {symptom(found, runtime, resembles)}"


def operator_names(operators: Sequence[OperatorName]) -> str:
    """The operators without their versions, a few of them."""
    names = list(dict.fromkeys(operator.name for operator in operators))
    more = len(names) - _NAMED
    return listed(names) if more <= 0 else f"{', '.join(names[:_NAMED])} and {more} more"


def symptom(found: FailureClass, runtime: str = "", resembles: str = "") -> str:
    """What one sees, and when."""
    known, equals, seen = found.known, equals_text(found, resembles), damage(found)
    told = told_by_entries(found, runtime)
    if known is not None and known.short:
        return told
    if equals.startswith(_EQUALS):
        return f"{seen}, as with {equals.removeprefix(_EQUALS)}"
    if equals:
        return f"{seen}: {equals}"
    if told:
        return f"{seen}{': ' if known is not None else ', '}{told}"
    said = headline(found)
    return _ID.sub(lambda each: f"“{each[0].replace('_', ' ')}”", said) if found.told == "judge" else said


def told_by_entries(found: FailureClass, runtime: str = "") -> str:
    """What entries say of the runtime, shown or suspected; empty where none does."""
    if found.known is not None:
        return found.known.short or told_of_runtime(found.known, runtime)
    joined = _JOINED.get(found.told)
    if joined is None or not found.suspects:
        return ""
    opening, between = joined
    named = between.join(suspect.short or told_of_runtime(suspect, runtime) for suspect in found.suspects)
    return f"{opening}: {named}"


def damage(found: FailureClass) -> str:
    """What one sees of a cause: a segfault, a wrong shape, a refusal."""
    if found.kind == "crash" and len(found.signals) == 1:
        return _SIGNALS.get(found.signals[0], f"process ended by {found.signals[0]}")
    return {"crash": "process lost", "values": "wrong values", "timeout": "hangs"}.get(found.kind, found.verb)


def told_of_runtime(known: KnownCause, runtime: str) -> str:
    """The sentence of an explanation that names the runtime; of others the last of a short beginning.

    Explanations say what the document asks first, and what the runtime does then.
    """
    sentences = [word.strip() for word in _SENTENCE.split(" ".join(known.explanation.split()))]
    sentences = [sentence for sentence in sentences if not _OF_VERSIONS.match(sentence)] or sentences
    names = _OWN_NAMES.get(runtime.split("-")[0], ())
    chosen = next((sentence for sentence in sentences if any(name in sentence for name in names)), None)
    text = chosen or _second_of(sentences)
    text = text.rstrip(".;:")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rsplit(' ', 1)[0].rstrip(',;:')} ..."


def shown_text(found: FailureClass) -> str:
    """Where a cause shows, in words; empty where nobody knows."""
    return WORDS[found.shows] if found.shows is not None else ""


def _second_of(sentences: Sequence[str]) -> str:
    return sentences[1] if len(sentences) > 1 and len(sentences[0]) < _LONGEST / 2 else sentences[0]
