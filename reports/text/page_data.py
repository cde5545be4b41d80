"""The data of a page: JSON, compressed and in base64, so that no text in it can end or enter the page.

A part stands in the page itself, in a script element that is never executed, or in a script file of its own
beside it, which hands it over when the page asks for it. Such a file is loaded from `file:`, too, where
browsers check no digests; each is allowed by a nonce of its own, the digest of what it holds.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from opcert.vocabulary.harmless import shown

PART_BYTES = 256 * 1024
"""About how much JSON a part holds before it is compressed."""
FOLDER = "parts"


@dataclass(frozen=True)
class DataPart:
    """A part by its name, compressed: `text` is base64."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]

    @property
    def file(self) -> str:
        """The name of its script file; another content has another name."""
        return f"{self.name}-{self.digest[:12]}.js"

    @property
    def script(self) -> str:
        """What its script file says."""
        return f'opcertPart("{self.name}","{self.text}");\n'


def pack(name: str, content: object) -> DataPart:
    """Make a part, the same bytes every time; what would hide or turn text in it is written out."""
    raw = to_json(content).encode()
    return DataPart(name, b64encode(gzip.compress(raw, 9, mtime=0)).decode())


def pack_many(name: str, items: Iterable[tuple[int, Any]]) -> Iterator[tuple[DataPart, list[int]]]:
    """Parts of about equal size, called `name` and a number: objects by position; and those positions."""
    held: dict[int, str] = {}
    size = number = 0
    for position, item in items:
        held[position] = to_json(item)
        size += len(held[position])
        if size > PART_BYTES:
            yield _pack_texts(f"{name}-{number}", held), list(held)
            held, size, number = {}, 0, number + 1
    if held:
        yield _pack_texts(f"{name}-{number}", held), list(held)


def _pack_texts(name: str, held: dict[int, str]) -> DataPart:
    raw = "{" + ",".join(f'"{position}":{text}' for position, text in held.items()) + "}"
    return DataPart(name, b64encode(gzip.compress(raw.encode(), 9, mtime=0)).decode())


def to_json(content: object) -> str:
    """Compact JSON of numbers, lists, objects and texts, the texts made harmless to read."""
    return json.dumps(_harmless(content), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _harmless(content: object) -> object:
    if isinstance(content, str):
        return shown(content)
    if isinstance(content, dict):
        return {shown(str(name)): _harmless(each) for name, each in content.items()}
    if isinstance(content, list | tuple):
        return [each if type(each) in _NUMBERS else _harmless(each) for each in content]
    return content


_NUMBERS = frozenset((int, float))
"""What columns are made of."""
