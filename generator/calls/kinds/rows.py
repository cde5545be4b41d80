"""Values that belong together: a progression, mel bands, n-grams and words, an equation and its operands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import CallValues, Kind, KindChange, Level, ValueChange
from generator.calls.variables.misreadings import equation_changes
from generator.calls.variables.vector_lengths import lengths_around
from opcert.vocabulary.element_types import ElementType
from specs.language.expressions import Expression
from specs.model.spec import Constraint

Numbers = tuple[tuple[float, ...], ...]
_STEPS = ("start", "limit", "delta")
_PROGRESSIONS: Mapping[Level, Numbers] = {
    "up": ((1, 9, 2), (0, 5, 1), (-3, 6, 3)),
    "down": ((10, 4, -2), (5, 0, -1), (3, -6, -3)),
    "remainder": ((1, 9, 3), (10, 3, -2), (-4, 3, 2)),
    "one": ((2, 3, 4), (3, 2, -4)),
    "empty": ((3, 3, 1), (0, 0, -2)),
    "against": ((1, 5, -1), (5, 1, 2)),
    "many": ((0, 100, 1), (100, -1, -1)),
    "fractions": ((0.0, 1.0, 0.1), (1.0, -0.5, -0.25), (0.25, 2.0, 0.375)),
    "long_fractions": ((0.0, 20.0, 0.1),),
}
"""Starts, limits and distances that show a level; fractions in floating-point types alone."""
_NAMES = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
_COARSE = (
    (2, 4, 2000, 0.0, 900.0),
    (3, 6, 2000, 40.0, 900.0),
    (1, 10, 1000, 0.0, 490.0),
    (2, 16, 2000, 40.0, 900.0),
    (3, 6, 1000, 0.0, 490.0),
)
"""Of few bins, so that edges lie in one bin in half precision, too."""
_BANDS: Mapping[Level, Numbers] = {
    "few": ((3, 16, 8000, 0.0, 3900.0), (4, 18, 8192, 0.0, 4000.0), (3, 20, 4000, 0.0, 1900.0)),
    "odd": ((3, 17, 8000, 0.0, 3700.0), (4, 21, 8192, 0.0, 3900.0), (2, 15, 4000, 0.0, 1700.0)),
    "narrow": ((8, 16, 8192, 0.0, 4096.0), (12, 12, 8000, 0.0, 3800.0), (9, 10, 4000, 0.0, 1950.0)),
    "wide": ((2, 30, 16000, 0.0, 7800.0), (1, 24, 8000, 0.0, 3900.0), (2, 26, 44100, 0.0, 20000.0)),
    "raised": ((3, 16, 8000, 300.0, 3900.0), (4, 20, 8192, 130.0, 3800.0), (2, 24, 8000, 1100.0, 3500.0)),
    "coarse": _COARSE,
    "one": ((1, 16, 8000, 0.0, 3900.0), (1, 20, 8192, 500.0, 3000.0), (1, 22, 4000, 0.0, 1500.0)),
}


@dataclass(frozen=True)
class Rows(Kind):
    """Values of several names at once: of a `progression`, of `mel_bands`, of `ngrams`, of an `equation`."""


@dataclass(frozen=True)
class _NumberRows(Rows):
    """Numbers for several inputs, of which a level has some rows."""

    factor: ClassVar[str]
    table: ClassVar[Mapping[Level, Numbers]]
    typed: ClassVar[str]
    """The input whose element type says which levels there are."""

    @property
    def needs(self) -> frozenset[str]:
        return self.type_levels(self.typed)

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {self.factor: tuple(self.table)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        level = levels[self.factor]
        if self.is_of(str(level), self.type_of(scope, self.typed)):
            for row in draw.shuffled(self.table[level]):
                yield dict(zip(self.covered, row, strict=True))

    def is_of(self, level: str, element_type: ElementType) -> bool:
        """Whether an element type has a level."""
        raise NotImplementedError


@dataclass(frozen=True)
class _Progression(_NumberRows):
    """Numbers at equal distances: the first, the limit, and the distance, three numbers of one type."""

    covered: ClassVar[tuple[str, ...]] = _STEPS
    factor: ClassVar[str] = "progression"
    table: ClassVar[Mapping[Level, Numbers]] = _PROGRESSIONS
    typed: ClassVar[str] = "start"

    def is_of(self, level: str, element_type: ElementType) -> bool:
        return "fractions" not in level or element_type.is_float

    def rules(self) -> Iterable[Constraint]:
        yield self.rule("delta_not_zero", "all(each != 0 for each in delta)", about="delta")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        yield "delta_not_zero", {"delta": 0}

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for word, start, limit in (("up", -1, 1), ("down", 1, -1)):
            yield f"progression_{word}_past_zero", dict(zip(_STEPS, (start, limit, limit), strict=True))
        for length in lengths_around():
            yield f"length_{length}", dict(zip(_STEPS, (0, length, 1), strict=True))

    def changes(self) -> Iterable[KindChange]:
        def included(given: CallValues) -> Bindings:
            start, limit, delta = (given.numbers(step).reshape(()).item() for step in _STEPS)
            if not delta or (limit - start) / delta < 0 or (limit - start) % delta:
                raise ValueError("the limit is not met")
            return {"limit": given.numbers("limit") + given.numbers("delta")}

        def one_off(given: CallValues) -> Bindings:
            return {"start": given.numbers("start") + given.numbers("delta")}

        yield ValueChange("limit included", "the limit included", included)
        yield ValueChange("start left out", "the start left out", one_off)


@dataclass(frozen=True)
class _MelBands(_NumberRows):
    """How many bands of the mel scale the bins of a spectrum are weighted into, and between which edges."""

    covered: ClassVar[tuple[str, ...]] = _NAMES
    factor: ClassVar[str] = "bands"
    table: ClassVar[Mapping[Level, Numbers]] = _BANDS
    typed: ClassVar[str] = "lower_edge_hertz"

    def is_of(self, level: str, element_type: ElementType) -> bool:
        return level == "coarse" or element_type.name != "float16"

    def rules(self) -> Iterable[Constraint]:
        for name in _NAMES[:3]:
            yield self.rule(f"{name}_positive", f"all(each >= 1 for each in {name})", about=name)
        lower, upper, rate = (f"values({name})[0]" for name in (*_NAMES[3:], _NAMES[2]))
        yield self.rule("lower_edge_not_negative", f"{lower} >= 0", about=_NAMES[3])
        yield self.rule("edges_rise", f"{lower} < {upper}", about=_NAMES[4])
        yield self.rule("upper_edge_inside", f"2 * {upper} <= max({rate}, 1)", about=_NAMES[4])

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for name in _NAMES[:2]:
            yield f"{name}_positive", {name: 0}
        # Edges that no rate of a spectrum has, but that lie below half of 1.
        yield f"{_NAMES[2]}_positive", {_NAMES[2]: 0, _NAMES[3]: 0.0, _NAMES[4]: 0.25}
        yield "lower_edge_not_negative", {_NAMES[3]: -16.0}
        yield "edges_rise", {_NAMES[3]: float(np.asarray(scope.find(_NAMES[4])).reshape(-1)[0])}
        yield "upper_edge_inside", {_NAMES[2]: 4}


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
class _Ngrams(Rows):
    """Rows of words, and the pool of n-grams of which some stand there, with all that says how they count."""

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


_EQUATIONS: Mapping[Level, tuple[str, ...]] = {
    "matmul": ("ij,jk->ik", "ik,kj->ij"),
    "identity": ("ij->ij", "i->i", "ijk->ijk"),
    "transposed": ("ij->ji", "ijk->kij"),
    "implicit_transposed": ("ba", "cab"),
    "sum": ("ij->", "ijk->"),
    "partial_sum": ("ij->i", "ijk->j"),
    "diagonal": ("ii->i", "iji->ij"),
    "several_diagonals": ("iii->i", "iijj->ij", "jiik,k->ij"),
    "trace": ("ii", "ii->"),
    "elementwise": ("ij,ij->ij", "i,i->i"),
    "inner": ("i,i->", "ij,ij"),
    "outer": ("i,j->ij", "i,j->ji"),
    "implicit": ("ij,jk", "ij,kj"),
    "batched": ("bij,bjk->bik", "bi,bj->bij"),
    "scores": ("bhqd,bhkd->bhqk", "bqhd,bkhd->bhqk"),
    "ellipsis": ("...ij,...jk->...ik", "...i,...i->..."),
    "ellipsis_inside": ("i...j->j...i", "i...,i...->..."),
    "implicit_ellipsis": ("...ij,...jk", "i..."),
    "broadcast_ellipsis": ("...i,...i->...i",),
    "three": ("ij,jk,kl->il", "a,b,c->abc"),
    "spaces": (" i j , j k -> i k ", "ij ->j i"),
    "both_cases": ("aB,Bc->ac", "Ab,bA->"),
    "scalar": (",ij->ij", "->"),
}
"""Equations that show a level, each on as many operands as it has terms."""
_BATCHES = ((2, 3), (4,), ())


@dataclass(frozen=True)
class _Equation(Rows):
    """The equation of einsum (an attribute), and the shapes of a variadic input that it speaks of."""

    equation: Expression

    @property
    def summed_by(self) -> Expression:
        return self.equation

    @property
    def covers(self) -> tuple[str, ...]:
        return (self.equation.text,)

    @property
    def binds(self) -> tuple[str, ...]:
        return (f"shapes:{self.name}",)

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {self.equation.text: tuple(_EQUATIONS), "einsum_extents": ("different", "with_one", "ones")}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        level, extents = levels[self.equation.text], levels["einsum_extents"]
        for equation in draw.shuffled(_EQUATIONS[level]):
            letters = sorted({each for each in equation if each.isalpha()})
            if not letters and extents != "different":
                continue
            drawn = draw.shuffled(range(2, 6)) * 2
            if extents == "ones":
                drawn = [1] * len(drawn)
            elif extents == "with_one" and letters:
                drawn[draw.integer(0, len(letters) - 1)] = 1
            lengths = dict(zip(letters, drawn, strict=False))
            yield {
                self.equation.text: equation,
                f"shapes:{self.name}": _operands(equation, lengths, level == "broadcast_ellipsis", draw),
            }

    def rules(self) -> Iterable[Constraint]:
        equation, name = self.equation.text, self.name
        given, form = f"present({equation})", f"is_einsum({equation}, len({name}))"
        yield self.rule(f"{equation}_form", form, given, about=equation)
        fits = f"einsum_fits({equation}, [shape(each) for each in {name}])"
        yield self.rule(f"{name}_fit", fits, f"{given} and {form}")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        equation, key = self.equation.text, f"shapes:{self.name}"
        shapes = [tuple(shape) for shape in scope.find(key)]
        left = str(scope.find(equation)).partition("->")[0]
        for wrong in (f"{left}->?", f"{left},a", f"{left}->zz", ""):
            yield f"{equation}_form", {equation: wrong}
        yield f"{self.name}_fit", {key: [*shapes[:-1], (*shapes[-1], 2, 2, 2)]}
        for place, shape in enumerate(shapes):
            for axis in range(len(shape)):
                longer = tuple(extent + 6 * (at == axis) for at, extent in enumerate(shape))
                yield f"{self.name}_fit", {key: [*shapes[:place], longer, *shapes[place + 1 :]]}

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for word, equation, shapes in (
            ("nothing_to_sum", "ij,jk->ik", [(2, 0), (0, 3)]),
            ("no_rows", "ij,jk->ik", [(0, 2), (2, 3)]),
            ("long", "i,i->", [(67,), (67,)]),
            ("one_many_times", "i,i,i,i->i", [(3,)] * 4),
        ):
            yield word, {self.equation.text: equation, f"shapes:{self.name}": shapes}
        for length in lengths_around():
            yield f"length_{length}", {self.equation.text: "i,i->i", f"shapes:{self.name}": [(length,)] * 2}

    def changes(self) -> Iterable[KindChange]:
        return equation_changes(self.equation.text)


def _operands(
    equation: str, lengths: Mapping[str, int], broadcast: bool, draw: Draw
) -> Sequence[tuple[int, ...]]:
    """The shapes of the operands; those of ellipses are the same unless they `broadcast` each other."""
    left = equation.replace(" ", "").partition("->")[0]
    batch, found = (2, 3) if broadcast else draw.choice(_BATCHES), []
    for place, term in enumerate(left.split(",")):
        before, dots, behind = term.partition("...")
        middle = batch if dots else ()
        if broadcast:
            middle = tuple(1 if axis % 2 == place % 2 else each for axis, each in enumerate(batch))
        found.append((*(lengths[each] for each in before), *middle, *(lengths[each] for each in behind)))
    return found


Rows.variants = {
    "equation": _Equation,
    "mel_bands": _MelBands,
    "ngrams": _Ngrams,
    "progression": _Progression,
}
