from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import FAMILIES, CaseId, OperatorName, slug

WORD = st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,8}", fullmatch=True)
OPERATORS = st.builds(OperatorName, st.sampled_from(["ai.onnx", "com.microsoft", "org.tensorflow"]), WORD,
                      st.integers(1, 99))  # fmt: skip
CASES = st.builds(CaseId, OPERATORS, st.sampled_from(FAMILIES), st.none() | WORD,
                  st.from_regex(r"[0-9a-f]{12}", fullmatch=True))  # fmt: skip


@given(OPERATORS)
def test_operator_reads_back_from_both_spellings(operator: OperatorName) -> None:
    assert OperatorName.parse(str(operator)) == operator
    assert OperatorName.parse(operator.path) == operator


@given(CASES)
def test_case_id_reads_back(case: CaseId) -> None:
    assert CaseId.parse(str(case)) == case


@pytest.mark.parametrize("text", ["Resize", "ai.onnx::Resize", "ai.onnx:Resize-18", "", "../x::Resize-1"])
def test_wrong_operator_names_are_answered_with_an_example(text: str) -> None:
    with pytest.raises(UserError, match=r"ai\.onnx::Resize-18"):
        OperatorName.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "ai.onnx/Resize-18/cover/123",
        "ai.onnx/Resize-18/nothing/0123456789ab",
        "../Resize-18/cover/0123456789ab",
        "ai.onnx/Resize-18/cover/../0123456789ab",
    ],
)
def test_wrong_case_ids_are_refused(text: str) -> None:
    with pytest.raises(UserError):
        CaseId.parse(text)


def test_newer_versions_come_first_within_an_operator() -> None:
    names = [OperatorName.parse(f"ai.onnx::Resize-{version}") for version in (10, 18, 13)]
    assert [name.since_version for name in sorted(names)] == [18, 13, 10]


@given(st.text())
def test_slug_is_one_safe_path_component(text: str) -> None:
    made = slug(text)
    assert made
    assert "/" not in made
    assert made not in (".", "..")
    assert made.isascii()
