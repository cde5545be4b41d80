"""What a whole model is given: values from files, or drawn by what the model declares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np
from onnx import ModelProto, ValueInfoProto

from conformance.adopting.foreign_values import parse_array, parse_arrays, parse_tensor
from conformance.checked_models.model_calls import ModelValue
from conformance.checked_models.model_nodes import typed_value
from conformance.processes.worker_limits import Limits
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import Place, UserError, unreadable
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.tensors import Tensor, tensor

Chance = np.random.Generator  # may differ: which elements are looked at


def chance_of(seed: int) -> Chance:
    """The same numbers for the same seed, as long as numpy keeps its generators."""
    return np.random.default_rng(seed)  # may differ: which elements are looked at


@dataclass(frozen=True)
class NumberLimits:
    """What judging may take: seconds in all, and estimated for one node.

    Of a node that would take longer a part is judged, where its operator allows that. `whole_seconds` are for
    the whole model by the references, behind that. `effects` is how many
    wrong nodes the model is run on from. `worker` are the runtime's limits; `case_seconds` of it hold for the
    whole model.
    """

    seconds: float = 300.0
    node_seconds: float = 5.0
    whole_seconds: float = 120.0
    effects: int = 3
    worker: Limits = field(default_factory=lambda: Limits(case_seconds=120.0))


@dataclass(frozen=True)
class InputSource:
    """Where a model's inputs come from: a folder of `.npy`, `.npz` or `input_N.pb` files, or a seed."""

    folder: Path | None = None
    seed: int = 0


_MOST_BYTES = 1 << 30
_MOST_ELEMENTS = 1 << 26
_MESSAGE = re.compile(r"input_(\d{1,4})\.pb")
_BATCH = re.compile(r"batch|^n$|^b$|^bs$", re.IGNORECASE)
LENGTHS = (32, 64, 8, 16, 1, 2, 3, 4, 224, 128, 512, 576)
"""What extents that the model leaves open are tried as, in this order, until the runtime takes the model."""
_LEAST_WHOLE, _MOST_WHOLE = 0, 3


@dataclass(frozen=True, eq=False)
class ModelInputs:
    """The inputs of a model in order, by name, and where each is from."""

    values: tuple[tuple[str, Tensor], ...]
    sources: tuple[str, ...]


def declared_inputs(model: ModelProto) -> list[ModelValue]:
    """The inputs that a model has no value for itself; raises UserError where one is no tensor."""
    held = {initializer.name for initializer in model.graph.initializer}
    return [_wanted(value_info) for value_info in model.graph.input if value_info.name not in held]


def _wanted(declared: ValueInfoProto) -> ModelValue:
    value = typed_value(declared.name, declared.type)
    if value.kind is not None or value.element_type is None:
        raise UserError(
            "the model takes an input that cannot be given",
            got=f"{one_line(value.name, 80)}: {value.kind or 'of no type'}",
            expected="tensors",
        )
    return value


def drawn_inputs(wanted: Sequence[ModelValue], seed: int) -> Iterator[ModelInputs]:
    """Inputs drawn by declared types and shapes, for one length after the other of what is left open.

    Extents that are named after a batch, or stand first of several, are 1; for each length then all but the
    last as well.
    """
    is_open = any(not isinstance(extent, int) for one in wanted for extent in one.shape or (None,))
    tries = [(length, last) for length in LENGTHS for last in (False, True)]
    for length, last in tries if is_open else tries[:1]:
        generator = chance_of(seed)
        values: list[tuple[str, Tensor]] = []
        for value in wanted:
            shape = tuple(
                _extent(extent, at, len(value.shape or ()), length, last=last)
                for at, extent in enumerate(value.shape or ())
            )
            # An axis of nothing beside one of 2^62 has no elements, and is too large for whoever holds it.
            if prod(extent or 1 for extent in shape) > _MOST_ELEMENTS:
                raise UserError(
                    "the model takes an input that is too large to be drawn",
                    got=f"{one_line(value.name, 80)}: {list(shape)}",
                    remedy="Give the inputs in files.",
                )
            values.append((value.name, _draw(str(value.element_type), shape, generator)))
        told = f"drawn with seed {seed}" + (f", open extents {length}" if is_open else "")
        yield ModelInputs(tuple(values), (told,) * len(values))


def _extent(extent: int | str | None, at: int, rank: int, length: int, *, last: bool) -> int:
    if isinstance(extent, int):
        return extent
    if rank > 1 and (at == 0 or (last and at < rank - 1)):
        return 1
    return 1 if isinstance(extent, str) and _BATCH.search(extent) else length


def _draw(name: str, shape: tuple[int, ...], generator: Chance) -> Tensor:
    element_type = ELEMENT_TYPES[name]
    storage = np.dtype(element_type.storage)
    if storage.kind in "fc":
        return Tensor(element_type, np.asarray(generator.standard_normal(shape)).astype(storage))
    whole = np.asarray(generator.integers(_LEAST_WHOLE, _MOST_WHOLE + 1, shape))
    if element_type.kind == "string":
        return tensor(whole.astype(str).astype(np.object_), element_type)
    if element_type.kind == "bool":
        return Tensor(element_type, whole > _MOST_WHOLE // 2)
    if element_type.is_float:  # stored as bits: zero and the smallest numbers of the type
        return Tensor(element_type, whole.astype(storage))
    return Tensor(element_type, (whole % 2 if element_type.bits == 2 else whole).astype(storage))


def filed_inputs(wanted: Sequence[ModelValue], folder: Path) -> ModelInputs:
    """Inputs from a folder: `NAME.npy`, `.npz` files with the names in them, or `input_0.pb` by position.

    Raises UserError where one is missing, cannot be read or is of another type or rank than declared.
    """
    found = _read_folder(folder)
    values: list[tuple[str, Tensor]] = []
    sources: list[str] = []
    for place, each in enumerate(wanted):
        key = next((one for one in (each.name, _plain(each.name), place) if one in found), None)
        if key is None:
            raise UserError(
                f"no file gives the model's input {one_line(each.name, 80)}",
                expected=f"{_plain(each.name)}.npy, that name in an .npz, or input_{place}.pb",
                where=Place(str(folder)),
            )
        path, value = found[key]
        _check(each, value, path)
        values.append((each.name, value))
        sources.append(path.name)
    return ModelInputs(tuple(values), tuple(sources))


def _check(wanted: ModelValue, got: Tensor, path: Path) -> None:
    declared = wanted.shape
    fits = declared is None or (
        len(declared) == len(got.shape)
        and all(
            not isinstance(one, int) or one == other for one, other in zip(declared, got.shape, strict=True)
        )
    )
    if got.element_type.name != wanted.element_type or not fits:
        raise UserError(
            f"the values for the input {one_line(wanted.name, 80)} do not fit the model",
            got=f"{got.element_type} {list(got.shape)}",
            expected=f"{wanted.element_type} {'of any shape' if declared is None else list(declared)}",
            where=Place(str(path)),
        )


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)


def _read_folder(folder: Path) -> Mapping[str | int, tuple[Path, Tensor]]:
    found: dict[str | int, tuple[Path, Tensor]] = {}
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise unreadable("the folder of inputs", folder, error) from error
    inner = folder / "test_data_set_0"
    if inner in paths:
        paths = [*sorted(inner.iterdir()), *paths]
    for path in paths:
        message = _MESSAGE.fullmatch(path.name)
        try:
            if message is not None:
                found.setdefault(int(message[1]), (path, parse_tensor(read_regular(path, _MOST_BYTES))))
            elif path.suffix == ".npy":
                found.setdefault(path.stem, (path, parse_array(read_regular(path, _MOST_BYTES))))
            elif path.suffix == ".npz":
                for name, value in parse_arrays(read_regular(path, _MOST_BYTES), _MOST_BYTES).items():
                    found.setdefault(name, (path, value))
        except OSError as error:
            raise unreadable("a file of inputs", path, error) from error
        except UserError as error:
            raise UserError(error.problem, got=error.got, where=Place(str(path))) from error
    return found
