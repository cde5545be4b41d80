"""Single values that a declaration states, without loading it: what lists of all operators ask of each file.

There is one reader of these files, `specs.declaration_files`. It is not asked where a key stands once, at the
begin of a line, with a plain value behind it, or where the key stands nowhere: that takes no YAML, and lists
of hundreds of operators are there at once. Whatever is written in another way, the reader reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from opcert.vocabulary.regular_files import FileState, file_state, read_regular
from specs.spec_folders import find_part

_LARGEST = 64 << 20
_NONE = b"(?!(?:null|Null|NULL|true|True|TRUE|false|False|FALSE|~)?[ \\t]*(?:#|\\r?$))"
_END = rb"[ \t]*(?:[ \t]#.*)?\r?$(?!(?:\n[ \t]*(?:#.*)?\r?$)*\n[ \t]+\S)"
"""The end of the line, and behind it none that goes on with the value."""
_TEXT = rb"([A-Za-z_][^\r\n#:]*?)"
_FORMS = {"versions": rb"([0-9]*\.\.[0-9]*|[1-9][0-9]*)", "uses": rb"\[([A-Za-z_ ,]*)\]"}
"""How values are written as a rule, by their keys; of other keys, a text."""
_COMMENT = re.compile(rb"^[ \t]*#.*", re.MULTILINE)
_ODD = re.compile(rb"^[?{%&*!\"'\[]|^---|^\.\.\.|\\|\t", re.MULTILINE)
"""What a file is not read past that holds it: keys may be anywhere."""


def stated_value(path: Path, key: str, folders: Sequence[Path] = ()) -> str | None:
    """What a declaration has under a key, as text; of folders of specs, else the first part that has it.

    Raises UserError or SeveralErrors where it has to be read, and cannot be.
    """
    return _find(path, key, folders, ())


def _find(path: Path, key: str, folders: Sequence[Path], inside: tuple[str, ...]) -> str | None:
    own = _stated(path, key, file_state(path))
    if own is not None:
        return str(own)
    used = _stated(path, "uses", file_state(path)) if folders else None
    for name in used if isinstance(used, list) else ():
        part = None if name in inside else find_part(str(name), folders)
        found = None if part is None else _find(part, key, folders, (*inside, str(name)))
        if found is not None:
            return found
    return None


@lru_cache(maxsize=4096)
def _stated(path: Path, key: str, state: FileState | None) -> Any:
    """The value of a key of a file, which stays while the file is as it was; None where it has none."""
    text = _text(path, state)
    word = key.encode()
    if not _ODD.search(text):
        written = re.findall(rb"\b%s[\"']?[ \t]*:" % word, _COMMENT.sub(b"", text))
        if not written:
            return None
        form = _FORMS.get(key, _TEXT)
        plain = re.findall(rb"^%s:[ \t]+%s%s%s" % (word, _NONE, form, _END), text, re.MULTILINE)
        if len(plain) == len(written) == 1:
            told = plain[0].decode(errors="replace")
            return [each.strip() for each in told.split(",") if each.strip()] if key == "uses" else told
    # Imported here, because hardly any file comes to this.
    from specs.declaration_files import read_document

    return read_document(path).value.get(key)


@lru_cache(maxsize=4096)
def _text(path: Path, _: FileState | None) -> bytes:
    try:
        return read_regular(path, _LARGEST)
    except OSError:
        return b""
