"""Which outputs a call of a declared operator asks for: optional ones, and how many of a variadic one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import Level
from specs.language.expressions import parse
from specs.model.declared import Declared, DeclaredBounds
from specs.model.spec import Constraint, Origin, ParameterSpec, Spec

WANTED = "wanted"
"""The level of an output that is asked for; also the name of the list of these, in expressions."""
OUTPUTS = "outputs"
"""How many outputs the node has, those among them that are not asked for included, in expressions."""
NAMES = "output names"
"""What the names of all outputs of the node are bound under, empty where one is not asked for."""
_FEW = 3


def output_factors(spec: Spec) -> Mapping[str, tuple[Level, ...]]:
    """A factor for each optional output, and for each variadic one whose number is free.

    A variadic output of which the declaration says nothing is asked for once.
    """
    declared = spec.declared or Declared()
    found: dict[str, tuple[Level, ...]] = {}
    for output in spec.outputs:
        if output.option == "optional":
            found[factor_of(output)] = (WANTED, OMITTED)
        elif output.option == "variadic":
            bounds = declared.counts.get(output.name)
            if isinstance(bounds, DeclaredBounds):
                found[factor_of(output)] = counts_within(bounds)
    return found


def counts_within(bounds: DeclaredBounds) -> tuple[Level, ...]:
    """A few numbers of tensors, two of them the plainest."""
    low = bounds.low if bounds.low is not None else 1
    high = min(bounds.high if bounds.high is not None else low + _FEW - 1, low + 4 * _FEW)
    few = sorted({low, *range(low, min(high, low + _FEW - 1) + 1), high})
    return tuple(sorted(few, key=lambda count: (count != min(2, high), count)))


def factor_of(output: ParameterSpec) -> str:
    """The name of an output's factor."""
    return f"output_{output.name}"


def asks_for_outputs(spec: Spec) -> bool:
    """Whether calls of the operator say which outputs they want."""
    return any(output.option != "single" for output in spec.outputs)


def output_rules(spec: Spec) -> Iterator[Constraint]:
    """That there are as many outputs as the declaration says by an expression."""
    declared = spec.declared or Declared()
    variadic = [output for output in spec.outputs if output.option == "variadic"]
    for parameter in variadic:
        told = declared.counts.get(parameter.name)
        if isinstance(told, str):
            others = len(spec.outputs) - len(variadic)
            require = f"{OUTPUTS} == ({told}) + {others}" if others else f"{OUTPUTS} == ({told})"
            origin = Origin("derived", parameter.origin.sources, f"the declared number of outputs: {told}")
            yield Constraint(f"{parameter.name}_count", None, require, "undefined", None, None, origin)


@dataclass(frozen=True)
class Outputs:
    """The names of the outputs as candidates of a search: none where nothing would be asked for."""

    spec: Spec

    def __call__(self, scope: Partial, draw: Draw) -> Iterator[Bindings]:
        names: list[str] = []
        for output in self.spec.outputs:
            if output.option == "variadic":
                count = self._count(output, scope)
                if not isinstance(count, int):
                    return  # what it hangs on is left out
                names += [f"{output.name}_{place}" for place in range(count)]
            else:
                left_out = output.option == "optional" and scope.level(factor_of(output)) == OMITTED
                names.append("" if left_out else output.name)
        while names and not names[-1]:
            names.pop()
        if names:
            yield {WANTED: [name for name in names if name], OUTPUTS: len(names), NAMES: names}

    def _count(self, output: ParameterSpec, scope: Partial) -> object:
        declared = self.spec.declared or Declared()
        told = declared.counts.get(output.name)
        if isinstance(told, str):
            return scope.value(parse(told))
        level = scope.level(factor_of(output))
        return int(level) if level is not None else 1


def names_needed(spec: Spec) -> frozenset[str]:
    """The names in the expressions that say how many outputs there are."""
    told = (spec.declared or Declared()).counts
    texts = [told[output.name] for output in spec.outputs if isinstance(told.get(output.name), str)]
    return frozenset[str]().union(*(parse(str(text)).names for text in texts))
