"""The text announces another number of things than the list behind it has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from specs.documents.pages.pages import Version
from specs.documents.prose.sentences import pattern, sentences
from specs.documents.prose.value_rules import candidates
from specs.documents.text.documents import Passage
from specs.model.spec import Finding, Severity

CODE = "count-vs-list"
SEVERITY: Severity = "warning"
MOST_LISTS = 20

_NUMBERS = {word: number for number, word in enumerate(
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 1)}  # fmt: skip
_NAMED = pattern(
    r"\b(?P<count>"
    + "|".join(_NUMBERS)
    + r") (?:required |optional )?(?:inputs|outputs|attributes|arguments)"
    r":? (?P<list>[`'\"]\w+[`'\"](?:,? (?:and )?[`'\"]\w+[`'\"]){1,9})(?! ?[`'\"])"
)
_MARKED = re.compile(r"[`'\"](\w+)[`'\"]")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each list of values or of names that is not as long as its announcement says."""
    if not version.page.dialect.startswith("onnx"):
        return
    for about, passage in version.passages.items():
        for count, names, offset in islice(_lists(about, passage), MOST_LISTS):
            if len(names) != count:
                message = f"the text about {about} announces {count} and lists {len(names)}"
                evidence = ", ".join(names)
                yield Finding(CODE, SEVERITY, passage.source(offset), message, evidence, "noted")


def _lists(about: str, passage: Passage) -> Iterator[tuple[int, tuple[str, ...], int]]:
    """The announced number, what is listed, and where, of each list."""
    group, _, name = about.partition(".")
    if group == "attributes":
        for found in candidates(passage.text, name):
            if found.count is not None and len(found.values) >= 2:
                yield found.count, found.values, found.offset
    for sentence in sentences(passage.text):
        for match in _NAMED.finditer(sentence.text):
            yield (
                _NUMBERS[match["count"].lower()],
                tuple(_MARKED.findall(match["list"])),
                sentence.start + match.start(),
            )
