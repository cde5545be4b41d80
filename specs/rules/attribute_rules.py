"""Rules on what a page says of attributes: their defaults, their values and their ranges."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from specs.documents.pages.pages import Version
from specs.documents.prose.described_values import find_default
from specs.model.spec import AttributeSpec, Source
from specs.rules import Told, check

_OPTIONAL = re.compile(
    r"\b(?:if|when) (?:it is )?(?:not|un)[ -]?(?:provided|specified|set|given)|\boptional\b|\bif omitted\b",
    re.IGNORECASE,
)
_ABSENCE_TOLD = re.compile(
    r"default|\boptional"
    r"|\b(?:if|when|where|unless)\b[^.]{0,60}\b(?:not|un\w+|missing|absent|empty|without|no|none)\b"
    r"|\b(?:omitted|absent|missing|otherwise|inferred|ignored|not present|none|if provided|if present)\b"
    r"|\bif set,|\blegacy\b|\bmust be (?:used|provided|present|set|given|specified)\b"
    r"|\b(?:is|are) (?:only )?(?:required|needed)\b",
    re.IGNORECASE,
)
"""What tells, in some way, what the absence of an attribute means."""
_BEFORE, _BEHIND = 20, 120
"""Characters of the summary around an attribute's name in which it may be told."""
_ONE_OF = re.compile(r"\b(?:exactly|only) one of\b", re.IGNORECASE)
_PRINTED = re.compile(r"\(default is (?P<text>.*)\)</dt>$")
_TRUTH = {"true": 1, "false": 0, "True": 1, "False": 0}
_EXTENTS = frozenset(["sizes", "strides", "rates", "dilations", "kernel"])
"""Extents of windows and distances between them, for which zero means nothing."""


@check("warning", ("onnx",))
def default_missing(version: Version) -> Iterator[Told]:
    """An attribute may be left out, and the page does not say what holds then.

    One finding for all silent attributes of a version. The Markdown prints defaults, so that its text may
    tell of an absence in any words; the older pages have them in words alone.
    """
    summary = version.passages.get("summary")
    if version.spec.deprecated or (summary is not None and _ONE_OF.search(summary.text)):
        return
    silent = [attribute for attribute in version.spec.attributes.values() if _silent(version, attribute)]
    if silent:
        message = "the page gives no default for attributes that may be left out"
        yield Told(silent[0].origin.sources[0], message, ", ".join(attribute.name for attribute in silent))


def _silent(version: Version, attribute: AttributeSpec) -> bool:
    line = version.page.lines[version.page.position(attribute.origin.sources[0])]
    if attribute.required or attribute.has_default or "(default is" in line.text:
        return False
    passage = version.passages.get(f"attributes.{attribute.name}")
    if passage is None:
        return True
    if version.page.dialect != "onnx-sphinx-rst":
        return not _ABSENCE_TOLD.search(passage.text) and not _told_above(version, attribute.name)
    found = find_default(passage)
    undecodable = found is not None and found.undecodable
    return not undecodable and not _OPTIONAL.search(passage.text)


def _told_above(version: Version, name: str) -> bool:
    """Whether the summary names the attribute and goes on to tell what its absence means."""
    summary = version.passages.get("summary")
    if summary is None:
        return False
    named = re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", summary.text)
    around = (summary.text[max(match.start() - _BEFORE, 0) : match.end() + _BEHIND] for match in named)
    return any(map(_ABSENCE_TOLD.search, around))


@check("warning", ("onnx",))
def default_outside_values(version: Version) -> Iterator[Told]:
    """A default is none of the values that the text allows.

    One finding for each string attribute of an ONNX page; the other importers compare while they read.
    """
    for attribute in version.spec.attributes.values():
        values = attribute.values
        if values is None or not attribute.has_default or not isinstance(attribute.default, str):
            continue
        if attribute.default not in values.values and attribute.default:
            message = f"the default of {attribute.name} is none of its values"
            evidence = f"{attribute.default!r}; the text lists {', '.join(map(str, values.values))}"
            yield Told(attribute.origin.sources[0], message, evidence)


@check("warning", ("onnx",))
def default_undecodable(version: Version) -> Iterator[Told]:
    """A default is printed as something that is no value.

    One finding for each attribute of an ONNX page whose printed default is no value of its type.
    """
    for attribute in version.spec.attributes.values():
        source = attribute.origin.sources[0]
        if attribute.other_type is not None:
            continue
        printed = _PRINTED.search(version.page.lines[version.page.position(source)].text)
        if printed and not attribute.has_default:
            yield _undecodable(attribute.name, printed["text"], source, None)
        passage = version.passages.get(f"attributes.{attribute.name}")
        found = find_default(passage) if passage is not None and attribute.kind is None else None
        if passage is not None and found is not None and found.undecodable is not None:
            place = passage.source(max(passage.text.find(found.undecodable), 0))
            yield _undecodable(
                attribute.name, found.undecodable, place, found.value if found.origin else None
            )


def _undecodable(name: str, text: str, source: Source, marked: object) -> Told:
    message = f"the default of {name} is printed as {text}"
    if re.fullmatch(r"0(?:\.0*)?", text):
        evidence = "it keeps divisors from being zero, and is not zero: too few decimals are printed"
        return Told(source, message, evidence)
    if marked is None:
        return Told(source, message, "nothing else says what it is")
    return Told(source, message, f"the text marks {marked} as the default", "repaired")


@check("warning", ("onnx",))
def default_vs_text(version: Version) -> Iterator[Told]:
    """The default that the list of attributes prints is not the one that the text gives.

    One finding for each attribute of an ONNX page whose two defaults contradict each other.
    """
    for name, attribute in version.spec.attributes.items():
        origin = version.spec.origins.get(f"attributes.{name}.default")
        passage = version.passages.get(f"attributes.{name}")
        if origin is None or passage is None or origin.rule not in ("printed-default", "schema"):
            continue
        if attribute.values is not None and attribute.default not in attribute.values.values:
            # `default-outside-values` tells it.
            continue
        stated = find_default(passage)
        if stated is None or stated.origin is None or _agree(stated.value, attribute.default):
            continue
        message = f"the list of attributes gives {name} another default than the text"
        evidence = f"the list: {attribute.default}; the text: {stated.value}"
        yield Told(passage.source(stated.offset), message, evidence)


def _agree(stated: Any, printed: Any) -> bool:
    """Whether a default in words can mean the printed one; words for what is no number say nothing of it."""
    if isinstance(stated, str):
        if isinstance(printed, str):
            return stated == printed
        return _TRUTH.get(stated, printed) == printed if not isinstance(printed, list) else True
    if isinstance(stated, int | float) and isinstance(printed, int | float):
        return stated == printed or abs(stated - printed) <= 1e-5 * abs(printed)
    if isinstance(printed, list):
        # One number stands for as many as there are axes.
        return not printed or all(number == stated for number in printed)
    return True


@check("warning")
def impossible_range(version: Version) -> Iterator[Told]:
    """The range of an attribute admits values that mean nothing.

    One finding for all extents of a version that may be 0.
    """
    attributes = version.spec.attributes.values()
    named = [each for each in attributes if each.name in _EXTENTS and each.at_least == 0]
    if named:
        message = "the range admits 0, for which the operation means nothing"
        evidence = f"non-negative: {', '.join(attribute.name for attribute in named)}"
        yield Told(named[0].origin.sources[0], message, evidence)


@check("hint")
def low_confidence_values(version: Version) -> Iterator[Told]:
    """The values that an attribute may take are told in words that do not list them as such.

    One finding for each attribute whose values are proposed, not used.
    """
    for attribute in version.spec.attributes.values():
        values = attribute.values
        if values is not None and values.proposed:
            yield Told(
                values.origin.sources[0],
                f"the values of {attribute.name} are not listed as such",
                f"{', '.join(map(str, values.values))} by the rule {values.rule}, "
                f"confidence {values.confidence:.2f}",
            )
