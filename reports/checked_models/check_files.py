"""The files that a check writes, by the names of their formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from reports.checked_models import check_json, check_junit, check_markdown, check_page, check_sarif
from reports.checked_models.model_check import ModelCheck

WRITERS: Mapping[str, Callable[[ModelCheck, Path], Path]] = {
    "html": check_page.write,
    "json": check_json.write,
    "sarif": check_sarif.write,
    "markdown": check_markdown.write,
    "junit": check_junit.write,
}


def write_check(check: ModelCheck, formats: tuple[str, ...], folder: Path) -> dict[str, Path]:
    """Write a check in some formats; returns the file of each. UserError where it cannot be written."""
    return {name: WRITERS[name](check, folder) for name in dict.fromkeys(formats)}
