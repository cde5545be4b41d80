"""Rules on what a page says of attributes: their defaults, their values and their ranges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from specs.documents.pages.pages import Version
from specs.documents.prose.described_values import find_default
from specs.documents.text.documents import Line, Passage
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
_FLAG = re.compile(
    r"(?i:\bif (?:set to )?true\b|\bif false\b|\bboolean\b|\bshould be 0 or 1\b|\b0 or 1\b|\bwhether\b)"
    r"|\b[Ii]f (?:set to )?1\b|\btrue\b.{0,80}\bfalse\b"
)
_MOST_LETTERS, _MOST_STATED = 50_000, 50
_STATED_DEFAULT = re.compile(
    r"(?i:\bthe default(?: value)? is|(?:^|[.;,] )default(?: value)?(?: is|:)|\bby default,? it is"
    r"|(?:^|[.;,] )if not specified,(?: it is)?)"
    r" [`\"']*(?P<value>[Tt]rue|[Ff]alse|-?\d+(?:\.\d+)?)[`\"']*(?=[.;)]?(?:\s|$))"
    r"(?! (?:for|when|if|along|in)\b)"
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_ALTERNATIVES = re.compile(
    r"(?P<list>(?P<mark>[`'\"*]{1,2})[A-Za-z]\w{0,40}(?P=mark)"
    r"(?:(?:, ?(?:or )?| or |/)(?P=mark)[A-Za-z]\w{0,40}(?P=mark)){1,30})"
)
_TWICE_JOINED = re.compile(
    r"(?P<name>(?P<mark>[`'\"*]{1,2})(?P<word>[A-Za-z]\w{2,40})(?P=mark)) and (?P=name)"
)
_ALTERNATIVE = re.compile(r"[`'\"*]([A-Za-z]\w*)[`'\"*]")
_ANNOUNCES = re.compile(r"(?:from|one of|either|values?(?: are)?|modes?(?: are)?)[:`\s]*$", re.IGNORECASE)
_EXPLAINED = re.compile(r"^\s*[*-] +(?P<mark>``|[`*\"])(?P<word>[A-Za-z]\w*)(?P=mark)(?: - |: | \()")
_RANGE_FIELD = re.compile(r"^\s*\* +\*\*Range of values\*\*:(?P<list>.{1,2000})")
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


def tells_absence(text: str) -> bool:
    """Whether a text tells, in some way, what it means that its subject is left out."""
    return _ABSENCE_TOLD.search(text) is not None


def _silent(version: Version, attribute: AttributeSpec) -> bool:
    line = version.page.lines[version.page.position(attribute.origin.sources[0])]
    if attribute.required or attribute.has_default or "(default is" in line.text:
        return False
    passage = version.passages.get(f"attributes.{attribute.name}")
    if passage is None:
        return True
    if version.page.dialect != "onnx-sphinx-rst":
        return not _ABSENCE_TOLD.search(passage.text) and not told_above(version, attribute.name)
    found = find_default(passage)
    undecodable = found is not None and found.undecodable
    return not undecodable and not _OPTIONAL.search(passage.text)


def told_above(version: Version, name: str) -> bool:
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


@check("warning", ("onnx", "tensorflow"))
def default_outside_range(version: Version) -> Iterator[Told]:
    """A default is none of the values that the page allows.

    One finding for each number that is below or above its bounds, or neither 0 nor 1 where the text speaks
    of true and false; the reader of OpenVINO's pages compares while it reads.
    """
    for name, attribute in version.spec.attributes.items():
        numbers = attribute.default if isinstance(attribute.default, list | tuple) else [attribute.default]
        passage = version.passages.get(f"attributes.{name}")
        if not attribute.has_default:
            continue
        bounds = broken_bound(attribute, numbers)
        if bounds is None and attribute.kind == "int" and passage is not None:
            flag = _FLAG.search(passage.text)
            bounds = flag[0] if flag and attribute.default not in (0, 1) else None
        if bounds is not None:
            message = f"the default of {name} is outside of its range"
            yield Told(attribute.origin.sources[0], message, f"{attribute.default}; the text says {bounds}")


def broken_bound(attribute: AttributeSpec, numbers: Sequence[Any]) -> str | None:
    """The bound of an attribute that one of the numbers breaks; None where all keep to it."""
    for number in numbers:
        if not isinstance(number, int | float):
            continue
        if attribute.at_least is not None and number < attribute.at_least:
            return f"at least {attribute.at_least}"
        if attribute.more_than is not None and number <= attribute.more_than:
            return f"more than {attribute.more_than}"
        if attribute.at_most is not None and number > attribute.at_most:
            return f"at most {attribute.at_most}"
    return None


@check("warning")
def default_vs_text(version: Version) -> Iterator[Told]:
    """The default that the list of attributes prints is not the one that the text gives.

    One finding for each attribute whose two defaults contradict each other.
    """
    for name, attribute in version.spec.attributes.items():
        origin = version.spec.origins.get(f"attributes.{name}.default")
        passage = version.passages.get(f"attributes.{name}")
        onnx = version.page.dialect.startswith("onnx")
        if passage is None or not attribute.has_default:
            continue
        if onnx and (origin is None or origin.rule not in ("printed-default", "schema")):
            continue
        if attribute.values is not None and attribute.default not in attribute.values.values:
            # `default-outside-values` tells it.
            continue
        found = find_default(passage)
        stated = [(found.value, found.offset)] if onnx and found is not None and found.origin else []
        for value, offset in (*stated, *_stated_defaults(passage)):
            if not _agree(value, attribute.default):
                message = f"the list of attributes gives {name} another default than the text"
                evidence = f"the list: {attribute.default}; the text: {value}"
                yield Told(passage.source(offset), message, evidence)
                break


def _stated_defaults(passage: Passage) -> Iterator[tuple[Any, int]]:
    """The numbers and truth values that a sentence of its own gives as the default, and where."""
    for match in islice(_STATED_DEFAULT.finditer(passage.text[:_MOST_LETTERS]), _MOST_STATED):
        word = match["value"].strip(".")
        offset = match.start("value")
        if word in _TRUTH:
            yield word, offset
        elif _NUMBER.fullmatch(word):
            yield (float(word) if "." in word else int(word)), offset


@check("warning")
def duplicate_value(version: Version) -> Iterator[Told]:
    """A list of the values that are allowed names one of them twice.

    One finding for each value that stands twice in one sentence's list, for each name that "and" joins with
    itself, and for each value that one list of items explains twice.
    """
    for about, passage in version.passages.items():
        for match in islice(_ALTERNATIVES.finditer(passage.text[:_MOST_LETTERS]), _MOST_STATED):
            words = _ALTERNATIVE.findall(match["list"])
            announced = _ANNOUNCES.search(passage.text[max(match.start() - 60, 0) : match.start()])
            twice = _first_twice(words)
            if twice and (announced or f" or {match['mark']}" in match["list"]):
                message = f"a list of the text about {about} names {twice} twice"
                yield Told(passage.source(match.start("list")), message, match["list"][:120])
        for match in islice(_TWICE_JOINED.finditer(passage.text[:_MOST_LETTERS]), _MOST_STATED):
            message = f"the text about {about} joins {match['word']} with itself"
            yield Told(passage.source(match.start()), message, match[0])
    if not version.page.dialect.startswith("tensorflow"):
        yield from _items_twice(version)


def _items_twice(version: Version) -> Iterator[Told]:
    """Lists of explained values (`* *floor* - text`), and the fields of OpenVINO's ranges."""
    known: dict[str, Line] = {}
    depth = -1
    for line in version.lines:
        field = _RANGE_FIELD.match(line.text)
        if field is not None:
            twice = _first_twice(_ALTERNATIVE.findall(field["list"]))
            if twice:
                message = f"the range of values names {twice} twice"
                yield Told(line.source(), message, field["list"][:120])
        item = _EXPLAINED.match(line.text)
        indent = len(line.text) - len(line.text.lstrip())
        if item is None:
            if line.text and indent <= depth:
                known, depth = {}, -1
            continue
        if indent != depth:
            known, depth = {}, indent
        word = item["word"]
        if word in known:
            message = f"a list of values explains {word} twice"
            yield Told(line.source(), message, f"the other stands at line {known[word].number}")
        known.setdefault(word, line)


def _first_twice(words: Sequence[str]) -> str | None:
    return next((word for position, word in enumerate(words) if word in words[:position]), None)


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
    named = [attribute for attribute in attributes if attribute.name in _EXTENTS and attribute.at_least == 0]
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
        listed = values is not None and values.confidence == 1.0  # a list of one value
        if values is not None and values.proposed and not listed:
            yield Told(
                values.origin.sources[0],
                f"the values of {attribute.name} are not listed as such",
                f"{', '.join(map(str, values.values))} by the rule {values.rule}, "
                f"confidence {values.confidence:.2f}",
            )
