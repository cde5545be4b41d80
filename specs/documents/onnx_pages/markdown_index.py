"""The index at the head of ONNX's generated Markdown: which operators the document promises to describe."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

_LINK = re.compile(r'<a href="#(?P<name>[\w.]+)">(?P=name)</a>')
_VERSION = re.compile(r'<a href="Changelog\.md#(?P<name>[\w.]+)-(?P<version>\d{1,9})">(?P=version)</a>')


def read_index(lines: Iterable[str]) -> dict[str, int | None]:
    """The operators of an index by the name that the document gives them, each with its newest version.

    The version is None where the index gives none. Raises nothing: lines that are no rows say nothing.
    """
    text = "\n".join(html.unescape(each) for each in lines if "href" in each)
    found: dict[str, int | None] = {match["name"]: None for match in _LINK.finditer(text)}
    for match in _VERSION.finditer(text):
        if match["name"] in found:
            found[match["name"]] = max(found[match["name"]] or 0, int(match["version"]))
    return found
