"""Outputs of a model held against what they must be, and against what others give."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from conformance.checked_models.output_distances import Apart, apart
from conformance.checked_models.whole_model import Against, OutputNumbers, OutputVerdict
from conformance.judging.output_comparison import compare_output
from conformance.suite.cases import ExpectedOutput
from generator.models.check.pushed_bounds import is_bounded
from generator.models.check.reference_run import Referenced
from opcert.vocabulary.tensors import Tensor


def hold_output(name: str, got: Tensor, wanted: Referenced, step: float | None = None) -> OutputNumbers:
    """An output beside what the references say that it must be, under the option that it is nearest to.

    `step` is that of `apart`.
    """
    if not wanted.values:
        return OutputNumbers(name, "references", "unknown", reason=wanted.why)
    found = [_hold(name, got, each, wanted, step) for each in wanted.values]
    order: Mapping[OutputVerdict, int] = {
        "right": 0,
        "same": 1,
        "near": 2,
        "unknown": 3,
        "far": 4,
        "wrong": 5,
    }
    return min(found, key=lambda each: order[each.verdict])


def _hold(
    name: str, got: Tensor, wanted: ExpectedOutput, whole: Referenced, step: float | None
) -> OutputNumbers:
    compared = compare_output(wanted, got)
    distance = apart(wanted.expected, got, step)
    bounded = int(np.count_nonzero(is_bounded(wanted)))
    if isinstance(distance, str):
        return OutputNumbers(name, "references", "wrong", reason=distance)
    worst = compared.worst
    over = None if worst is None else float("inf") if worst.ratio is None else worst.ratio
    if compared.difference is not None:
        return OutputNumbers(name, "references", "wrong", distance, over, bounded, whole.loose)
    if bounded < distance.of_elements:
        return OutputNumbers(name, "references", _verdict(distance), distance, None, bounded, whole.loose)
    if whole.is_wide and distance.is_far:
        return OutputNumbers(name, "references", "far", distance, over, bounded, "its bound is a wide one")
    return OutputNumbers(name, "references", "right", distance, over, bounded)


def beside(
    name: str, one: Tensor, other: Tensor, against: Against, label: str = "", step: float | None = None
) -> OutputNumbers:
    """An output beside the same of another run; the second is the one that is held against it."""
    distance = apart(other, one, step)
    if isinstance(distance, str):
        return OutputNumbers(name, against, "far", reason=distance, beside=label)
    return OutputNumbers(name, against, _verdict(distance), distance, beside=label)


def _verdict(distance: Apart) -> OutputVerdict:
    return "same" if not distance.elements else "far" if distance.is_far else "near"
