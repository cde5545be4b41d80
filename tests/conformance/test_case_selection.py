"""What -k and waivers mean: operators by their names, and never by a part of another's name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.suite.case_selection import find_case_begin, nothing_selected, select_cases, selects
from opcert.vocabulary.names import CaseId
from reports.gates.profiles import Waiver
from reports.results.case_results import CaseResult

CROP = "ai.onnx/CenterCropPad-18/cover/0123456789ab"
OLD_CROP = "ai.onnx/CenterCropPad-1/cover/Pad-0123456789ac"
PAD = "com.microsoft/Pad-1/cover/0123456789ad"
PAD_TIES = "com.microsoft/Pad-1/boundary/int8_ties-0123456789ae"
ONNX_PAD = "ai.onnx/Pad-18/boundary/int8_ties-0123456789af"
CASES = (CROP, OLD_CROP, PAD, PAD_TIES, ONNX_PAD)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Pad-1", [PAD, PAD_TIES]),
        ("Pad", [PAD, PAD_TIES, ONNX_PAD]),
        ("com.microsoft::Pad", [PAD, PAD_TIES]),
        ("com.microsoft", [PAD, PAD_TIES]),
        ("ai.onnx/", [CROP, OLD_CROP, ONNX_PAD]),
        ("CenterCropPad-18", [CROP]),
        ("ai.onnx/CenterCropPad-18/cover/0123", [CROP]),
        ("Pad-1/cover", [PAD]),
        ("Pad/boundary/int8", [PAD_TIES, ONNX_PAD]),
        ("ties", [PAD_TIES, ONNX_PAD]),
        ("/boundary/", [PAD_TIES, ONNX_PAD]),
        ("cover/", [CROP, OLD_CROP, PAD]),
        ("*Pad-1/*", [OLD_CROP, PAD, PAD_TIES]),
        (PAD, [PAD]),
        ("Crop", []),
        ("ad-1", []),
        ("CropPad-18/cover", []),
    ],
)
def test_what_a_text_means(text: str, meant: list[str]) -> None:
    assert list(select_cases(text, CASES)) == meant


@given(st.text(alphabet="aCPd-1/:.*x", max_size=12))
def test_a_selected_case_is_meant_by_itself_and_order_is_kept(text: str) -> None:
    chosen = select_cases(text, CASES)
    assert [each for each in CASES if each in chosen] == list(chosen)
    assert all(selects(text, each) for each in chosen)


@pytest.mark.parametrize(
    ("text", "begin"),
    [
        ("Pad", ""),
        ("ai.onnx::Pad-18/boundary/int8", "boundary/int8"),
        ("ai.onnx", ""),
        ("Pad-1", None),
        ("com.microsoft::Pad", None),
        ("boundary", None),
    ],
)
def test_an_operator_is_named_before_its_cases_are_there(text: str, begin: str | None) -> None:
    assert find_case_begin(text, "ai.onnx", "Pad-18") == begin


def test_a_waiver_covers_the_operator_that_it_names() -> None:
    plain = {"reason": "r", "link": "https://example.org", "expires": "2027-01-01", "cases": "Pad-1"}
    waiver = Waiver.model_validate(plain)
    crashes = [
        CaseResult(CaseId.parse(each), "float", "answer", None, {}, (0, 0, 0), "crash", None, ())
        for each in (CROP, PAD, ONNX_PAD)
    ]
    assert [str(crash.id) for crash in crashes if waiver.covers(crash)] == [PAD]


def test_who_names_nothing_is_told_what_is_near() -> None:
    error = str(nothing_selected("CentrCropPad/cover", CASES, "suite"))
    assert "perhaps CenterCropPad" in error
    assert "perhaps" not in str(nothing_selected("zzzz", CASES, "suite"))
