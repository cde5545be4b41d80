"""The distinct calls of a model: nodes that ask the same of a runtime, put together."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.checked_models.model_calls import ModelCall, ModelNode


def group_calls(nodes: Iterable[ModelNode]) -> tuple[ModelCall, ...]:
    """The calls, in the order of their first nodes."""
    groups: dict[str, list[ModelNode]] = {}
    for each in nodes:
        groups.setdefault(ModelCall(each, (each,)).digest, []).append(each)
    return tuple(ModelCall(members[0], tuple(members)) for members in groups.values())
