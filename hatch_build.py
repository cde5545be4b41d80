"""What wheel and sdist carry instead of hundreds of JSON files: the same, packed, a file for each sort.

Of what was measured the equivalent mutants are left out, one by one; they are counted by kind.
"""

from __future__ import annotations

import json
import lzma
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def adequacy(specs: Path) -> Mapping[str, Path]:
    """By its place what was measured of an operator version's cases, where that is there."""
    measured = specs.with_name("measured")
    return {path.relative_to(measured).as_posix(): path for path in measured.glob("*/*/adequacy-*.json")}


def agreement(specs: Path) -> Mapping[str, Path]:
    """By its place what runtimes made of an operator version's cases."""
    return {path.relative_to(specs).as_posix(): path for path in specs.glob("*/*/agreement-*.json")}


def without_equivalents(content: dict[str, Any]) -> dict[str, Any]:
    """A file's content without the list of equivalent mutants, which nobody needs but who reviews them."""
    return {name: each for name, each in content.items() if name != "equivalents"}


PACKED = {"adequacy.json.xz": adequacy, "agreement.json.xz": agreement}


class PackedFiles(BuildHookInterface):
    """Packs them; an editable install reads them where they are, and an sdist has them packed already."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._folder = Path(tempfile.mkdtemp())
        specs = Path(self.root, "specs")
        for name, find in PACKED.items():
            if (specs / name).exists():
                continue
            files = find(specs)
            if not files:
                continue
            contents = {
                key: without_equivalents(json.loads(path.read_bytes())) for key, path in files.items()
            }
            text = json.dumps(contents, separators=(",", ":"), sort_keys=True)
            packed = self._folder / name
            packed.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
            build_data["force_include"][str(packed)] = f"specs/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            shutil.rmtree(self._folder)
