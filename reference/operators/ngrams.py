"""TfIdfVectorizer and NGramRepeatBlock: n-grams counted in rows, or kept from standing there again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import OutsideDomain
from reference.numbers.number_arrays import Numbers
from reference.numbers.working import Working
from reference.registry import reference_operator

Gram = tuple[Any, ...]
_LEAST = float(np.finfo(np.float64).smallest_subnormal)


@reference_operator("ai.onnx::TfIdfVectorizer")
def tf_idf_vectorizer(
    X: Tensor,
    *,
    max_gram_length: int,
    max_skip_count: int,
    min_gram_length: int,
    mode: str,
    ngram_counts: tuple[int, ...],
    ngram_indexes: tuple[int, ...],
    pool_int64s: tuple[int, ...] = (),
    pool_strings: tuple[str, ...] = (),
    weights: tuple[float, ...] | None = None,
) -> Numbers:
    """Counts of the n-grams at their places: as they are (TF), at most 1 (IDF), times weights but in TF.

    Source: TfIdfVectorizer, Summary and every attribute.
    """
    pool = _pool([text.encode() for text in pool_strings] or pool_int64s, ngram_counts)
    lengths = range(min_gram_length, max_gram_length + 1)
    rows = X.array.reshape((prod(X.shape[:-1]), X.shape[-1])).tolist()
    found = np.zeros((len(rows), max(ngram_indexes) + 1), dtype=object)
    for row, words in enumerate(rows):
        counts = Counter(gram for gram in _grams(words, lengths, max_skip_count) if gram in pool)
        for gram, count in counts.items():
            place = pool[gram]
            times = Fraction(1 if weights is None or mode == "TF" else weights[place])
            found[row, ngram_indexes[place]] = (count if mode != "IDF" else 1) * times
    working = Working(ELEMENT_TYPES["float"])
    numbers = Numbers.exact(found, working).rounded(1, exact=True)
    if mode != "TF" and any(weight < 0 for weight in weights or ()):
        # No times a negative weight is a zero of either sign.
        numbers = replace(numbers, error=np.where(found == 0, _LEAST, numbers.error))
    return numbers.reshape((*X.shape[:-1], found.shape[1]))


def _pool(words: Sequence[Any], starts: Sequence[int]) -> Mapping[Gram, int]:
    """The n-grams of a pool by the place that they have among all of them."""
    listed: list[Gram] = []
    for length, (start, end) in enumerate(zip(starts, [*starts[1:], len(words)], strict=True), start=1):
        listed += [tuple(words[at : at + length]) for at in range(start, end, length)]
    if len(set(listed)) < len(listed):
        raise OutsideDomain("an n-gram stands twice in the pool")
    return {gram: place for place, gram in enumerate(listed)}


def _grams(words: Sequence[Any], lengths: range, most_skipped: int) -> Iterator[Gram]:
    """All n-grams of these lengths, with some words left out between each two; single words once."""
    for length in lengths:
        for step in range(1, (most_skipped if length > 1 else 0) + 2):
            for start in range(len(words) - (length - 1) * step):
                yield tuple(words[start : start + (length - 1) * step + 1 : step])


@reference_operator("com.microsoft::NGramRepeatBlock")
def scores_without_repeated_ngrams(input_ids: Tensor, scores: Tensor, *, ngram_size: int) -> Tensor:
    """Minus infinity for each token that would end an n-gram that the sequence has already.

    Source: NGramRepeatBlock, Summary.
    """
    found = np.array(scores.array)
    for row, tokens in enumerate(input_ids.array.tolist()):
        last = tokens[len(tokens) - ngram_size + 1 :]
        for start in range(len(tokens) - ngram_size + 1):
            if tokens[start : start + ngram_size - 1] == last:
                found[row, tokens[start + ngram_size - 1]] = -np.inf
    return Tensor(scores.element_type, found)
