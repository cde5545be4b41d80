"""The registry of reference operators: how one is declared, found and asked."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from reference.readings.choices import AsReading as AsReading
from reference.readings.choices import Choice
from reference.readings.choices import OutputCount as OutputCount
from reference.registry.conversions import readings_of
from reference.registry.reference_operator import Evaluation, ReferenceOperator
from reference.registry.translation import translated
from specs.files.user_modules import load_module
from specs.model.spec import Spec

_Function = TypeVar("_Function", bound=Evaluation)
_OPERATORS: dict[OperatorName, ReferenceOperator] = {}
_ALL_VERSIONS: dict[str, ReferenceOperator] = {}
"""Functions of all versions, by `domain::Name`."""


def reference_operator(
    name: str,
    *,
    segments: tuple[int, ...] = (),
    without: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
) -> Callable[[_Function], _Function]:
    """Declare a function as the reference of an operator version, written `domain::Name-version`.

    Written `domain::Name`, it is that of all versions that are declared: it is told the `version` where it
    has a parameter of that name, and `segments` are the versions from which on the same call means
    something else. What is an attribute in one version and an input in another is one parameter. A function
    may be declared for several versions: a version is `without` some parameters, which have defaults, and
    `needs` inputs that others leave out.

    Its positional parameters are the inputs (optional ones default to None), its keyword-only ones the
    attributes with the document's defaults (an attribute without default has none), and its readings those
    annotated `Annotated[Literal[...], Reading]`, or `Annotated[Choice[Literal[...]], Reading]` where it asks
    for them. A variadic input or a sequence is a tuple of tensors. Parameters annotated with Numbers, int,
    tuple[int, ...] or Fraction get what `convert_arguments` makes of tensors and attributes. It returns an
    Answer, a Tensor or Numbers, or a tuple of them in the order of the outputs.
    """
    every = "-" not in name
    operator = OperatorName.parse(f"{name}-0" if every else name)

    def register(function: _Function) -> _Function:
        if operator in _OPERATORS or name in _ALL_VERSIONS:
            raise ValueError(f"{name} has two references")
        found = _read(function, operator, segments if every else None, without, needs)
        if every:
            _ALL_VERSIONS[name] = found
        else:
            _OPERATORS[operator] = found
        return function

    return register


def _read(
    function: Evaluation,
    operator: OperatorName,
    segments: tuple[int, ...] | None,
    without: tuple[str, ...],
    needs: tuple[str, ...],
) -> ReferenceOperator:
    """What a function says by its signature."""
    hints = get_type_hints(function, include_extras=True)
    known = inspect.signature(function).parameters
    parameters = [each for each in known.values() if each.name not in without]
    keywords = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
    inputs = {each.name: each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD}
    readings = {each: _options(hints[each]) for each in keywords if _has(hints.get(each), AsReading)}
    counts = {each for each in keywords if _has(hints.get(each), OutputCount)}
    shared = {name: each for name, each in readings_of(hints).items() if name not in readings}
    return ReferenceOperator(
        operator=operator,
        function=function,
        inputs=tuple(inputs),
        required=frozenset({*needs, *(name for name, each in inputs.items() if each.default is each.empty)}),
        attributes=frozenset(keywords - set(readings) - counts - {"version"}),
        readings=dict(sorted((readings | shared).items())),
        deferred=frozenset(each for each in readings if _is_deferred(hints[each])),
        count=next(iter(counts), None),
        hints=hints,
        decimals={
            each.name: float(each.default) for each in parameters if isinstance(each.default, Fraction)
        },
        shared=frozenset(shared),
        segments=segments,
    )


def _has(hint: Any, marker: type) -> bool:
    return get_origin(hint) is Annotated and marker in hint.__metadata__


def _is_deferred(hint: Any) -> bool:
    return get_origin(get_args(hint)[0]) is Choice


def _options(hint: Any) -> tuple[str, ...]:
    literal = get_args(get_args(hint)[0])[0] if _is_deferred(hint) else get_args(hint)[0]
    if get_origin(literal) is not Literal:
        raise TypeError(f"a reading is annotated with a Literal, not {literal}")
    return tuple(str(option) for option in get_args(literal))


@dataclass(frozen=True)
class _Declared:
    """References of one version each, and those of all versions, by `domain::Name`."""

    single: Mapping[OperatorName, ReferenceOperator]
    common: Mapping[str, ReferenceOperator]

    def find(self, operator: OperatorName) -> ReferenceOperator | None:
        if operator in self.single:
            return self.single[operator]
        common = self.common.get(operator.unversioned)
        return None if common is None else replace(common, operator=operator)


@cache
def _discover() -> Mapping[OperatorName, ReferenceOperator]:
    operators = importlib.import_module("reference.operators")
    for module in pkgutil.iter_modules(operators.__path__):
        importlib.import_module(f"{operators.__name__}.{module.name}")
    return _OPERATORS


def implemented() -> list[OperatorName]:
    """Every operator version that has a reference of its own, in order."""
    return sorted(_discover())


def for_all_versions() -> Mapping[str, ReferenceOperator]:
    """The references that hold for all versions, by `domain::Name`."""
    _discover()
    return dict(sorted(_ALL_VERSIONS.items()))


@cache
def _operators_of(module: Path) -> _Declared:
    """What a user's module declares; apart from what ships, which it may replace."""
    shipped, common = dict(_discover()), dict(_ALL_VERSIONS)
    _OPERATORS.clear()
    _ALL_VERSIONS.clear()
    try:
        load_module(module)
        return _Declared(dict(_OPERATORS), dict(_ALL_VERSIONS))
    finally:
        _OPERATORS.clear()
        _OPERATORS.update(shipped)
        _ALL_VERSIONS.clear()
        _ALL_VERSIONS.update(common)


def reference_of(spec: Spec) -> ReferenceOperator:
    """The reference of a spec's operator: its own, or that of the operator that it is the same as.

    Raises UserError where there is none, and where the two operators do not fit.
    """
    if spec.same_as is None:
        return find_operator(spec.operator, spec.reference_module)
    return translated(spec, spec.same_as, find_operator(spec.same_as.operator, spec.reference_module))


def find_operator(operator: OperatorName, module: Path | None = None) -> ReferenceOperator:
    """The reference of an operator version; raises UserError where there is none.

    It is looked for in `module`, the file that a user's spec names (`Spec.reference_module`), where given.
    """
    if module is not None:
        declared = _operators_of(module)
        own = declared.find(operator)
        if own is None:
            raise UserError(
                f"the module does not declare a reference of {operator}",
                got=", ".join(map(str, (*declared.single, *declared.common))) or "none",
                expected=f'a function with @reference_operator("{operator}")',
                where=Place(str(module)),
            )
        return own
    found = _Declared(_discover(), _ALL_VERSIONS).find(operator)
    if found is None:
        raise UserError(
            "operator without a reference",
            got=str(operator),
            expected=f"one of {', '.join(map(str, implemented()))}",
            remedy="Write one as a module of reference/operators, or name one in spec.yaml.",
        )
    return found
