"""Text and values for people: nothing rounds across a limit, nothing hidden stays hidden."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.suite.cases import ExpectedOutput
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.harmless import one_line, shown
from opcert.vocabulary.tensors import Tensor, tensor
from reports.results.told_facts import joined, short_names
from reports.single_cases.case_views import allowed_text
from reports.text.phrasing import duration, listed, moment, plural, ratio_text
from reports.text.value_text import attribute_text, element_text, shape_text, values_text
from tests.reports.sample import CROP_PAD, PAD, RESIZE_13, RESIZE_18


@given(st.text())
def test_shown_text_hides_nothing(text: str) -> None:
    said = shown(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", said)
    said.encode("utf-8")


def test_long_text_is_cut_and_says_so() -> None:
    said = shown("x" * 1_000_000)
    assert len(said) < 2100
    assert said.endswith("… (cut, 1,000,000 characters)")


def test_escapes_are_written_out() -> None:
    assert shown("a\x00b\u202ec\nd\te\r\nf") == "a\\x00b\\u202ec\nd\te\nf"
    assert one_line("a\n b   c") == "a b c"
    assert one_line("word " * 100, 9).endswith("…")


@given(st.floats(min_value=0, exclude_min=True, allow_nan=False))
def test_a_ratio_never_prints_on_the_other_side_of_the_limit(ratio: float) -> None:
    said = ratio_text(ratio)
    if ratio == float("inf"):
        assert said == "beyond any limit"
    elif ratio > 1:
        assert float(said.removesuffix(" ×").replace(",", "")) > 1
    elif ratio < 1:
        assert float(said) < 1


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (None, "not equal"),
        (0.0, "0"),
        (0.9996, "0.99"),
        (1.0, "1.00"),
        (1.04, "1.04 ×"),
        (1.6, "1.6 ×"),
        (38400.0, "38,400 ×"),
    ],
)
def test_ratios(ratio: float | None, said: str) -> None:
    assert ratio_text(ratio) == said


def test_counts_durations_and_lists() -> None:
    assert plural(1, "case") == "1 case"
    assert plural(2692, "case") == "2,692 cases"
    assert [duration(each) for each in (0.0004, 0.25, 2.34, 59.9, 171, 3840)] == [
        "0.4 ms",
        "250 ms",
        "2.3 s",
        "59 s",
        "2 min 51 s",
        "1 h 4 min",
    ]
    assert [listed(each) for each in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert moment("2026-11-18T06:40:12Z") == "2026-11-18 06:40 UTC"
    assert moment("<b>") == "<b>"


def test_operators_are_named_once_with_their_versions() -> None:
    assert (
        short_names([RESIZE_18, RESIZE_13, PAD, CROP_PAD])
        == "CenterCropPad-18; Resize-13, -18; com.microsoft Pad-1"
    )


@pytest.mark.parametrize(
    ("values", "element_type", "said"),
    [
        ([1.0, 2.5, -0.0, float("nan"), float("-inf")], "float", "1 2.5 -0 NaN -Inf"),
        ([0.1], "float16", "0.1"),
        ([0x3F80, 0x7FC0, 0xFF80], "bfloat16", "1 NaN -Inf"),
        ([0x38, 0x7F, 0x80], "float8e4m3fn", "1 NaN -0"),
        ([-8, 7], "int4", "-8 7"),
        ([-2, 1], "int2", "-2 1"),
        ([0x1, 0x8, 0xF], "float4e2m1", "0.5 -0 -6"),
        ([0x7E, 0x80, 0xFF], "float8e8m0", "0.5 2 NaN"),
        ([True, False], "bool", "true false"),
        ([1 + 2j, -1 - 1j], "complex64", "1+2i -1-1i"),
        ([2**64 - 1], "uint64", "18446744073709551615"),
        (["a b", "\x00"], "string", "'a b' '\\x00'"),
        ([], "float", "(no elements)"),
    ],
)
def test_values(values: list[object], element_type: str, said: str) -> None:
    assert values_text(tensor(values, element_type)) == said  # type: ignore[arg-type] # as people write them


def test_large_tensors_are_abbreviated_with_their_full_shape() -> None:
    large = tensor(np.arange(65, dtype=np.float32).reshape(1, 13, 5))
    assert shape_text(large) == "float [1, 13, 5]"
    assert values_text(large) == "0 1 2 3 4 5 6 7 8 9 … (65)"
    whole = tensor(np.arange(64, dtype=np.float32))
    assert values_text(whole) == " ".join(map(str, range(64)))


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_every_element_type_has_text(name: str) -> None:
    found = ELEMENT_TYPES[name]
    storage = np.zeros(3, dtype=found.storage)
    if found.kind == "string":
        storage[:] = [b"", b"x", b"\xff"]
    assert all(isinstance(element_text(each, found), str) for each in Tensor(found, storage).array)


def test_attributes_as_people_write_them() -> None:
    assert attribute_text("") == "(empty)"
    assert attribute_text(-0.75) == "-0.75"
    assert attribute_text((0, 1)) == "[0, 1]"
    assert attribute_text(tuple(range(99))).endswith("… (99)]")


def test_allowed_errors() -> None:
    wanted = tensor([1.0, 2.0], "float")

    def said(*allowed: float) -> str:
        return allowed_text(ExpectedOutput("Y", wanted, np.array(allowed)))

    assert allowed_text(ExpectedOutput("Y", wanted)) == "none: equal bits"
    assert said(0, 0) == "none"
    assert said(0.5, 0.5) == "0.5"
    assert said(0, 0.25) == "0 to 0.25, element by element"
    assert said(float("inf"), float("inf")) == "any value"


def test_places_name_each_file_once() -> None:
    assert joined(["a.rst:26", "a.rst:33", "a.rst:26", "b.rst:1:7"]) == "a.rst:26 and 33; b.rst:1:7"
    assert joined([]) == ""
