"""Whether the inputs of a call have the shapes that an operator declares: matching, which binds extents."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from specs.language.expressions import EvaluationError, Expression, Layered, parse_tree
from specs.language.shape_expressions import Shape, ShapePart, evaluate_part, parse_shape

Extents = tuple[int, ...]
Bindings = Mapping[str, int | list[int] | None]
MOST_UNKNOWN = 2
"""Names that one extent may leave open when everything else is known."""


@dataclass(frozen=True)
class Matched:
    """The extents and packs of a call: a value for each name, None for an axis that is missing."""

    bindings: Bindings


@dataclass(frozen=True)
class Unmatched:
    """The first input whose shape cannot be what the declaration says, given those before it.

    `bindings` are those that were found before it failed.
    """

    input: str
    bindings: Bindings


@dataclass(frozen=True)
class _Deferred:
    """What can be decided only when all inputs are matched: these extents are those of the part."""

    input: str
    part: ShapePart
    extents: Extents


@dataclass(frozen=True)
class _State:
    bindings: dict[str, int | list[int] | None]
    deferred: tuple[_Deferred, ...] = ()

    def bound(self, name: str, value: int | list[int] | None) -> _State | None:
        if name in self.bindings:
            return self if self.bindings[name] == value else None
        return _State({**self.bindings, name: value}, self.deferred)

    def later(self, name: str, part: ShapePart, extents: Sequence[int]) -> _State:
        return _State(self.bindings, (*self.deferred, _Deferred(name, part, tuple(extents))))


def match_shapes(
    shapes: Mapping[str, Shape],
    wanted: frozenset[str],
    names: Mapping[str, object],
    actual: Sequence[tuple[str, Extents]],
) -> Matched | Unmatched:
    """Shapes of inputs, in the operator's order, held against those that are declared; see `Unifier`."""
    texts = tuple((name, shape.text) for name, shape in shapes.items())
    if all(shape.names <= wanted for shape in shapes.values()):
        return _match_alone(texts, wanted, tuple(actual))
    return Unifier(shapes, wanted, names).unify(actual)


@lru_cache(maxsize=4096)
def _match_alone(
    declared: tuple[tuple[str, str], ...], wanted: frozenset[str], actual: tuple[tuple[str, Extents], ...]
) -> Matched | Unmatched:
    """The same of shapes that speak of extents alone: the calls of a search have them again and again."""
    return Unifier({name: parse_shape(text) for name, text in declared}, wanted, {}).unify(actual)


class Unifier:
    """Matches shapes of inputs against expressions; `wanted` are the extents and packs to be found."""

    def __init__(
        self, shapes: Mapping[str, Shape], wanted: frozenset[str], names: Mapping[str, object]
    ) -> None:
        self._shapes = shapes
        self._names = names
        self._open = wanted
        self._packs = wanted & frozenset[str]().union(*(shape.starred for shape in shapes.values()))
        self._deepest = 0
        self._best: Bindings = {}

    def unify(self, actual: Sequence[tuple[str, Extents]]) -> Matched | Unmatched:
        """The bindings under which every input has its declared shape; inputs in the operator's order."""
        told = [(name, extents) for name, extents in actual if name in self._shapes]
        self._deepest, self._best = 0, {}
        for state in self._match_inputs(told, 0, _State({})):
            return Matched(state.bindings)
        return Unmatched(told[min(self._deepest, len(told) - 1)][0] if told else "", self._best)

    def _match_inputs(
        self, told: Sequence[tuple[str, Extents]], place: int, state: _State
    ) -> Iterator[_State]:
        self._deepest = max(self._deepest, place)
        if place == len(told):
            yield from self._settle(told, state)
            return
        name, extents = told[place]
        try:
            parts = self._shapes[name].chosen(self._scope(state))
        except EvaluationError:
            return
        for matched in self._match_parts(name, parts, extents, state):
            yield from self._match_inputs(told, place + 1, matched)

    def _match_parts(
        self, name: str, parts: Sequence[ShapePart], extents: Extents, state: _State, batched: bool = False
    ) -> Iterator[_State]:
        """States in which the parts are these extents; `batched` where a pack before them is not empty."""
        if len(state.bindings) > len(self._best):
            self._best = state.bindings
        if not parts:
            if not extents:
                yield state
            return
        part, rest = parts[0], parts[1:]
        counts: Sequence[int]
        if rest or not part.several or part.word == "maybe":
            least = sum(1 for shape_part in rest if not shape_part.several)
            counts = self._counts(part, len(extents) - least, state, batched)
        else:
            counts = (len(extents),)  # nobody else takes what the last part leaves
        for count in counts:
            matched = self._match_part(name, part, extents[:count], state)
            if matched is not None:
                packed = batched or (part.several and part.word != "maybe" and count > 0)
                yield from self._match_parts(name, rest, extents[count:], matched, packed)

    def _counts(self, part: ShapePart, most: int, state: _State, batched: bool) -> Sequence[int]:
        """How many extents a part may be about, the likeliest first."""
        if most < 0:
            return ()
        if part.word == "maybe":
            # With other axes before it, it could not be told that the axis is missing.
            return [each for each in ((1,) if batched else (1, 0)) if each <= most]
        if not part.several:
            return (1,) if most else ()
        if part.word is None:
            try:
                count = len(evaluate_part(part, self._scope(state)))
                return (count,) if count <= most else ()
            except EvaluationError:
                pass
        return range(most, -1, -1)

    def _match_part(self, name: str, part: ShapePart, extents: Extents, state: _State) -> _State | None:
        if part.word == "maybe":
            wanted = self._bare(part.arguments[0])
            if wanted is None:
                return state.later(name, part, extents)
            return state.bound(wanted, extents[0] if extents else None)
        if part.word is not None:
            return state.later(name, part, extents)
        wanted = self._bare(part)
        if wanted is not None and wanted not in state.bindings:
            return state.bound(wanted, list(extents) if part.several else extents[0])
        try:
            return state if evaluate_part(part, self._scope(state)) == list(extents) else None
        except EvaluationError:
            return state.later(name, part, extents)

    def _bare(self, part: ShapePart) -> str | None:
        """The name that a part consists of, where it is one to be found."""
        if part.expression is None or part.expression.names != {part.expression.text}:
            return None
        name = part.expression.text
        return name if name in self._open and (name in self._packs) == part.several else None

    def _settle(self, told: Sequence[tuple[str, Extents]], state: _State) -> Iterator[_State]:
        """States in which what was deferred holds as well."""
        pending = list(state.deferred)
        order = [name for name, _ in told]
        for deferred in pending:
            unknown = self._unknown(deferred.part, state)
            if deferred.part.word is None and unknown:
                for found in self._solutions(deferred, sorted(unknown), state):
                    rest = tuple(other for other in pending if other is not deferred)
                    yield from self._settle(told, _State(found, rest))
                return
        groups: dict[str, list[_Deferred]] = {}
        for deferred in pending:
            if deferred.part.word == "broadcast":
                groups.setdefault(
                    repr([a.expression and a.expression.text for a in deferred.part.arguments]), []
                )
                groups[repr([a.expression and a.expression.text for a in deferred.part.arguments])].append(
                    deferred
                )
        for members in groups.values():
            joined = _broadcast([member.extents for member in members])
            if joined is None:
                self._deepest = max(self._deepest, order.index(members[-1].input))
                return
            settled = self._assign(members[0].part.arguments, joined, state)
            if settled is None:
                return
            state = settled
        if all(self._holds(deferred, state) for deferred in pending):
            yield state

    def _assign(self, arguments: Sequence[ShapePart], extents: Extents, state: _State) -> _State | None:
        """The state in which the arguments of `broadcast` are these extents."""
        for found in self._match_parts("", arguments, extents, state):
            return found
        return None

    def _unknown(self, part: ShapePart, state: _State) -> set[str]:
        return {name for name in part.names & self._open if name not in state.bindings}

    def _solutions(
        self, deferred: _Deferred, unknown: Sequence[str], state: _State
    ) -> Iterator[dict[str, int | list[int] | None]]:
        """Values of names that one computed extent leaves open."""
        if len(unknown) > MOST_UNKNOWN or any(name in self._packs for name in unknown):
            return
        for values in self._candidates(deferred, unknown, state):
            found = {**state.bindings, **dict(zip(unknown, values, strict=True))}
            try:
                if evaluate_part(deferred.part, Layered(self._names, found)) == list(deferred.extents):
                    yield found
            except EvaluationError:
                continue

    def _candidates(
        self, deferred: _Deferred, unknown: Sequence[str], state: _State
    ) -> Iterator[tuple[int, ...]]:
        """Numbers up to the extent that names may be; the last one follows from the others where it can.

        Of a half, or another part of a number, these are numbers up to the whole.
        """
        expression, most = _dividend(deferred.part.expression, max(deferred.extents, default=0))
        last = unknown[-1]
        if expression is None or len(deferred.extents) != 1 or not _is_straight(expression, last):
            yield from _numbers(most, len(unknown))
            return
        for others in _numbers(most, len(unknown) - 1):
            bound = {**state.bindings, **dict(zip(unknown, others, strict=False))}
            try:
                start, then = (
                    expression.evaluate(Layered(self._names, {**bound, last: each})) for each in (0, 1)
                )
                found, left = divmod(most - start, then - start) if then != start else (0, most - start)
            except (EvaluationError, TypeError):
                yield from ((*others, each) for each in range(most + 1))
                continue
            if then == start and not left:
                yield from ((*others, each) for each in range(most + 1))
            elif not left and 0 <= found <= most:
                yield (*others, found)

    def _holds(self, deferred: _Deferred, state: _State) -> bool:
        scope = self._scope(state)
        word = deferred.part.word
        try:
            if word is None:
                return evaluate_part(deferred.part, scope) == list(deferred.extents)
            full = [
                extent for argument in deferred.part.arguments for extent in evaluate_part(argument, scope)
            ]
        except EvaluationError:
            return False
        got = list(deferred.extents)
        if word == "maybe":
            return got in ([], full)
        if word == "upto":
            return len(got) == len(full) and all(each <= most for each, most in zip(got, full, strict=True))
        if len(got) > len(full):
            return False
        return all(each in (1, most) for each, most in zip(reversed(got), reversed(full), strict=False))

    def _scope(self, state: _State) -> Mapping[str, object]:
        return Layered(self._names, state.bindings)


def _numbers(most: int, count: int) -> Iterator[tuple[int, ...]]:
    """Every so many numbers up to `most`, one after the other: `product` would hold all of them first."""
    if count == 0:
        yield ()
        return
    for first in range(most + 1):
        for others in _numbers(most, count - 1):
            yield (first, *others)


@lru_cache(maxsize=1024)
def _is_straight(expression: Expression, name: str) -> bool:
    """Whether a name stands once in it, within sums and products alone: it grows evenly with the name."""
    parts, places = [expression.tree], 0
    while parts:
        part = parts.pop()
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add | ast.Sub | ast.Mult):
            parts += [part.left, part.right]
        elif isinstance(part, ast.Name):
            places += part.id == name
        elif any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(part)):
            return False
    return places == 1


def _dividend(expression: Expression | None, extent: int) -> tuple[Expression | None, int]:
    """What is divided, and how much it is, where an extent is a quotient by a number: `head_size / 2`."""
    match expression.tree if expression is not None else None:
        case ast.Call(ast.Name(id="divided"), [dividend, ast.Constant(value=int() as divisor)]) if (
            divisor > 0
        ):
            return parse_tree(dividend), extent * divisor
    return expression, extent


def _broadcast(shapes: Sequence[Extents]) -> Extents | None:
    """The shape that shapes broadcast each other to, as NumPy does; None where they do not."""
    rank = max(map(len, shapes))
    joined: list[int] = []
    for axis in range(rank):
        extents = {shape[axis - rank + len(shape)] for shape in shapes if axis - rank + len(shape) >= 0}
        wide = extents - {1}
        if len(wide) > 1:
            return None
        joined.append(wide.pop() if wide else 1)
    return tuple(joined)
