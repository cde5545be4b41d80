"""What there is to hold a runtime's answers to a model's calls against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from conformance.checked_models.model_calls import ModelCall

Evidence = Literal["reference", "node_tests", "none"]
"""Cases of that very call with exact expectations; ONNX's node tests of it, which are weaker; nothing."""


@dataclass(frozen=True, eq=False)
class CheckedCall:
    """A distinct call of a model, its number (from 1, in the order of the model) and its cases.

    `cases` are ids in the suite of the check. `reason` is a word and `why` a sentence for why there is no
    stronger evidence; empty where there is none to be had. `varied` are the dimensions in which the cases
    differ, with their levels; `given_up` says in sentences what of the node they do not keep.
    """

    number: int
    call: ModelCall
    evidence: Evidence
    cases: tuple[str, ...] = ()
    reason: str = ""
    why: str = ""
    varied: Mapping[str, Sequence[str]] = field(default_factory=dict)
    given_up: tuple[str, ...] = ()

    @property
    def nodes(self) -> int:
        """How many nodes make the call."""
        return len(self.call.nodes)
