"""Many small JSON files as one: what a wheel carries in the place of folders of them (`hatch_build.py`)."""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


def read_packed(packed: Path, name: str) -> Any:
    """The content of the file of that name in a packed one.

    Raises OSError where there is no such file, KeyError where it does not hold that name, ValueError or
    EOFError where it is damaged.
    """
    return _contents(packed)[name]


@cache
def _contents(packed: Path) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(lzma.decompress(packed.read_bytes()))
    return found
