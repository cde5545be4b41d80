"""YAML: scalar rules of version 1.2, lines, strictness, and the writer's round trip."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.yaml_files import load, load_file
from specs.files.yaml_writer import dump


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NO", "NO"),
        ("on", "on"),
        ("yes", "yes"),
        ("1e-3", 1e-3),
        ("1.0e5", 1e5),
        ("0o17", 15),
        ("017", 17),
        ("0x1F", 31),
        ("12:30:45", "12:30:45"),
        ("1_000", "1_000"),
        ("~", None),
        ("True", True),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("2001-01-01", "2001-01-01"),
        ("'1'", "1"),
        ("=", "="),
        ("<<", "<<"),
    ],
)
def test_scalars(text: str, value: object) -> None:
    found = load(f"key: {text}\n", "f")[0].value["key"]
    assert found == value
    assert type(found) is type(value)


def test_places_are_lines_and_columns() -> None:
    document = load("a:\n  - b: 1\n    c: [2, 3]\n", "file.yaml")[0]
    assert str(document.place(("a", 0, "c", 1))) == "file.yaml:3:12 at a[0].c[1]"
    assert str(document.place(("a", 0, "missing"))) == "file.yaml:2:5 at a[0].missing"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "same mapping"),
        ("a: &x 1\n", 1, "anchors"),
        ("a: 1\nb: *x\n", 2, "aliases"),
        ("a: !!python/object/apply:os.system [x]\n", 1, "tags"),
        ("a: [1\nb: 2\n", 2, "not YAML"),
        ("? [a, b]\n: 1\n", 1, "plain word"),
        ("a:\n\t- 1\n", 2, "not YAML"),
    ],
)
def test_refused(text: str, line: int, problem: str) -> None:
    with pytest.raises(SeveralErrors, match=problem) as caught:
        load(text, "f.yaml")
    where = caught.value.errors[0].where
    assert where is not None
    assert where.line == line


def test_every_duplicate_is_reported_at_once() -> None:
    with pytest.raises(SeveralErrors) as caught:
        load("a: 1\na: 2\nb: {c: 1, c: 2}\n", "f.yaml")
    assert len(caught.value.errors) == 2


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "- " * 50_000])
def test_depth_is_bounded(text: str) -> None:
    with pytest.raises(SeveralErrors):
        load(text, "f.yaml")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        load_file(tmp_path / "missing.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not a text"):
        load_file(tmp_path / "binary.yaml")


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), PLAIN, max_size=5))
def test_what_is_written_is_read_back(value: dict[str, Any]) -> None:
    text = dump(value)
    assert load(text, "f")[0].value == value
    assert dump(load(text, "f")[0].value) == text


def test_long_lists_are_wrapped() -> None:
    text = dump({"data": [float(each) for each in range(100)]})
    assert max(map(len, text.split("\n"))) <= 110
    assert load(text, "f")[0].value["data"] == list(range(100))
