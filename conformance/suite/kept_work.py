"""What was worked out behind earlier runs, in the user's cache: pieces of JSON, each by all it hangs on."""

from __future__ import annotations

import gzip
import json
import platform
import zlib
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
import onnx

from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.store import Store
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.user_folders import cache_folder

MOST_KEPT = 1024
MOST_BYTES = 64 << 20
"""Of each kind so many pieces stay, of so many bytes together: those that were used last."""
_LARGEST = 16 << 20


class KeptWork:
    """The pieces of one kind: each is JSON, and found by the digest of everything that it hangs on.

    Any change of opcert's own code and facts is another key. A file that is damaged, or that this
    user's opcert has not written, is none, and nobody is told: what is worked out is the same without it.
    """

    def __init__(self, kind: str) -> None:
        folder = cache_folder() / "worked-out" / kind
        self.store = Store(folder, MOST_KEPT, MOST_BYTES, _LARGEST, sealed=True)

    def key(self, *parts: Any) -> str:
        """The key of what hangs on these parts, which are JSON, and on the code that is here."""
        return sha256(canonical_json([project_digest(), _versions(), *parts]))

    def find(self, key: str) -> Any:
        """What was kept under a key; None where nothing is."""
        try:
            packed = self.store.find(key)
            return None if packed is None else json.loads(gzip.decompress(packed))
        except (OSError, EOFError, ValueError, RecursionError, zlib.error):
            return None

    def keep(self, key: str, content: Any) -> None:
        """Keep what was worked out, in the place of what may be there."""
        self.store.keep(key, gzip.compress(canonical_json(content), 1, mtime=0))


@cache
def _versions() -> list[str]:
    """Of what opcert computes with."""
    found = [platform.python_version(), np.__version__, onnx.__version__]
    return found + [version(each) for each in ("protobuf", "python-flint")]
