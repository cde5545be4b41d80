"""Puts beside a run what its operators do, as their rooms say it: reports see no specs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reports.results.case_results import Results


def with_groups(results: Results, folders: tuple[Path, ...] = ()) -> Results:
    """The results with the headings of the groups that their operators are in."""
    from specs.operator_groups import group_headings

    return replace(results, groups=group_headings(results.by_operator, folders))
