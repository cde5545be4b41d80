"""Which build of a package is installed: the name of its archive, and a digest that tells it from others."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_ADDED = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json")
"""What installers put into a wheel's folder of facts themselves."""


def find_wheel(environment: Path, package: str) -> Mapping[str, str] | None:
    """The `file` and `contents` of an installed wheel; None where it cannot be told.

    `contents` is the SHA-256 of the lines `path,hash` of the wheel's own RECORD, sorted, each with a line
    feed: without what an installer adds, so that everybody who has the wheel works out the same.
    """
    with suppress(OSError, ValueError, csv.Error):
        for facts in environment.glob("lib*/python*/site-packages/*.dist-info"):
            name, _, version = facts.name.removesuffix(".dist-info").partition("-")
            if _alike(name) != _alike(package):
                continue
            lines = (facts / "WHEEL").read_text("utf-8").splitlines()
            tags = [line.removeprefix("Tag: ").split("-") for line in lines if line.startswith("Tag: ")]
            parts = [".".join(dict.fromkeys(part)) for part in zip(*tags, strict=True)]
            file = "-".join([name, version, *parts])
            return {"file": f"{file}.whl", "contents": _contents(facts)}
    return None


def find_node_package(environment: Path, package: str) -> Mapping[str, str] | None:
    """The `file` of an installed package of npm, and the `integrity` that the registry gives of it."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        listed = json.loads((environment / "package-lock.json").read_text("utf-8"))["packages"]
        found = listed[f"node_modules/{package}"]
        file = f"{package.removeprefix('@').replace('/', '-')}-{found['version']}.tgz"
        return {"file": file, "integrity": str(found["integrity"])}
    return None


def _contents(facts: Path) -> str:
    lines = []
    with (facts / "RECORD").open(encoding="utf-8", newline="") as file:
        for path, digest, *_ in csv.reader(file):
            added = path.startswith("../") or path.endswith(".pyc")
            if digest and not added and path not in {f"{facts.name}/{name}" for name in _ADDED}:
                lines.append(f"{path},{digest}\n")
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


def _alike(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
