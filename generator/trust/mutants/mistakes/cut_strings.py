"""Strings that are cut at a NUL, or at another length, or lose what is no plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from generator.asking.tensor_edits import is_any, with_inputs
from generator.trust.mutants.mistake import Mistake, Taken
from opcert.vocabulary.tensors import Tensor
from specs.model.spec import Spec


def mistakes(spec: Spec) -> Iterator[Mistake]:
    if any("string" in spec.types_of(each) for each in spec.inputs):
        for word, text, change in _CHANGES:
            yield Mistake(word, text, _changed(change))


def _changed(change: Callable[[bytes], bytes]) -> Taken:
    def exchange(given: Tensor) -> Tensor | None:
        if given.element_type.kind != "string":
            return None
        array = np.empty(given.shape, dtype=object)
        array.reshape(-1)[:] = [change(each) for each in given.array.flat]
        return Tensor(given.element_type, array)

    return lambda spec, call: with_inputs(spec, call, exchange, is_any)


_CHANGES: tuple[tuple[str, str, Callable[[bytes], bytes]], ...] = (
    ("at NUL", "strings cut at a NUL", lambda text: text.partition(b"\0")[0]),
    ("at one", "strings cut after the first byte", lambda text: text[:1]),
    ("at 15", "strings cut after 15 bytes", lambda text: text[:15]),
    (
        "ASCII",
        "bytes beyond ASCII as question marks",
        lambda text: bytes(min(each, 63) if each > 127 else each for each in text),
    ),
    ("stripped", "strings without blanks at their ends", lambda text: text.strip(b" \t\r\n")),
    ("upper case", "letters in upper case", lambda text: text.upper()),
)
