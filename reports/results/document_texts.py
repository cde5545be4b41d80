"""Documents that are at hand: the text of a passage, where the file is what the suite was made from."""

from __future__ import annotations

import hashlib
import html
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.regular_files import read_regular

MOST_BYTES = 32 * 1024 * 1024
MOST_FILES = 20_000
LONGEST = 600
"""So many characters of a passage are shown."""
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_HEADING = re.compile(r"#{1,6}\s+(?P<name>.+)")
_UNDERLINE = re.compile(r"([=\-~^\"'*+#.])\1{2,}\s*")
_ITEM = re.compile(r"(?P<indent>\s*)[*+-]\s+\S")
_NEXT = ("<dt", "</dl", "#")
_FARTHEST = 400
"""So many lines above a passage its section is looked for."""


@dataclass(frozen=True)
class DocumentTexts:
    """The lines of documents by their SHA-256; of those that are not at hand nothing is said."""

    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def passage(self, sha256: str, line: int, column: int | None = None) -> str:
        """The paragraph that begins at a line, or the text from a column of a one-line document on."""
        lines = self.lines.get(sha256, ())
        if not 0 < line <= len(lines):
            return ""
        if column is not None:
            return _plain(lines[line - 1][max(column - 1, 0) :][: 3 * LONGEST])
        found: list[str] = []
        whole = _item_end(lines, line - 1)
        for place, each in enumerate(lines[line - 1 : line + 40], line - 1):
            beyond = place >= whole if whole else not each.strip() or each.lstrip().startswith(_NEXT)
            if found and beyond:
                break
            found.append(each[: 3 * LONGEST])
        return _plain(" ".join(found))

    def section(self, sha256: str, line: int) -> str:
        """The heading above a line; nothing where there is none."""
        lines = self.lines.get(sha256, ())
        if not 0 < line <= len(lines):
            return ""
        for place in range(line - 1, max(line - _FARTHEST, -1), -1):
            heading = _HEADING.fullmatch(lines[place].strip())
            if heading is not None:
                return _plain(heading["name"]).strip("* ")
            if 0 < place < line - 1 and _UNDERLINE.fullmatch(lines[place]) and lines[place - 1].strip():
                return _plain(lines[place - 1])
        return ""


def _item_end(lines: Sequence[str], start: int) -> int:
    """Where an item of a list ends that has items of its own (its name alone says nothing); else 0."""
    own = _ITEM.match(lines[start])
    if own is None:
        return 0
    end, inner = start + 1, False
    for place in range(start + 1, min(start + 40, len(lines))):
        each = lines[place]
        if not each.strip():
            continue
        if len(each) - len(each.lstrip()) <= len(own["indent"]):
            break
        end, inner = place + 1, inner or _ITEM.match(each) is not None
    return end if inner else 0


def _plain(text: str) -> str:
    """Text without markup of HTML, in one line that is not too long."""
    said = " ".join(html.unescape(_TAG.sub("", text)).split())
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"


def find_documents(folder: Path, wanted: Iterable[tuple[str, str]]) -> DocumentTexts:
    """The documents of `wanted` (file name, SHA-256) that a folder has, anywhere below it.

    A file of that name with another content is not used. Raises UserError where the folder is none.
    """
    if not folder.is_dir():
        raise UserError("the folder of documents is not there", where=Place(str(folder)))
    digests: dict[str, set[str]] = {}
    for file, sha256 in wanted:
        digests.setdefault(file, set()).add(sha256)
    found: dict[str, tuple[str, ...]] = {}
    for path in _files(folder):
        if path.name not in digests or len(found) == sum(map(len, digests.values())):
            continue
        try:
            raw = read_regular(path, MOST_BYTES)
        except OSError:
            continue
        digest = hashlib.sha256(raw).hexdigest()
        if digest in digests[path.name]:
            text = raw.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
            found[digest] = tuple(text.split("\n"))
    return DocumentTexts(found)


def _files(folder: Path) -> Iterator[Path]:
    number = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(folders)
        for name in sorted(names):
            number += 1
            if number > MOST_FILES:
                return
            yield Path(parent, name)
