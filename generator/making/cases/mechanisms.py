"""Cases of one mechanism alone, of special values side by side, and where a runtime may hand its input on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, product

import numpy as np

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.judging.verdicts import DIFFERENT
from conformance.suite.cases import Case
from conformance.suite.values import decode_floats
from generator.asking.calls import Call
from generator.asking.computed import as_run
from generator.calls.borders.breach_attempts import broken_rules
from generator.calls.borders.edges import plain_call
from generator.calls.data.data import zeros
from generator.calls.data.draws import Draw
from generator.calls.data.floats import not_numbers
from generator.calls.kinds.enumeration import Enumeration
from generator.calls.rows.covering import cover, with_fixed
from generator.calls.rows.factors import first_types
from generator.calls.rows.feasibility import FREE, Level, Model, Solver
from generator.calls.solver.partial import OMITTED, Partial, levels_in
from generator.calls.space.drawing import draw_call
from generator.calls.space.space import CallSpace
from generator.calls.variables.data_levels import DATA
from generator.making.cases.telling import (
    Loss,
    Tells,
    answer_of,
    is_told,
    keep_first_told,
    meaningful,
    tells_of_inputs,
    tells_of_outputs,
)
from generator.making.operators.workshop import Workshop, word_of
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength
from reference.numbers.numbers import encode
from specs.language.evaluation import EvaluationError

Levels = Mapping[str, str]
ALONE, TOGETHER = "alone", "together"
_OF_SHAPES = ("extents", "rank_")
"""Factors of lengths and ranks, of which every row has some."""
_TRIES = 4


def add_lone_levels(workshop: Workshop) -> None:
    """For each level of a mechanism a case in which nothing else is switched on, where there is none yet."""
    if not workshop.rows:
        return
    space, solver = workshop.levels.space, Solver(workshop.model)
    types = _texts({name: space.plainest[name] for name in space.types})
    known = _asked_levels(workshop)
    wanted = (
        (word_of(f"{ALONE}_{name}_{level}"), name, level)
        for name, level in _levels_of_mechanisms(workshop.model)
    )
    for word, name, level in workshop.lacking("boundary", wanted):
        row = _plainest_with(solver, name, level)
        levels = None if row is None else {**types, **row}
        if levels is not None and not any(levels.items() <= each.items() for each in known):
            _add_first(workshop, word, name, levels)


def add_modes_together(workshop: Workshop) -> None:
    """For each two modes of two attributes a plain case in which both matter, where there is none yet."""
    if not workshop.rows:
        return
    space, model = workshop.levels.space, workshop.model
    plain = {name: space.plainest[name] for name in space.types}
    plain |= {name: model.levels[name][0] for name in model.names if name.startswith((DATA, "rank_"))}
    usual = [levels for levels in _asked_levels(workshop) if _texts(plain).items() <= levels.items()]
    wanted = (
        (word_of("_".join([TOGETHER, *(f"{name}_{level}" for name, level in pair.items())])), pair)
        for pair in _pairs_of_modes(space, model)
    )
    for word, pair in workshop.lacking("boundary", wanted):
        if not any(_texts(pair).items() <= levels.items() for levels in usual):
            _add_where_all_matter(workshop, word, pair, plain)


def _asked_levels(workshop: Workshop) -> Sequence[Levels]:
    """The levels of the cases that must be answered, of those that have them."""
    return [case.levels for case in workshop.cases.values() if case.demand == "answer" and case.levels]


def _texts(levels: Mapping[str, Level]) -> Levels:
    return {name: str(level) for name, level in levels.items()}


def _pairs_of_modes(space: CallSpace, model: Model) -> Iterator[Mapping[str, Level]]:
    """Two levels of two attributes that have few values each, neither of them the default."""
    kinds = (kind for kind in space.kinds if isinstance(kind, Enumeration) and not kind.is_listed)
    modes = [kind.name for kind in kinds if kind.name in model.levels]
    chosen = {name: [level for level in model.levels[name][1:] if level != OMITTED] for name in modes}
    for first, second in combinations(modes, 2):
        for pair in product(chosen[first], chosen[second]):
            yield {first: pair[0], second: pair[1]}


def _add_where_all_matter(
    workshop: Workshop, word: str, pair: Mapping[str, Level], plain: Mapping[str, Level]
) -> None:
    """Keep the case of the first call with these levels in which each of a pair matters, if there is one."""
    model = workshop.model
    fixed = {name: level for name, level in {**plain, **pair}.items() if name in model.levels}
    for row in cover(with_fixed(model, fixed), 1):
        levels = _texts({**plain, **model.row_levels(row)})
        call = workshop.levels.build_call(workshop.spec, levels, workshop.draw(TOGETHER, word, str(row)))
        case = None if call is None else workshop.attempt(word, call, levels)
        if call is None or case is None:
            continue
        made = meaningful(workshop, call.trimmed(), case)
        if _all_matter(workshop, pair, made[0]):
            workshop.keep(*made)
            return


def _levels_of_mechanisms(model: Model) -> Iterator[tuple[str, Level]]:
    """The levels of mechanisms: of all factors but data, lengths and ranks."""
    for name, levels in model.levels.items():
        if name != DATA and not name.startswith((*_OF_SHAPES, "type_")):
            yield from ((name, level) for level in levels)


def _plainest_with(solver: Solver, name: str, level: Level) -> dict[str, str] | None:
    """The plainest row that has a level; None where none has."""
    model = solver.model
    place = model.names.index(name)
    row = [FREE] * len(model.sizes)
    row[place] = model.levels[name].index(level)
    found = solver.complete(row)
    return None if found is None else dict(_texts(model.row_levels(found)))


def _add_first(workshop: Workshop, word: str, name: str, levels: Levels) -> None:
    """Keep the case of the first call with these levels in which that of a name matters; else the first."""
    kept: tuple[Call, Case] | None = None
    draw = workshop.draw(ALONE, word)
    for turn in range(_TRIES):
        call = workshop.levels.build_call(workshop.spec, levels, draw.child(str(turn)))
        case = None if call is None else workshop.attempt(word, call, levels)
        if call is None or case is None:
            continue
        made = meaningful(workshop, call.trimmed(), case)
        kept = kept or made
        if _all_matter(workshop, (name,), made[0]):
            kept = made
            break
    if kept is not None:
        workshop.keep(*kept)


def _all_matter(workshop: Workshop, names: Iterable[str], call: Call) -> bool:
    """Whether a call without any one of these attributes has another answer, or is none at all."""
    others = (call.with_attribute(name, None) for name in names if name in call.attributes)
    valid = [each for each in others if not workshop.violations(each)]
    if not valid:
        return True
    own = answer_of(workshop, call)
    return all(answer_of(workshop, each) != own for each in valid)


SPECIALS = "specials_together"
_CLASS = "nonfinite"
_SPECIAL_VALUES = (math.nan, math.inf, -math.inf, 2.0, -3.0, 0.0, -0.0)
_ORDERS, _COMPUTES = "nan_in_max_min", "integer_overflow"
"""Readings of operators that order elements, or compute with them."""
_LANES = 16
Rows = Sequence[tuple[Levels, Call]]


def add_specials_together(workshop: Workshop) -> None:
    """Where elements meet, a case for each way in which they do; of all operators what is told in none."""
    kind = _plain_float(workshop)
    if kind is None or _CLASS not in workshop.model.levels.get(DATA, ()):
        return
    rows = list(_rows(workshop, kind))
    if _meet(workshop):
        told: set[object] = {_way(each) for each in workshop.cases.values() if each.id.word == SPECIALS}
        for number, (levels, call) in enumerate(sorted(rows, key=lambda row: -_made(workshop, row[1]))):
            way = _way(call)
            if (
                way not in told
                and _several_meet(workshop, call)
                and _is_kept(workshop, _mixed(workshop, call, str(number)), levels)
            ):
                told.add(way)
    _add_untold(workshop, rows, "nothing_but_nan", tells_of_inputs, Loss(_without_nan))
    _add_untold(workshop, rows, "nan_behind_vectors", tells_of_outputs, Loss(_without_rest))


def _way(made: Call | Case) -> object:
    """The way in which elements meet, where an attribute says it."""
    return made.attributes.get("reduction")


def _add_untold(workshop: Workshop, rows: Rows, word: str, tells: Tells, loss: Loss) -> None:
    """The first call on NaN alone that tells a loss which no case tells."""
    if not is_told(workshop, tells, loss):
        changed = ((levels, _nothing_but_nan(call)) for levels, call in rows)
        keep_first_told(workshop, word, tells, loss, changed)


def _made(workshop: Workshop, call: Call) -> int:
    """The elements that come out of a call: where there are many, all sorts of elements have met."""
    answer = answer_of(workshop, call)
    outputs = () if answer is None else answer.outputs
    return sum(output.array.size for output in outputs if isinstance(output, Tensor))


def _is_kept(workshop: Workshop, call: Call, levels: Levels) -> bool:
    """Whether a case of mixed data could be made; where it has several answers, it has all of them."""
    if workshop.violations(call):
        return False
    with suppress(UnstableLength):
        workshop.add_valid("boundary", SPECIALS, call, levels)
        return True
    return False


def _meet(workshop: Workshop) -> bool:
    """Whether the operator orders elements, or computes with those at one place of several inputs."""
    spec, readings = workshop.spec, workshop.reference.readings
    shapes = set(spec.declared.shapes.values()) if spec.declared is not None else set()
    elementwise = len(shapes) == 1 and any("broadcast(" in shape for shape in shapes)
    meet = elementwise or "reduction" in spec.attributes
    computes = _COMPUTES in readings and spec.outputs[0].type == spec.inputs[0].type
    return _ORDERS in readings or (computes and meet)


def _several_meet(workshop: Workshop, call: Call) -> bool:
    """Whether the call is one that reduces, and of several tensors where there may be several."""
    spec = workshop.spec
    reduction = call.attributes.get("reduction")
    reduces = reduction is not None and reduction.value != "none"
    if "reduction" in spec.attributes and not reduces:
        return False
    return spec.inputs[0].option != "variadic" or len(call.inputs) > 1


def _rows(workshop: Workshop, kind: ElementType) -> Iterator[tuple[Levels, Call]]:
    """Calls of all levels of the other factors, of one type and such data."""
    model = workshop.model
    factor, _ = first_types(workshop.spec, model)
    fixed = {factor: kind.name, DATA: _CLASS}
    known = {name: level for name, level in fixed.items() if name in model.levels}
    for row in cover(with_fixed(model, known), 1):
        levels = {name: str(level) for name, level in model.row_levels(row).items()} | {factor: kind.name}
        call = workshop.levels.build_call(workshop.spec, levels, workshop.draw(SPECIALS, str(row)))
        if call is not None:
            yield levels, call.trimmed()


def _plain_float(workshop: Workshop) -> ElementType | None:
    """A type of the first input that has NaN and infinities, float before others."""
    _, types = first_types(workshop.spec, workshop.model)
    kinds = [ELEMENT_TYPES[each] for each in sorted(types, key=lambda each: each != "float")]
    return next((kind for kind in kinds if kind.layout is not None and len(not_numbers(kind)) > 2), None)


def _mixed(workshop: Workshop, call: Call, label: str) -> Call:
    """The call whose data is drawn from special values and a few numbers; single elements stay."""
    draw, main = workshop.draw(SPECIALS, label, "data"), workshop.main_inputs
    inputs = tuple(
        (name, _drawn(given, draw) if given is not None and name in main and given.array.size > 1 else given)
        for name, given in call.inputs
    )
    return replace(call, inputs=inputs)


def _drawn(given: Tensor, draw: Draw) -> Tensor:
    values = encode(given.element_type, _SPECIAL_VALUES)
    chosen = values[draw.numbers(0, len(values) - 1, given.array.size)]
    return Tensor(given.element_type, chosen.reshape(given.shape))


def _nothing_but_nan(call: Call) -> Call:
    """The call whose first input is of NaN alone; itself where that has none, as the keys of a map."""
    name, first = call.inputs[0] if call.inputs else ("", None)
    if first is None or first.element_type.layout is None:
        return call
    nan = encode(first.element_type, [math.nan])
    return call.with_input(name, Tensor(first.element_type, np.full(first.shape, nan[0])))


def _without_nan(given: Tensor) -> Tensor | None:
    if not given.element_type.is_float or given.element_type.layout is None:
        return None
    lost = np.isnan(decode_floats(given.element_type, given.array))
    return Tensor(given.element_type, np.where(lost, zeros(given.element_type, ()).array, given.array))


def _without_rest(given: Tensor) -> Tensor | None:
    """Without the elements behind whole vectors, where there are any."""
    size = given.array.size
    if size < _LANES or not size % _LANES:
        return None
    array = np.array(given.array).reshape(-1)
    array[size - size % _LANES :] = zeros(given.element_type, ()).array
    return Tensor(given.element_type, array.reshape(given.shape))


def add_told_shortcuts(workshop: Workshop) -> None:
    """For each kind of value the calls at which a runtime may hand on what it is given, and is wrong."""
    calls = _calls(workshop.levels.space, workshop.draw("told shortcuts"))
    for word, call in workshop.lacking("boundary", calls):
        case = workshop.attempt(word_of(word), call)
        if case is not None and tells_what_is_handed_on(case):
            workshop.keep(call, case)


def tells_what_is_handed_on(case: Case) -> bool:
    """Whether the first input as it is in place of the first output is wrong; False where it cannot be.

    Of several readings the first one says so: by another one a runtime may be right, and the case tells then
    which one it follows.
    """
    handed = _handed_on(case)
    if handed is None:
        return False
    strict = replace(case, expectations=case.expectations[:1])
    return judge(strict, as_run(strict, handed)).verdict in DIFFERENT


def _handed_on(case: Case) -> Answered | None:
    """The answer of a runtime whose first output has the elements of the first input in another shape."""
    given = next((tensor for _, tensor in case.inputs if tensor is not None), None)
    if given is None or not case.expectations:
        return None
    first, *others = (output.expected for output in case.expectations[0].outputs)
    bits = given.element_type.bits
    if given.array.size != first.array.size or bits is None or bits != first.element_type.bits:
        return None
    if given.array.dtype.itemsize != first.array.dtype.itemsize or not first.array.size:
        return None
    elements = given.array.reshape(first.shape)
    return Answered((Tensor(first.element_type, elements.view(first.array.dtype)), *others))


def _calls(space: CallSpace, draw: Draw) -> Iterator[tuple[str, Call]]:
    """The calls of all kinds, of a plain one of which some values are others."""
    plain = plain_call(space, draw)
    if plain is None:
        return
    levels, found = plain
    for kind in space.kinds:
        stream = draw.child(kind.name)
        with suppress(EvaluationError):
            for word, change in kind.shortcuts(found.scope, stream):
                scope = Partial(found.scope.spec, {**found.scope.bindings, **change})
                call = draw_call(space, scope, {**levels, **levels_in(change)}, stream.child(word))
                if not broken_rules(space, call):
                    yield word, call
