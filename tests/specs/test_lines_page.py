"""docs/lines.md: what it says of now is what `benchmarks.lines` counts now."""

from __future__ import annotations

from pathlib import Path

from benchmarks.lines import all_now, count_lines, nine_now


def test_the_page_says_what_is_counted(repository: Path) -> None:
    text = (repository / "docs" / "lines.md").read_text(encoding="utf-8")
    wanted = "\n".join([*nine_now(), "", all_now()])
    assert wanted in text, "write what `python -m benchmarks.lines` prints into docs/lines.md"


def test_empty_lines_and_comments_are_not_counted() -> None:
    assert count_lines("# one\n\nshapes: {}  # two\n  # three\nkinds:\n  \n") == 2
