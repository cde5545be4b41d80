"""What documents of Markdown and of JUnit are made of: tables, lists under headings, suites of tests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from opcert.vocabulary.harmless import for_markdown, tidy_xml

LIMIT = 1024 * 1024
"""Bytes that the summary of a CI step may have."""


def table(rows: Sequence[Sequence[str]], under: Sequence[str] = ()) -> list[str]:
    """Lines of a table whose cells are Markdown; the first row is its heading, the first column words.

    `under` are the marks of the columns, where others than the first hold words, too.
    """
    head, *rest = rows
    under = under or ["---", *("---:" for _ in head[1:])]
    return [f"| {' | '.join(each)} |" for each in (head, under, *rest)]


def bullets(told: Iterable[str], longest: int = 400) -> str:
    """A list of texts, which are no Markdown yet."""
    return "\n".join(f"- {for_markdown(text, longest)}" for text in told)


def headed_list(heading: str, told: Sequence[str]) -> Iterator[str]:
    """The blocks of a heading and the list of texts below it; none where there are no texts."""
    if told:
        yield f"## {heading}"
        yield bullets(told)


def within(blocks: Iterable[str], limit: int, what: str) -> str:
    """As many blocks as fit into `limit` bytes of UTF-8, then how many `what` were left out, if any were."""
    kept: list[str] = []
    size = 0
    left = 0
    room = limit - 200
    for block in blocks:
        length = len(block.encode("utf-8", "backslashreplace")) + 2
        if left or size + length > room:
            left += 1
            continue
        kept.append(block)
        size += length
    if left:
        kept.append(f"{left} more {what} left out here for want of room.")
    return "\n\n".join(kept) + "\n"


_LONGEST = 20_000


@dataclass(frozen=True)
class JUnitTest:
    """One test: where it stands, what it is called, how long it took, and the element of what came of it.

    `kind` is the type that the element names; `details` stand in that of a failure or an error. Of what is
    only said, in `system-out`, there is the message alone, and nothing of what passes in silence.
    """

    classname: str
    name: str
    seconds: float = 0.0
    outcome: Literal["failure", "error", "skipped", "system-out", ""] = ""
    message: str = ""
    kind: str = ""
    details: str = ""


@dataclass(frozen=True)
class JUnitSuite:
    """Tests under a name; `timestamp` is empty where nobody knows when they began."""

    name: str
    tests: tuple[JUnitTest, ...]
    timestamp: str = ""


def render_suites(name: str, suites: Iterable[JUnitSuite]) -> bytes:
    """The bytes of a document, with the totals of its suites; long and odd text is made harmless."""
    root = Element("testsuites", name=name)
    for suite in suites:
        _suite(root, suite)
    for total in ("tests", "failures", "errors"):
        root.set(total, str(sum(int(element.get(total, "0")) for element in root)))
    root.set("time", f"{math.fsum(float(element.get('time', '0')) for element in root):.3f}")
    tidy_xml(root, _LONGEST)
    ElementTree.indent(root)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _suite(root: Element, suite: JUnitSuite) -> None:
    found = SubElement(root, "testsuite", name=suite.name)
    if suite.timestamp:
        found.set("timestamp", suite.timestamp)
    for test in suite.tests:
        _test(found, test)
    found.set("tests", str(len(suite.tests)))
    for total, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        found.set(total, str(sum(test.outcome == tag for test in suite.tests)))
    seconds = math.fsum(float(element.get("time", "0")) for element in found)
    found.set("time", f"{seconds:.3f}")  # the schema allows three decimals here


def _test(suite: Element, test: JUnitTest) -> None:
    found = SubElement(
        suite, "testcase", name=test.name, classname=test.classname, time=f"{test.seconds:.6f}"
    )
    if test.outcome == "system-out":
        SubElement(found, test.outcome).text = test.message
    elif test.outcome:
        element = SubElement(found, test.outcome, message=test.message, type=test.kind)
        element.text = test.details if test.outcome != "skipped" else None
