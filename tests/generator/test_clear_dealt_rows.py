"""Rows with dealt types are replaced by clearer ones, as others are, and everything stays covered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from textwrap import dedent

import pytest

from generator.asking.ambiguity import ambiguity
from generator.making.families import cover
from generator.making.families.cover import Replacements
from generator.making.operators.workshop import Options, Workshop, open_workshop
from opcert.vocabulary.names import OperatorName
from reference.registry.reference_operator import ReferenceOperator
from tests.generator.declared import write_operator

FACTS = f"""\
operator: {{domain: test, name: Made, since_version: 1}}
documents:
  d1: {{file: page.md, dialect: onnx-markdown, sha256: {"a" * 64}, identity: stated}}
arity: {{inputs: [1, 1], outputs: [1, 1]}}
attributes:
  mode:
    type: string
    required: false
    default: {{value: plain, rule: printed-default, confidence: 1.0, src: [d1, 3]}}
    src: [d1, 3]
  first:
    type: int
    required: false
    default: {{value: 0, rule: printed-default, confidence: 1.0, src: [d1, 4]}}
    src: [d1, 4]
  second:
    type: int
    required: false
    default: {{value: 0, rule: printed-default, confidence: 1.0, src: [d1, 5]}}
    src: [d1, 5]
inputs: [{{name: X, type: T, option: single, homogeneous: true, src: [d1, 6]}}]
outputs: [{{name: Y, type: T, option: single, homogeneous: true, src: [d1, 7]}}]
type_constraints: {{T: {{types: [float, double, int32], src: [d1, 8]}}}}
"""
DECLARATION = """\
shapes: {X: "*S"}
extents: {S: 1..3}
kinds:
  mode: enumeration('plain', 'odd', 'even')
reference: reference.py
"""
REFERENCE = """\
import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.registry import reference_operator


@reference_operator("test::Made-1")
def made(X: Tensor, *, mode: str = "plain", first: int = 0, second: int = 0) -> Answer:
    if mode != "odd" or first == 0:
        return Answer(X)
    zero = X.array.dtype.type(0)
    return Answer(X, np.zeros(X.shape), {place: (zero,) for place in range(X.array.size)})
"""


@pytest.fixture
def operator(tmp_path: Path) -> OperatorName:
    found = write_operator(tmp_path, dedent(DECLARATION), FACTS)
    (tmp_path / "test" / "Made" / "reference.py").write_text(REFERENCE, encoding="utf-8")
    return found


def covered(operator: OperatorName, folder: Path) -> Workshop:
    workshop = open_workshop(operator, Options(), (folder,))
    cover.make_cases(workshop)
    return workshop


def pairs(workshop: Workshop) -> set[tuple[tuple[str, str], ...]]:
    names = workshop.model.levels
    return {
        pair
        for row in workshop.rows
        for pair in combinations(sorted((name, level) for name, level in row.items() if name in names), 2)
    }


def test_unclear_rows_are_replaced_and_types_and_pairs_stay(
    operator: OperatorName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleared = covered(operator, tmp_path)

    def nothing(_self: Replacements, _row: object) -> Iterator[dict[object, object]]:
        return iter(())

    monkeypatch.setattr(Replacements, "changes_for", nothing)
    plain = covered(operator, tmp_path)
    several = [ambiguity(list(workshop.cases.values())).several for workshop in (cleared, plain)]
    assert 0 < several[0] < several[1]
    assert pairs(cleared) == pairs(plain)
    types = [Counter(row["type_T"] for row in workshop.rows) for workshop in (cleared, plain)]
    assert types[0] == types[1]
    assert len(cleared.rows) == len(plain.rows) == len(cleared.cases)
    for case in cleared.cases.values():
        assert case.levels["type_T"] == case.element_type.name


def test_no_answer_is_computed_twice(
    operator: OperatorName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Counter[str] = Counter()
    evaluate = ReferenceOperator.evaluate

    def counted(self: ReferenceOperator, attributes: object, inputs: object, *rest: object) -> object:
        asked[repr((attributes, inputs, rest[0]))] += 1
        return evaluate(self, attributes, inputs, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(ReferenceOperator, "evaluate", counted)
    covered(operator, tmp_path)
    assert asked
    assert set(asked.values()) == {1}
