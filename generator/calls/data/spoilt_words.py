"""Strings that a runtime changes which takes them for plain text: with blanks at their ends, beyond ASCII."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from opcert.vocabulary.tensors import Tensor

Change = Callable[[bytes], bytes]


def stripped(word: bytes) -> bytes:
    """Without blanks at its ends."""
    return word.strip(b" \t\r\n")


def in_ascii(word: bytes) -> bytes:
    """With question marks for bytes beyond ASCII."""
    return bytes(min(each, 63) if each > 127 else each for each in word)


def spoilt(word: bytes) -> bytes:
    """A word that neither leaves as it is: blanks around it, and a letter beyond ASCII."""
    return b" " + word + "é ".encode()


def each_word(change: Change, given: Tensor) -> Tensor:
    """A tensor of strings with every word changed."""
    array = np.empty(given.shape, dtype=object)
    array.reshape(-1)[:] = [change(each) for each in given.array.flat]
    return Tensor(given.element_type, array)
