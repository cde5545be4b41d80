"""What was worked out behind earlier runs, in the user's cache: a file for each piece, by all it hangs on."""

from __future__ import annotations

import gzip
import json
import platform
import re
import zlib
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import conformance
from conformance.processes.scratch_folders import scratch_folder
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.kept_suites import suites_folder
from opcert.vocabulary.file_digests import digest_by_name
from opcert.vocabulary.kept_files import remove_oldest
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.seals import SEAL_BYTES, is_sealed, seal
from opcert.vocabulary.whole_files import place_bytes

MOST_KEPT = 1024
MOST_BYTES = 64 << 20
"""Of each kind so many pieces stay, of so many bytes together: those that were used last."""
_LARGEST = 16 << 20
_KEY = re.compile(r"[0-9a-f]{64}")
_ROOT = Path(conformance.__file__).parents[1]
_PACKAGES = ("opcert", "specs", "reference", "generator", "conformance", "reports")


class KeptWork:
    """The pieces of one kind: each is JSON, and found by the digest of everything that it hangs on.

    Any change of opcert's own files is another key. A cache that cannot be read or written keeps nothing, a
    file that is damaged, or that this user's opcert has not written (`seals.py`), is none, and nobody is
    told: what is worked out is the same without it.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.folder = suites_folder().with_name("worked-out") / kind

    def key(self, *parts: Any) -> str:
        """The key of what hangs on these parts, which are JSON, and on the code that is here."""
        return sha256(canonical_json([project_digest(), *parts]))

    def find(self, key: str) -> Any:
        """What was kept under a key; None where nothing is."""
        path = self.folder / key
        try:
            raw = read_regular(path, _LARGEST)
            packed = raw[SEAL_BYTES:]
            if not is_sealed(f"{self._kind}/{key}", packed, raw[:SEAL_BYTES]):
                return None
            found = json.loads(gzip.decompress(packed))
            path.touch()
        except (OSError, EOFError, ValueError, RecursionError, zlib.error):
            return None
        return found

    def keep(self, key: str, content: Any) -> None:
        """Keep what was worked out, in the place of what may be there."""
        packed = gzip.compress(canonical_json(content), 1, mtime=0)
        if len(packed) + SEAL_BYTES > _LARGEST:
            return
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            with scratch_folder("work", self.folder) as making:
                place_bytes(self.folder / key, seal(f"{self._kind}/{key}", packed) + packed, making)
            kept = (each for each in self.folder.iterdir() if _KEY.fullmatch(each.name))
            remove_oldest(kept, MOST_KEPT, MOST_BYTES)


@cache
def project_digest() -> str:
    """Of every file of opcert's own, and of the versions of what it computes with."""
    files = {
        each.relative_to(_ROOT).as_posix(): each
        for name in _PACKAGES
        for each in (_ROOT / name).rglob("*")
        if each.is_file() and "__pycache__" not in each.parts
    }
    versions = [platform.python_version(), np.__version__, onnx.__version__]
    versions += [version(each) for each in ("protobuf", "python-flint")]
    return sha256(canonical_json([digest_by_name(files), versions]))
