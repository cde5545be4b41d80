"""An equation of einsum, and operands of the shapes that it speaks of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, Kind, KindChange, Level, ValueChange
from generator.calls.variables.vector_lengths import lengths_around
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_EQUATIONS: Mapping[Level, tuple[str, ...]] = {
    "matmul": ("ij,jk->ik", "ik,kj->ij"),
    "identity": ("ij->ij", "i->i", "ijk->ijk"),
    "transposed": ("ij->ji", "ijk->kij"),
    "implicit_transposed": ("ba", "cab"),
    "sum": ("ij->", "ijk->"),
    "partial_sum": ("ij->i", "ijk->j"),
    "diagonal": ("ii->i", "iji->ij"),
    "trace": ("ii", "ii->"),
    "elementwise": ("ij,ij->ij", "i,i->i"),
    "inner": ("i,i->", "ij,ij"),
    "outer": ("i,j->ij", "i,j->ji"),
    "implicit": ("ij,jk", "ij,kj"),
    "batched": ("bij,bjk->bik", "bi,bj->bij"),
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
_BATCH = ((2, 3), (4,), ())


@dataclass(frozen=True)
class Einsum(Kind):
    """The equation (an attribute), and the shapes of a variadic input."""

    equation: Expression

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
                f"shapes:{self.name}": _shapes(equation, lengths, level == "broadcast_ellipsis", draw),
            }

    def rules(self) -> Iterable[Constraint]:
        equation, name = self.equation.text, self.name
        given, form = f"present({equation})", f"is_einsum({equation}, len({name}))"
        yield self.rule(f"{equation}_form", form, given, about=equation)
        fits = f"einsum_fits({equation}, [shape(each) for each in {name}])"
        yield self.rule(f"{name}_fit", fits, f"{given} and {form}")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        equation, key = self.equation.text, f"shapes:{self.name}"
        given = str(scope.find(equation))
        shapes = [tuple(each) for each in scope.find(key)]
        left = given.partition("->")[0]
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
            shapes = [(length,)] * 2
            yield f"length_{length}", {self.equation.text: "i,i->i", f"shapes:{self.name}": shapes}

    def changes(self) -> Iterable[KindChange]:
        name = self.equation.text
        for word, text, change in (
            ("output ignored", "the output's term ignored", _implicit),
            (
                "order of appearance",
                "the letters of an unwritten output as they appear",
                _as_they_appear,
            ),
            ("ellipsis last", "the axes of ... behind those with letters in the output", _ellipsis_last),
            ("output turned round", "the letters of the output in reverse order", _turned_round),
        ):
            yield ValueChange(f"{name} {word}", text, self._changed_by(change))

    def _changed_by(self, change: Callable[[str], str]) -> Callable[[CallValues], Bindings]:
        name = self.equation.text
        return lambda given: {name: change(str(given.numbers(name)).replace(" ", ""))}


def _implicit(equation: str) -> str:
    return equation.partition("->")[0]


def _as_they_appear(equation: str) -> str:
    if "->" in equation:
        raise ValueError("the output is written")
    counts = Counter(each for each in equation if each.isalpha())
    once = "".join(each for each, count in counts.items() if count == 1)
    return f"{equation}->{'...' * ('...' in equation)}{once}"


def _ellipsis_last(equation: str) -> str:
    terms, arrow, output = equation.partition("->")
    before, dots, behind = output.partition("...")
    if not arrow or not dots:
        raise ValueError("no ellipsis in an output that is written")
    return f"{terms}->{before}{behind}..."


def _turned_round(equation: str) -> str:
    terms, arrow, output = equation.partition("->")
    if not arrow or "." in output:
        raise ValueError("no letters of an output alone")
    return f"{terms}->{output[::-1]}"


def _shapes(
    equation: str, lengths: Mapping[str, int], broadcast: bool, draw: Draw
) -> Sequence[tuple[int, ...]]:
    """The shapes of the operands; those of ellipses are the same unless they `broadcast` each other."""
    left = equation.replace(" ", "").partition("->")[0]
    batch = draw.choice(_BATCH) if not broadcast else (2, 3)
    found = []
    for place, term in enumerate(left.split(",")):
        before, dots, behind = term.partition("...")
        middle = batch if dots else ()
        if broadcast:
            middle = tuple(1 if axis % 2 == place % 2 else each for axis, each in enumerate(batch))
        found.append((*(lengths[each] for each in before), *middle, *(lengths[each] for each in behind)))
    return found
