"""A pool of n-grams with all that says how they are counted, and rows in which some of them stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import Kind, Level
from specs.model.spec import Constraint

_POOL = ((2,), (3,), (5,), (4, 2), (2, 3), (5, 5), (3, 5), (2, 3, 5), (5, 4, 4))
"""Single words, pairs, and three in a row: what each word is by its number."""
_STARTS = (0, 3, 11)
_ORDERS: Mapping[Level, tuple[int, ...]] = {
    "permuted": (4, 0, 7, 2, 8, 1, 3, 6, 5),
    "in_order": tuple(range(9)),
    "with_gaps": (2, 0, 11, 4, 6, 1, 9, 3, 7),
}
_ROWS: Mapping[Level, tuple[tuple[int, ...], ...]] = {
    "repeated": ((2, 3, 5, 5, 2, 3, 5, 5, 4, 4), (4, 2, 4, 2, 3, 9, 3, 5, 5, 5)),
    "spread": ((2, 8, 3, 8, 5, 8, 4, 2, 8, 2), (5, 9, 9, 5, 4, 9, 4, 4, 2, 3)),
    "unknown": ((8, 9, 8), (9, 9, 9)),
    "short": ((2,), (3,)),
    "empty": ((), ()),
}
_WORDS = ("", "x", "na\u00efve", "e\u0301", "\u00e9", "\U0001f600", "c", "d", "other", "a\x00")
_WEIGHTS = (2.0, 0.5, 3.0, 0.1, 4.0, 1.5, 7.0, 0.75, 1e-3)


@dataclass(frozen=True)
class Ngrams(Kind):
    """The input of rows of words, and the attributes of the pool beside it."""

    covered: ClassVar[tuple[str, ...]] = (
        *("X", "pool_int64s", "pool_strings", "ngram_counts", "ngram_indexes", "weights"),
        *("min_gram_length", "max_gram_length", "max_skip_count", "mode"),
    )

    @property
    def needs(self) -> frozenset[str]:
        return self.type_levels(self.name)

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            "mode": ("TF", "IDF", "TFIDF"),
            "lengths": ("1 to 3", "2", "1", "2 to 3", "3"),
            "max_skip_count": (1, 0, 2, 5),
            "ngram_indexes": tuple(_ORDERS),
            "weights": ("given", OMITTED),
            "rows": tuple(_ROWS),
            "row_count": ("two", "one", "vector", "none"),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        low, _, high = str(levels["lengths"]).partition(" to ")
        of_texts = scope.element_type(self.subject.parameter(self.name)) == "string"
        pool = [word for gram in _POOL for word in gram]
        rows = _ROWS[levels["rows"]]
        words = np.array(rows, dtype=np.int64).reshape((2, len(rows[0])))
        found: Any = (
            np.array([_WORDS[word] for word in words.reshape(-1)], dtype=object) if of_texts else words
        )
        found = found.reshape(words.shape)
        counted = {"two": found, "one": found[:1], "vector": found[0], "none": found[:0]}
        yield {
            self.name: counted[str(levels["row_count"])],
            "pool_int64s": None if of_texts else pool,
            "pool_strings": [_WORDS[word] for word in pool] if of_texts else None,
            "ngram_counts": [*_STARTS],
            "ngram_indexes": [*_ORDERS[levels["ngram_indexes"]]],
            "weights": None if levels["weights"] == OMITTED else [*_WEIGHTS],
            "min_gram_length": int(low),
            "max_gram_length": int(high or low),
            "max_skip_count": int(levels["max_skip_count"]),
            "mode": levels["mode"],
        }

    def rules(self) -> Iterable[Constraint]:
        name = self.name
        yield self.rule(f"{name}_rank", f"rank({name}) in [1, 2]")
        one = "present(pool_int64s) != present(pool_strings)"
        yield self.rule("one_pool", one, about="pool_int64s", otherwise="error")
        texts = f"present(pool_strings) == (element_type({name}) == 'string')"
        yield self.rule("pool_of_type", texts, one, about="pool_strings")
        yield self.rule("mode_value", "mode in ['TF', 'IDF', 'TFIDF']", about="mode")
        ordered = "1 <= min_gram_length <= max_gram_length"
        yield self.rule("gram_lengths", ordered, about="min_gram_length")
        yield self.rule("max_skip_count_range", "max_skip_count >= 0", about="max_skip_count")
        size = "(len(pool_strings) if present(pool_strings) else len(pool_int64s))"
        starts = (
            "len(ngram_counts) >= max_gram_length and ngram_counts[0] == 0 and "
            f"all(0 <= each <= {size} for each in ngram_counts)"
        )
        yield self.rule("ngram_counts_in_pool", starts, f"{one} and {ordered}", about="ngram_counts")
        ends = "[ngram_counts[at + 1] for at in range(len(ngram_counts) - 1)]"
        spans = f"zip(range(len(ngram_counts)), ngram_counts, {ends} + [{size}])"
        whole = f"all(last >= start and (last - start) % (at + 1) == 0 for at, start, last in {spans})"
        yield self.rule("whole_grams", whole, f"{one} and {ordered} and {starts}", about="ngram_counts")
        yield self.rule(
            "ngram_indexes_length",
            f"len(ngram_indexes) == sum((last - start) // (at + 1) for at, start, last in {spans})",
            f"{one} and {ordered} and {starts} and {whole}",
            about="ngram_indexes",
        )
        places = "len(ngram_indexes) > 0 and all(each >= 0 for each in ngram_indexes)"
        yield self.rule("ngram_indexes_range", places, about="ngram_indexes")
        distinct = "len(set(ngram_indexes)) == len(ngram_indexes)"
        yield self.rule("ngram_indexes_distinct", distinct, places, about="ngram_indexes")
        yield self.rule(
            "weights_length", "len(weights) == len(ngram_indexes)", "present(weights)", about="weights"
        )

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        of_texts = scope.find("pool_strings") is not None
        pool = [word for gram in _POOL for word in gram]
        words = [_WORDS[word] for word in pool]
        yield f"{self.name}_rank", {self.name: np.array(scope.find(self.name))[..., np.newaxis, np.newaxis]}
        yield "one_pool", {"pool_int64s": pool, "pool_strings": words}
        yield "one_pool", {"pool_int64s": None, "pool_strings": None}
        other = {"pool_int64s": pool if of_texts else None, "pool_strings": None if of_texts else words}
        yield "pool_of_type", other
        yield "mode_value", {"mode": "tf"}
        yield "gram_lengths", {"min_gram_length": 0}
        yield "gram_lengths", {"min_gram_length": 3, "max_gram_length": 2}
        yield "max_skip_count_range", {"max_skip_count": -1}
        yield "ngram_counts_in_pool", {"ngram_counts": [0, 3, 40]}
        yield "whole_grams", {"ngram_counts": [0, 3, 12]}
        order = list(scope.find("ngram_indexes"))
        given = {} if scope.find("weights") is None else {"weights": [*_WEIGHTS, 1.0]}
        yield "ngram_indexes_length", {"ngram_indexes": [*order, 12], **given}
        yield "ngram_indexes_range", {"ngram_indexes": [*order[:-1], -1]}
        yield "ngram_indexes_distinct", {"ngram_indexes": [*order[:-1], order[0]]}
        if scope.find("weights") is not None:
            yield "weights_length", {"weights": [*_WEIGHTS[:-1]]}
