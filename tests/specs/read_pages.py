"""Pages with many operators, read once for all the tests that look at them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from specs.documents.text.documents import read_document
from specs.importers import import_text
from specs.model.spec import Spec


@cache
def read_specs(page: Path) -> tuple[Spec, ...]:
    """Every operator version of a page."""
    return tuple(import_text(read_document(page)))
