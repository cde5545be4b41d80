"""Kernels that go wrong in blocks, tiles, tails, batches, ranks and groups are noticed where that shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.judging.verdicts import FAILING
from conformance.suite.cases import Case
from conformance.suite.values import decode_floats
from generator.calls.sizes.roles import roles_of
from generator.calls.space.space import open_space
from generator.making.cases.sized_cases import add_kernel_sizes, add_narrow_stages
from generator.making.operators.workshop import Options, open_workshop
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode
from specs.files.library import load_spec

Array = NDArray[Any]
Kernel = Callable[[Sequence[Array], Mapping[str, Any]], Array]
LANES, TILE = 16, 32


@cache
def cases_of(name: str) -> tuple[Case, ...]:
    workshop = open_workshop(OperatorName.parse(f"ai.onnx::{name}"), Options())
    add_kernel_sizes(workshop)
    return tuple(workshop.cases.values())


def failing(name: str, kernel: Kernel) -> list[str]:
    """The words of cases of plain types that a kernel fails."""
    found = []
    for case in cases_of(name):
        if case.element_type.name not in ("float", "double", "int32", "int64", "uint8", "int8"):
            continue
        given = [numbers(tensor) for _, tensor in case.inputs if tensor is not None]
        attributes = {key: attribute.value for key, attribute in case.attributes.items()}
        made = kernel(given, attributes)
        kind = case.expectations[0].outputs[0].expected.element_type
        elements = (
            made.astype(kind.storage) if kind.layout is None else encode(kind, made.reshape(-1).tolist())
        )
        answer = Answered((Tensor(kind, np.asarray(elements).reshape(made.shape)),))
        if judge(case, answer).verdict in FAILING:
            found.append(str(case.id.word))
    return found


def numbers(given: Tensor) -> Array:
    kind = given.element_type
    return given.array.astype(np.int64) if kind.layout is None else decode_floats(kind, given.array)


def matmul(given: Sequence[Array], _: Mapping[str, Any]) -> Array:
    return np.asarray(np.matmul(given[0], given[1]))


def gemm(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    A = given[0].T if attributes.get("transA") else given[0]
    B = given[1].T if attributes.get("transB") else given[1]
    made = attributes.get("alpha", 1) * (A @ B)
    return np.asarray(made + attributes.get("beta", 1) * given[2] if len(given) > 2 else made)


def conv(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    X, W = given[:2]
    rank, group = X.ndim - 2, attributes.get("group", 1)
    pads = attributes.get("pads", (0,) * 2 * rank)
    strides, dilations = attributes.get("strides", (1,) * rank), attributes.get("dilations", (1,) * rank)
    X = np.pad(X, [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:], strict=True)])
    reach = [(extent - 1) * step + 1 for extent, step in zip(W.shape[2:], dilations, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(X, reach, tuple(range(2, 2 + rank)))
    steps = tuple(slice(None, None, stride) for stride in strides)
    taps = tuple(slice(None, None, dilation) for dilation in dilations)
    windows = windows[(slice(None), slice(None), *steps, *taps)]
    parts = []
    for at in range(group):
        own = windows[:, at * W.shape[1] : (at + 1) * W.shape[1]]
        filters = W[at * len(W) // group : (at + 1) * len(W) // group]
        inside = list(range(2 + rank, 2 + 2 * rank))
        parts.append(np.moveaxis(np.tensordot(own, filters, ([1, *inside], list(range(1, 2 + rank)))), -1, 1))
    made = np.concatenate(parts, axis=1)
    return made + given[2].reshape(1, -1, *[1] * rank) if len(given) > 2 else made


def along(given: Sequence[Array], attributes: Mapping[str, Any]) -> tuple[Array, int]:
    return given[0], int(attributes.get("axis", -1))


def softmax(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    X, axis = along(given, attributes)
    raised = np.exp(X - X.max(axis=axis, keepdims=True))
    return np.asarray(raised / raised.sum(axis=axis, keepdims=True))


def reduce_sum(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    axes = tuple(int(each) for each in given[1]) if len(given) > 1 else None
    if axes is None and attributes.get("noop_with_empty_axes", 0):
        return given[0]
    return np.asarray(given[0].sum(axis=axes, keepdims=bool(attributes.get("keepdims", 1))))


def argmax(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    axis = int(attributes.get("axis", 0))
    X = np.moveaxis(given[0], axis, -1)
    last = attributes.get("select_last_index", 0)
    found = X.shape[-1] - 1 - X[..., ::-1].argmax(-1) if last else X.argmax(-1)
    return np.asarray(np.expand_dims(found, axis) if attributes.get("keepdims", 1) else found)


def transpose(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    return np.transpose(given[0], attributes.get("perm"))


def add(given: Sequence[Array], _: Mapping[str, Any]) -> Array:
    return np.asarray(given[0] + given[1])


def concat(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    return np.concatenate(given, axis=attributes["axis"])


def gather(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    return np.asarray(np.take(given[0], given[1].astype(np.int64), axis=attributes.get("axis", 0)))


def cumsum(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    axis = int(given[1])
    X = np.flip(given[0], axis) if attributes.get("reverse", 0) else given[0]
    made = X.cumsum(axis) - (X if attributes.get("exclusive", 0) else 0)
    return np.asarray(np.flip(made, axis) if attributes.get("reverse", 0) else made)


def global_max(given: Sequence[Array], _: Mapping[str, Any]) -> Array:
    return np.asarray(given[0].max(axis=tuple(range(2, given[0].ndim)), keepdims=True))


KERNELS: Mapping[str, Kernel] = {
    "MatMul-13": matmul,
    "Gemm-13": gemm,
    "Conv-22": conv,
    "Softmax-13": softmax,
    "ReduceSum-13": reduce_sum,
    "ArgMax-13": argmax,
    "Transpose-25": transpose,
    "Add-14": add,
    "Concat-13": concat,
    "Gather-13": gather,
    "CumSum-14": cumsum,
    "GlobalMaxPool-22": global_max,
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_that_is_right_passes(name: str) -> None:
    assert failing(name, KERNELS[name]) == []


def cut(array: Array, axis: int, keep: slice) -> Array:
    return array[(*[slice(None)] * (axis % array.ndim), keep)]


def on_inner(name: str, change: Callable[[Array, int], Array]) -> Kernel:
    """The kernel on operands whose axis that is summed over is changed in both."""
    kernel = KERNELS[name]

    def changed(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
        first = -2 if attributes.get("transA") else -1
        second = -1 if attributes.get("transB") else -2
        if name.startswith("Conv"):
            first, second = 1, 1
        return kernel([change(given[0], first), change(given[1], second), *given[2:]], attributes)

    return changed


def zeroed(array: Array, axis: int, places: slice | list[int]) -> Array:
    made = np.array(array)
    np.moveaxis(made, axis, 0)[places] = 0
    return made


def without_rest(array: Array, axis: int) -> Array:
    """What is left over of whole vectors is left out."""
    length = array.shape[axis]
    rest = length % LANES if length > LANES else 0
    return zeroed(array, axis, slice(length - rest, length) if rest else [])


def without_last(array: Array, axis: int) -> Array:
    return zeroed(array, axis, [-1] if array.shape[axis] > TILE else [])


def beyond_a_block(array: Array, axis: int) -> Array:
    return zeroed(array, axis, slice(256, None))


def tile_row(made: Array) -> Array:
    """The last row of a tile holds that of the tile before."""
    if made.ndim < 2 or made.shape[-2] <= TILE:
        return made
    changed = np.array(made)
    changed[..., TILE, :] = made[..., TILE - 1, :]
    return changed


def third_batch(made: Array) -> Array:
    if made.ndim < 3 or made.shape[0] < 3:
        return made
    changed = np.array(made)
    changed[2] = made[1]
    return changed


def rest_of_columns(made: Array) -> Array:
    length = made.shape[-1] if made.ndim else 0
    if length <= LANES or not length % LANES:
        return made
    changed = np.array(made)
    changed[..., length - length % LANES :] = made[..., :1]
    return changed


def after(name: str, change: Callable[[Array], Array]) -> Kernel:
    return lambda given, attributes: change(KERNELS[name](given, attributes))


def before(name: str, change: Callable[[Array, int], Array]) -> Kernel:
    """The kernel on a first input that is changed along the axis that it goes along."""

    def changed(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
        axes = [int(attributes.get("axis", 0 if name.startswith("ArgMax") else -1))]
        if name.startswith(("ReduceSum", "CumSum")):
            axes = [int(each) for each in np.reshape(given[1], -1)] if len(given) > 1 else []
        if name.startswith("Global"):
            axes = list(range(2, given[0].ndim))
        X = given[0]
        for axis in axes:
            X = change(X, axis)
        return KERNELS[name]([X, *given[1:]], attributes)

    return changed


def lowest_rest(array: Array, axis: int) -> Array:
    """What is left over of whole vectors is not looked at."""
    length = array.shape[axis]
    made = np.array(array)
    if length > LANES and length % LANES:
        np.moveaxis(made, axis, 0)[length - length % LANES :] = array.min()
    return made


def first_of_rest(array: Array, axis: int) -> Array:
    made = np.array(array)
    if array.shape[axis] > TILE:
        np.moveaxis(made, axis, 0)[TILE] = np.moveaxis(array, axis, 0)[TILE - 1]
    return made


def rank_four(name: str) -> Kernel:
    """The kernel with axes in front of the last four folded into one, of which one is looked at."""

    def changed(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
        made = np.array(KERNELS[name](given, attributes))
        if made.ndim > 4:
            made[1:] = made[:1]
        return made

    return changed


def mixed_groups(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """Filters of groups that are dealt out in turn."""
    group, W = attributes.get("group", 1), given[1]
    order = np.arange(len(W)).reshape(group, -1).T.reshape(-1)
    return conv([given[0], W[order], *given[2:]], attributes)


def blocked_transpose(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """What lies beyond whole blocks of the last axis stays where it was."""
    made = np.array(transpose(given, attributes))
    if made.ndim == 2 and made.shape[-1] > TILE and made.shape[-1] % TILE:
        made[:, -(made.shape[-1] % TILE) :] = 0
    return made


def early_tie(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """Blocks of 32 of which a later one wins where both have the greatest element."""
    axis = int(attributes.get("axis", 0))
    X = np.moveaxis(given[0], axis, -1)
    if attributes.get("select_last_index", 0) or X.shape[-1] <= TILE:
        return argmax(given, attributes)
    blocks = [X[..., at : at + TILE] for at in range(0, X.shape[-1], TILE)]
    tops = np.stack([block.max(-1) for block in blocks], -1)
    last = tops.shape[-1] - 1 - tops[..., ::-1].argmax(-1)
    inside = np.stack([block.argmax(-1) for block in blocks], -1)
    found = np.take_along_axis(inside, last[..., None], -1)[..., 0] + TILE * last
    return np.asarray(np.expand_dims(found, axis) if attributes.get("keepdims", 1) else found)


def sixteen_tensors(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    return concat([*given[:16], *[np.zeros_like(array) for array in given[16:]]], attributes)


MISTAKES: Mapping[str, tuple[str, Kernel]] = {
    **{
        f"{name}: {word}": (name, on_inner(name, change))
        for name in ("MatMul-13", "Gemm-13", "Conv-22")
        for word, change in (("rest", without_rest), ("last of the axis", without_last))
    },
    "MatMul: beyond a block": ("MatMul-13", on_inner("MatMul-13", beyond_a_block)),
    "Gemm: beyond a block": ("Gemm-13", on_inner("Gemm-13", beyond_a_block)),
    "MatMul: a tile's row": ("MatMul-13", after("MatMul-13", tile_row)),
    "Gemm: a tile's row": ("Gemm-13", after("Gemm-13", tile_row)),
    "MatMul: the third batch": ("MatMul-13", after("MatMul-13", third_batch)),
    "Conv: the third batch": ("Conv-22", after("Conv-22", third_batch)),
    "Conv: groups mixed up": ("Conv-22", mixed_groups),
    "MatMul: rest of columns": ("MatMul-13", after("MatMul-13", rest_of_columns)),
    "Gemm: rest of columns": ("Gemm-13", after("Gemm-13", rest_of_columns)),
    **{
        f"{name}: {word}": (name, before(name, change))
        for name in ("Softmax-13", "ReduceSum-13", "CumSum-14", "ArgMax-13", "GlobalMaxPool-22")
        for word, change in (("rest", lowest_rest), ("first of the rest", first_of_rest))
    },
    **{
        f"{name}: more than four axes": (name, rank_four(name))
        for name in KERNELS
        if name not in ("Gemm-13", "Conv-22", "GlobalMaxPool-22")
    },
    "Add: rest of columns": ("Add-14", after("Add-14", rest_of_columns)),
    "Gather: rest of columns": ("Gather-13", after("Gather-13", rest_of_columns)),
    "Transpose: rest of a block": ("Transpose-25", blocked_transpose),
    "ArgMax: ties of blocks": ("ArgMax-13", early_tie),
    "Concat: the seventeenth": ("Concat-13", sixteen_tensors),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_of_kernels_is_noticed(mistake: str) -> None:
    assert failing(*MISTAKES[mistake])


@pytest.mark.parametrize(
    ("name", "inner", "outer"),
    [
        ("MatMul-13", ("K",), ("M", "N")),
        ("Gemm-13", ("K",), ("M", "N")),
        ("Conv-22", ("C",), ("N",)),
        ("QLinearMatMul-21", ("K",), ("M", "N")),
        ("LSTM-22", ("I", "H"), ()),
        ("Softmax-13", (), ()),
    ],
)
def test_shapes_tell_what_extents_are(name: str, inner: tuple[str, ...], outer: tuple[str, ...]) -> None:
    roles = roles_of(open_space(load_spec(OperatorName.parse(f"ai.onnx::{name}"))))
    assert (roles.inner, roles.outer) == (inner, outer)


@pytest.mark.parametrize("name", ["MatMul-13", "Gemm-13", "Conv-22", "ReduceSum-13"])
def test_in_every_other_case_sums_are_exact(name: str) -> None:
    exact = [
        not np.any(case.expectations[0].outputs[0].allowed)
        for case in cases_of(name)
        if case.element_type.name == "float" and not str(case.id.word).startswith("rank")
    ]
    assert sum(exact) / len(exact) > 0.3


def normalized(name: str, sums: type, given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """A normalization whose first stage is in a type, its sums one element after the other."""
    X, *affine = (array.astype(np.float64) for array in given)
    at = attributes.get("axis", -1) % X.ndim
    lanes = X.shape[0] * attributes["num_groups"] if name.startswith("Group") else prod(X.shape[:at])
    rows = X.reshape(lanes, -1)
    rows = rows.astype(sums)
    count, epsilon = sums(rows.shape[1]), sums(attributes.get("epsilon", 1e-5))
    if not name.startswith("RMS"):
        rows = rows - (in_turn(rows, sums) / count)[:, None]
    deviation = np.sqrt(in_turn(rows * rows, sums) / count + epsilon)
    found = (rows / deviation[:, None]).astype(np.float64).reshape(X.shape)
    if name.startswith("Group"):
        affine = [array.reshape(-1, *[1] * (X.ndim - 2)) for array in affine]
    found = found * affine[0]
    return np.asarray(found + affine[1] if len(affine) > 1 else found)


def in_turn(rows: Array, sums: type) -> Array:
    found: Array = np.zeros(rows.shape[0], sums)
    for column in rows.T:
        found = (found + column).astype(sums)
    return found


STAGES = {
    "LayerNormalization-17": "squares_beyond_float16 sums_that_lose_in_bfloat16",
    "RMSNormalization-23": "squares_beyond_float16 sums_that_lose_in_bfloat16",
    "GroupNormalization-21": "squares_beyond_float16 sums_that_lose_in_bfloat16",
}


@pytest.mark.parametrize("name", STAGES)
def test_a_first_stage_in_the_type_of_the_data_is_noticed(name: str) -> None:
    """Where float is asked for: a sum of squares beyond float16, and one that bfloat16 stops to add to."""
    workshop = open_workshop(OperatorName.parse(f"ai.onnx::{name}"), Options())
    add_narrow_stages(workshop)
    cases = {str(case.id.word): case for case in workshop.cases.values()}
    assert sorted(cases) == STAGES[name].split()
    for case in cases.values():
        given = [numbers(each) for _, each in case.inputs if each is not None]
        attributes = {key: attribute.value for key, attribute in case.attributes.items()}
        narrow = np.float16 if case.element_type.name == "float16" else ml_dtypes.bfloat16
        kind, verdicts = case.expectations[0].outputs[0].expected.element_type, []
        for sums in (narrow, np.float32, np.float64):
            with np.errstate(all="ignore"):
                made = normalized(name, sums, given, attributes)
            elements = np.asarray(encode(kind, made.reshape(-1).tolist())).reshape(made.shape)
            more = [output.expected for output in case.expectations[0].outputs[1:]]
            answer = Answered((Tensor(kind, elements), *more))
            verdicts.append(judge(case, answer).verdict)
        assert verdicts == ["mismatch", "pass", "pass"]


@pytest.mark.parametrize("name", ["MatMul-13", "ReduceSum-13", "Mul-14", "Attention-25"])
def test_where_the_precision_of_sums_is_open_no_case_asks_for_it(name: str) -> None:
    workshop = open_workshop(OperatorName.parse(f"ai.onnx::{name}"), Options())
    add_narrow_stages(workshop)
    assert not workshop.cases
