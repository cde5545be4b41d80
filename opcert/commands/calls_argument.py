"""A folder of calls where a suite is named: what must come out of them is worked out by the generator."""

from __future__ import annotations

from pathlib import Path


def is_folder_of_calls(path: Path) -> bool:
    """Whether a folder holds calls: JSON files, and no suite's manifest."""
    return path.is_dir() and not (path / "manifest.json").exists() and any(path.glob("*.json"))


def suite_of_calls(path: Path, specs: tuple[Path, ...] = ()) -> Path:
    """Make the suite of a folder of calls in the user's cache, and return its folder.

    Raises UserError for a call that cannot be read, or of which no document says what must come out.
    """
    from conformance.suite.kept_suites import keep_suite
    from generator.making.found_calls import write_suite_of_calls

    return keep_suite(lambda made: write_suite_of_calls(path, made, specs))
