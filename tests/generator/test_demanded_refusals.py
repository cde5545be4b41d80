"""Whoever answers an invalid call is blamed by words that say error or must, or beside ONNX's own checker.

Other words (should, shall, expected, accepted range) leave it open what a breach means: where the checker and
strict shape inference of ONNX take the call as well, it only has to be survived.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx
import pytest
from onnx.checker import ValidationError, check_model
from onnx.shape_inference import InferenceError, infer_shapes

from conformance.models.case_models import Form, build_model
from conformance.suite.cases import Case
from conformance.suite.suites import Suite, open_suite
from generator.making.suites.cache import default_suite
from specs.files.library import load_spec

FORMS: tuple[Form, ...] = ("inputs", "initializers")
PLAIN = frozenset({"must", "error", "invalid", "not allowed", "has to", "required"})
"""Words that leave no doubt."""


def is_refused_by_onnx(case: Case, valid_case: Case | None) -> bool:
    """Whether the checker or strict inference of the installed onnx refuses the call, in some form."""
    for form in FORMS:
        model = onnx.ModelProto.FromString(build_model(case, form, valid_case))
        try:
            check_model(model, full_check=True)
            infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        except (ValidationError, InferenceError):
            return True
    return False


def words_about(case: Case) -> set[str]:
    """The normative words of the passages that a case cites."""
    return {
        word
        for passage in load_spec(case.operator).prose
        for document, line in case.sources
        if passage.source.document == document
        and passage.source.line <= line < passage.source.line + max(passage.lines, 1)
        for word, _ in passage.normative
    }


def blamed_without_words(suite: Suite) -> Iterator[str]:
    """Cases that must be refused by no plain word, and that ONNX takes; what an operator lists is plain."""
    for case_id in suite.case_ids:
        if suite.entry(case_id)["demand"] != "refuse":
            continue
        case = suite.case(case_id)
        rule = case.constraint or ""
        if rule.endswith("_given") or rule.startswith("type_of_") or words_about(case) & PLAIN:
            continue
        if case.operator.domain.startswith("org."):
            continue  # documents whose words nobody marks, of operators that stand in no ONNX model
        valid = None if case.valid_case is None else suite.case(case.valid_case)
        if not is_refused_by_onnx(case, valid):
            yield f"{case_id} ({rule})"


@pytest.mark.slow
def test_nobody_is_blamed_for_answering_what_no_word_and_no_checker_rules_out() -> None:
    with open_suite(default_suite(lambda line: None)) as suite:
        assert list(blamed_without_words(suite)) == []
