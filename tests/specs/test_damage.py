"""Damaged documents: no crash, and no fact that silently changes."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from specs.documents.text.documents import Text, decode
from specs.files.imported_files import plain_layer
from specs.importers import import_text, importers
from specs.model.spec import Spec
from tests.growth import LINEAR, growth

FRAGMENT = OperatorName.parse("org.tensorflow::BatchToSpaceND-1")
PAGE_OF_X = "_l-onnx-x\nX - 1\n=====\n* **since_version**: **1**"
LINE_OF_X = "_l-onnx-x X - 1 ===== **Version** * **name** * **since_version**: **1**"
FIRST_PAGES = (
    "000_a879288b2471f5e3.txt",
    "001_b77fe3e618f24325.txt",
    "002_9bf136dd4443dc44.txt",
    "003_93eb874b53beb9d9.txt",
    "004_461a3d04fa574ae4.txt",
)


def _raw(first_pages: Path, name: str) -> bytes:
    return (first_pages / name).read_bytes()


def _import(raw: bytes, name: str) -> list[Spec]:
    return import_text(decode(raw, name), FRAGMENT if name.startswith("002") else None)


def _facts(specs: list[Spec]) -> list[dict[str, Any]]:
    """Everything but the digest of the file."""
    plain = [plain_layer(spec, "d1") for spec in specs]
    for each in plain:
        each["documents"]["d1"].pop("sha256")
    return plain


@pytest.mark.parametrize("name", FIRST_PAGES)
@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw.replace(b"\n", b"\r\n"),
        lambda raw: b"\xef\xbb\xbf" + raw,
        lambda raw: b"\n".join(word + b"  " for word in raw.split(b"\n")),
        lambda raw: raw + b"\n\n\n",
        lambda raw: raw.replace(b"\n", b"\r"),
    ],
    ids=["crlf", "byte-order-mark", "trailing-spaces", "empty-lines", "old-mac"],
)
def test_harmless_damage_changes_no_fact(first_pages: Path, name: str, damage: Any) -> None:
    raw = _raw(first_pages, name)
    if name.startswith("001") and damage(b"a\nb") == b"a  \nb  ":
        raw = raw.rstrip(b"\n")
    assert _facts(_import(damage(raw), name)) == _facts(_import(raw, name))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(FIRST_PAGES), share=st.floats(0, 1))
def test_truncation_never_crashes(first_pages: Path, name: str, share: float) -> None:
    raw = _raw(first_pages, name)
    try:
        specs = _import(raw[: int(len(raw) * share)], name)
    except UserError:
        return
    for spec in specs:
        plain_layer(spec, "d1")


@pytest.mark.nightly
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), name=st.sampled_from(FIRST_PAGES))
def test_lines_removed_doubled_or_shuffled_never_crash(
    first_pages: Path, data: st.DataObject, name: str
) -> None:
    lines = _raw(first_pages, name).decode().split("\n")
    separator = "\n"
    if len(lines) < 3:
        lines, separator = lines[0].split(" "), " "
    start = data.draw(st.integers(0, len(lines) - 1))
    end = data.draw(st.integers(start, min(start + 40, len(lines))))
    piece = lines[start:end]
    kind = data.draw(st.sampled_from(["remove", "double", "reverse", "move"]))
    if kind == "remove":
        lines[start:end] = []
    elif kind == "double":
        lines[start:end] = piece * 2
    elif kind == "reverse":
        lines[start:end] = piece[::-1]
    else:
        lines[start:end] = []
        position = data.draw(st.integers(0, len(lines)))
        lines[position:position] = piece
    try:
        specs = _import(separator.join(lines).encode(), name)
    except UserError:
        return
    for spec in specs:
        plain_layer(spec, "d1")


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_refused_or_read(content: str) -> None:
    text = Text("some.txt", content, "00")
    for importer in importers():
        assert 0 <= importer.recognise(text) <= 1
        try:
            importer.read(text, FRAGMENT)
        except UserError:
            continue


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("before", "repeated", "behind", "times"),
    [
        ("", "* ", "", 50_000),
        ("", "[", "", 100_000),
        ("**Versioned name**: *X-1*\n\n===\n\n**Attributes**\n\n", "* *a*\n  * **Type**: int\n", "", 2500),
        (f"{PAGE_OF_X}\n**Summary**\n", "`a = (b + ", "", 10_000),
        (f"{PAGE_OF_X}\n**Summary**\n", "if mode is ", "", 10_000),
        (f"{LINE_OF_X} **Examples** **_a** :: ", "x = (", "", 10_000),
        ("crops\n|\nA Tensor . ", "For the following input of shape [", "\n|", 2500),
        ("# op: X\n\nArgs:\n  x: A `Tensor`. ", "[", "", 50_000),
        ("", "<!DOCTYPE x [<!ENTITY a 'aaaa'>]>&a;", "", 500),
    ],
    ids=range(9),
)
def test_hostile_documents_take_time_in_proportion(
    before: str, repeated: str, behind: str, times: int
) -> None:
    assert growth(lambda size: _read_by_all(before + repeated * size + behind), times) <= LINEAR


def test_nested_lists_take_time_in_proportion_to_their_letters() -> None:
    """Twice the letters are about the square root of two times the levels."""

    def work(letters: int) -> Callable[[], None]:
        return _read_by_all("".join("  " * depth + "* *x*\n" for depth in range(math.isqrt(letters))))

    assert growth(work, 45_000) <= LINEAR


def _read_by_all(content: str) -> Callable[[], None]:
    text = Text("hostile.txt", content, "00")

    def read() -> None:
        for importer in importers():
            with suppress(UserError):
                importer.read(text, FRAGMENT)

    return read


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"\x89PNG\r\n\x1a\n\xff", "no text"),
        (b"abc\x00def", "no text"),
        (b"Just a letter to a friend.\n", "no operator page"),
    ],
)
def test_what_is_no_operator_page(raw: bytes, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        import_text(decode(raw, "letter.txt"))


def test_html_entities_change_no_fact(first_pages: Path) -> None:
    """The same page with its entities replaced states the same, and has one finding less."""
    raw = _raw(first_pages, FIRST_PAGES[0])
    clean = raw.replace(b"&#39;", b"'").replace(b"&#34;", b'"')
    (damaged,), (whole,) = _import(raw, FIRST_PAGES[0]), _import(clean, FIRST_PAGES[0])
    assert "html-escape" not in [finding.code for finding in whole.findings]
    without = [finding for finding in damaged.findings if finding.code != "html-escape"]
    assert _facts([replace(damaged, findings=tuple(without))]) == _facts([whole])
