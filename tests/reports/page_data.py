"""The data of a page, as its script reads it."""

from __future__ import annotations

import gzip
import html
import json
import re
from base64 import b64decode
from typing import Any

_PART = re.compile(r'<script type="text/plain" id="part-([a-z0-9-]+)">([^<]*)</script>')
_DIRECTORY = re.compile(r'<script type="application/json" id="directory">(.*?)</script>', re.DOTALL)


def read_parts(page: str) -> dict[str, Any]:
    """Every part that stands in the page, by name."""
    return {name: json.loads(gzip.decompress(b64decode(text))) for name, text in _PART.findall(page)}


def read_directory(page: str) -> dict[str, Any]:
    """What the page says about its parts and runs."""
    match = _DIRECTORY.search(page)
    assert match is not None
    found: dict[str, Any] = json.loads(match[1])
    return found


def read_details(page: str) -> dict[int, Any]:
    """The details of every case that has them, by its position."""
    parts = read_parts(page)
    return {
        int(position): detail
        for name, part in parts.items()
        if name.startswith("details-")
        for position, detail in part.items()
    }


def case_ids(table: dict[str, Any]) -> list[str]:
    """The case ids of a table, in its order."""
    paths = [each["name"].replace("::", "/") for each in table["operators"] for _ in range(each["count"])]
    return [f"{path}/{tail}" for path, tail in zip(paths, table["ids"], strict=True)]


def text_of(page: str) -> str:
    """The page's markup without what it escapes, and without its data."""
    return html.unescape(_DIRECTORY.sub("", _PART.sub("", page)))
