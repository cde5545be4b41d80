"""How often operators are used, counted over public models: `operator_use.yaml` says which, and when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.yaml_files import load_file

FILE = Path(__file__).with_name("operator_use.yaml")


@dataclass(frozen=True, order=True)
class Use:
    """In how many of the models an operator occurs, and as how many nodes."""

    models: int = 0
    nodes: int = 0


@dataclass(frozen=True)
class CountedModels:
    """The models that were counted, by their packages, on which day, and the use of each operator."""

    date: str
    models: Mapping[str, tuple[str, ...]]
    operators: Mapping[str, Use]

    @property
    def number(self) -> int:
        return sum(map(len, self.models.values()))


@cache
def counted_models() -> CountedModels:
    """What the file says."""
    (document,) = load_file(FILE)
    told = document.value
    return CountedModels(
        str(told["date"]),
        {str(package): tuple(map(str, names)) for package, names in told["models"].items()},
        {str(name): Use(each["models"], each["nodes"]) for name, each in told["operators"].items()},
    )


def use_of(operators: Iterable[OperatorName]) -> Use:
    """That of the operator among these that is used most, in whatever version."""
    counted = counted_models().operators
    return max((counted.get(operator.unversioned, Use()) for operator in operators), default=Use())


def use_text(use: Use) -> str:
    """`in 13 of 17 public models`; empty where it is in none."""
    return f"in {use.models} of {counted_models().number} public models" if use.models else ""
