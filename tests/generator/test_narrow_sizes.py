"""Narrow windows, filters beside each other, middle axes, many axes and mechanisms alone, at kernel sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from generator.calls.sizes.plans import plans_of
from generator.calls.sizes.roles import roles_of
from generator.calls.space.space import open_space
from opcert.vocabulary.names import OperatorName
from specs.files.library import load_spec
from tests.generator.test_kernel_sizes import (
    Array,
    Kernel,
    cases_of,
    conv,
    failing,
)


def reduction(reduce: Callable[..., Array]) -> Kernel:
    """A reduction along the axes of its second input."""

    def reduced(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
        axes = tuple(int(each) for each in given[1]) if len(given) > 1 else None
        if axes is None and attributes.get("noop_with_empty_axes", 0):
            axes = ()
        return np.asarray(reduce(given[0], axis=axes, keepdims=bool(attributes.get("keepdims", 1))))

    return reduced


def of_first(kernel: Kernel) -> Kernel:
    """The kernel on a tensor of three axes of which the first is taken for the one that is asked for."""

    def changed(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
        if len(given) < 2 or given[0].ndim != 3 or given[1].tolist() in ([0], [-3]):
            return kernel(given, attributes)
        X = given[0].reshape(given[0].shape[int(given[1][0])], -1)
        made = kernel(given, attributes)
        turned = kernel([X, np.array([0])], attributes).reshape(-1)
        return np.resize(turned, made.shape)

    return changed


REDUCTIONS: Mapping[str, Kernel] = {
    "ReduceSum-13": reduction(np.sum),
    "ReduceMean-18": reduction(np.mean),
    "ReduceMax-20": reduction(np.max),
    "ReduceMin-20": reduction(np.min),
    "ReduceProd-18": reduction(np.prod),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_an_axis_between_others_is_told_from_the_first(name: str) -> None:
    words = {str(case.id.word) for case in cases_of(name) if case.element_type.name == "float"}
    assert {f"scanned_{each}" for each in ("33_of_33x5x2", "64_of_3x64x2", "65_of_65x2x3")} <= words
    assert set(failing(name, of_first(REDUCTIONS[name]))) >= {
        "scanned_64_of_3x64x2",
        "scanned_129_of_2x129x3",
    }


def scatter(given: Sequence[Array], attributes: Mapping[str, Any], folded: bool = False) -> Array:
    """ScatterElements; folded, axes before the last three are one, counted as those of the indices."""
    data, indices, updates = given
    axis = attributes.get("axis", 0) % data.ndim
    made = np.array(data)
    if folded and data.ndim > 4 and axis >= data.ndim - 3:
        axis -= data.ndim - 4
        made, indices = made.reshape(-1, *data.shape[-3:]), indices.reshape(-1, *indices.shape[-3:])
        updates = updates.reshape(indices.shape)
    for at in np.ndindex(indices.shape):
        place = list(at)
        place[axis] = indices[at]
        made[tuple(place)] = updates[at]
    return made.reshape(data.shape)


def test_scattering_over_many_axes_is_right_or_noticed() -> None:
    plain = [word for word in failing("ScatterElements-18", scatter) if not word.startswith("specials")]
    assert not plain
    assert any(word.startswith("rank") for word in failing("ScatterElements-18", _folded))


def _folded(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    return scatter(given, attributes, folded=True)


def _windows(when: Callable[[Array, Array, int], bool], change: Callable[[Array], Array]) -> Kernel:
    """A convolution that is changed where channels are computed one by one and something holds."""

    def changed(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
        X, W, group = *given[:2], attributes.get("group", 1)
        made = conv(given, attributes)
        return change(np.array(made)) if group == X.shape[1] > 1 and when(X, W, group) else made

    return changed


WINDOWS: Mapping[str, Kernel] = {
    "filters of a channel dealt out in turn": _windows(
        lambda X, W, group: len(W) == 2 * group and W.shape[2:] == (3, 3),
        lambda made: made[:, [*range(0, made.shape[1], 2), *range(1, made.shape[1], 2)]],
    ),
    "a column": _windows(lambda X, W, group: W.shape[2:] == (5, 1), lambda made: made * 0),
    "a row": _windows(lambda X, W, group: W.shape[2:] == (1, 5), lambda made: made * 0),
    "a short column": _windows(lambda X, W, group: W.shape[2:] == (3, 1), lambda made: made * 0),
    "less than a window": _windows(
        lambda X, W, group: X.ndim == 4 and X.shape[2] < W.shape[2] and X.shape[3] < W.shape[3],
        lambda made: made * 0,
    ),
}


@pytest.mark.parametrize("mistake", WINDOWS)
def test_a_narrow_window_that_is_wrong_is_noticed(mistake: str) -> None:
    assert failing("Conv-22", WINDOWS[mistake])


@pytest.mark.parametrize("name", ["Conv-22", "MatMul-13", "Gemm-13", "Einsum-28", "Softmax-13"])
def test_what_comes_in_another_type_comes_in_float_too(name: str) -> None:
    by_type: dict[str, set[str]] = {"float": set(), "others": set()}
    for case in cases_of(name):
        by_type["float" if case.element_type.name == "float" else "others"].add(str(case.id.word))
    rest = {each for each in by_type["others"] if f"{each}_in_float" not in by_type["float"]}
    assert by_type["others"] - rest
    assert not {each for each in rest if each.startswith(("inner", "channels", "scanned"))}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ai.onnx::Attention-25", ("softcap_2", "is_causal_1", "attn_mask_mixed", "left_window_size_high")),
        ("ai.onnx::LSTM-22", ("direction_reverse", "clip_4", "P_given")),
        ("ai.onnx.preview::FlexAttention-1", ("score_mod_added", "scale_0.25")),
    ],
)
def test_each_mechanism_is_asked_for_alone(name: str, words: Sequence[str]) -> None:
    space = open_space(load_spec(OperatorName.parse(name)))
    alone = {plan.word for plan in plans_of(space, roles_of(space)) if plan.alone}
    assert all(any(each.startswith(f"alone_{word}_") for each in alone) for word in words)


def long_window(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """A convolution that forgets the elements of a window behind the sixteenth, along each axis."""
    W = np.array(given[1])
    for axis in range(2, W.ndim):
        W[(slice(None),) * axis + (slice(15, None),)] = 0
    return conv([given[0], W, *given[2:]], attributes)


def test_windows_are_as_long_as_those_of_models() -> None:
    """A patch of a picture, and windows of speech: grouped, along each channel, and causal."""
    assert set(failing("Conv-22", conv)) == set()
    assert set(failing("Conv-22", long_window)) >= {
        "channels_3_to_8_kernel_16x16_strides_16x16",
        "channels_17_to_17_depthwise_kernel_31_padded",
        "channels_4_to_4_in_2_groups_kernel_128_padded",
    }
    spread = {str(case.id.word) for case in cases_of("ConvTranspose-22")}
    assert "channels_33_to_4_kernel_4x4_strides_2x2_padded" in spread
