"""Identity: what goes in comes out."""

from __future__ import annotations

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, nothing, sequence_of
from reference.registry import reference_operator


@reference_operator("ai.onnx::Identity")
def identity(input: Tensor | tuple[Tensor, ...] | None = None) -> Tensor | Answer:
    """The input: a tensor, a sequence, or an optional, which may hold nothing. Source: Identity, Inputs."""
    if input is None:
        return nothing()
    return sequence_of(input) if isinstance(input, tuple) else input
