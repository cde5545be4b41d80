"""What a chain's model says of extents that come with each run: the names that tell which of them are one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.checked_models.model_calls import ModelNode
from opcert.vocabulary.tensors import Tensor


def open_shapes(
    nodes: Sequence[ModelNode], names: Mapping[str, str], given: Mapping[str, Tensor]
) -> dict[str, tuple[int | str, ...]]:
    """The shapes of what nodes are fed, with open extents where the model's own inputs have these by name.

    `names` are the chain's names of the model's values, `given` what is fed by those; names of a model go no
    further. Nothing where an extent is open that only inference leaves open, or none is.
    """
    found: dict[str, tuple[int | str, ...]] = {}
    known: dict[str, str] = {}
    for node in nodes:
        for value in node.inputs:
            if value is None or names[value.name] not in given:
                continue
            name = names[value.name]
            if value.shape is None or any(
                not isinstance(each, int) and each not in node.run_extents for each in value.shape
            ):
                return {}
            lengths = given[name].shape
            found[name] = tuple(
                known.setdefault(each, f"n{len(known)}") if isinstance(each, str) else length
                for each, length in zip(value.shape, lengths, strict=True)
            )
    return found if known else {}
