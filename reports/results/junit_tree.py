"""What every JUnit document has: totals of its suites, and how it is written."""

from __future__ import annotations

import math
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from opcert.vocabulary.harmless import tidy_xml

_LONGEST = 20_000


def count_suite(suite: Element) -> None:
    """Set the totals of a suite, by its tests."""
    suite.set("tests", str(len(suite.findall("testcase"))))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
    seconds = math.fsum(float(each.get("time", "0")) for each in suite.findall("testcase"))
    suite.set("time", f"{seconds:.3f}")  # the schema allows three decimals here


def write_document(root: Element) -> bytes:
    """The bytes of a document, with the totals of its suites; long and odd text is made harmless."""
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(each.get(name, "0")) for each in root)))
    root.set("time", f"{math.fsum(float(each.get('time', '0')) for each in root):.3f}")
    tidy_xml(root, _LONGEST)
    ElementTree.indent(root)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written
