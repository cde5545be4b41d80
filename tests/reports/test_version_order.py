"""Versions are put in the order in which a runtime's people count them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reports.sites.kept_runs import version_key

RISING = (
    "unknown", "0.9", "1.0.dev3", "1.0a1", "1.0b2", "1.0rc1", "1.0rc2", "1.0", "1.0+cpu", "1.0.post1",
    "1.0.1", "v1.9.0", "1.10.0rc1", "1.10.0", "1.20.1", "1.32.0",
    "2024.6.0-17404-4c0f47d2335-releases/2024/6", "2026.4.1-21000-abc",
)  # fmt: skip


def test_the_order_is_the_people_s() -> None:
    falling = [*RISING]
    falling.reverse()
    assert sorted(falling, key=version_key) == list(RISING)


@given(st.lists(st.lists(st.integers(0, 300), min_size=3, max_size=3)))
def test_numbers_are_sorted_by_value(versions: list[list[int]]) -> None:
    texts = [".".join(map(str, version)) for version in versions]
    assert sorted(texts, key=version_key) == [".".join(map(str, version)) for version in sorted(versions)]


@given(st.text())
def test_any_text_has_a_place(text: str) -> None:
    assert version_key(text) <= version_key(text + "+local") or "+" in text or text != text.strip()
