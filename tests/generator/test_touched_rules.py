"""Breaking rules looks at what was changed alone, and at outlines of data: it finds what a full look does."""

from __future__ import annotations

from itertools import islice

import pytest

from generator.calls.borders.breach_attempts import bases, broken_rules, changed_calls
from generator.calls.data.draws import Draw
from generator.calls.declared.declared_levels import UnlearnedCore, declare_levels
from generator.calls.space.space import TouchedRules, open_space
from opcert.vocabulary.names import OperatorName
from specs.files.library import load_spec

OPERATORS = [
    "ai.onnx::Concat-13",
    "ai.onnx::Div-14",
    "ai.onnx::Gather-13",
    "ai.onnx::Gemm-13",
    "ai.onnx::Resize-19",
    "ai.onnx::Slice-13",
    "ai.onnx::OptionalGetElement-18",
    "com.microsoft::Pad-1",
]


@pytest.mark.parametrize("name", OPERATORS)
def test_what_was_changed_tells_which_rules_can_be_broken(name: str) -> None:
    space = open_space(load_spec(OperatorName.parse(name)))
    draw, broken_ones = Draw(f"{name}/touched"), 0
    for base in islice(bases(space, draw, {}), 4):
        for changed in changed_calls(space, base, draw):
            call = changed.call()
            if call is None:
                continue
            broken = broken_rules(space, call)
            broken_ones += bool(broken)
            assert broken_rules(space, changed.outline) == broken
            touched = space.touched_rules.between(base.call, changed.outline)
            assert {each.id for each in touched} >= set(broken)
    assert broken_ones


def test_rules_of_shapes_are_not_touched_by_elements() -> None:
    space = open_space(load_spec(OperatorName.parse("ai.onnx::Gather-13")))
    (base,) = islice(bases(space, Draw("elements"), space.plainest), 1)
    (other,) = islice(bases(space, Draw("others"), space.plainest), 1)
    call = base.call.with_input("data", base.call.input("data"))
    assert space.touched_rules.between(base.call, call) == ()
    assert not space.touched_rules.ask_for_data
    exchanged = base.call.with_input("indices", other.call.input("data"))
    assert {"indices_range", "type_of_Tind"} & {
        each.id for each in space.touched_rules.between(base.call, exchanged)
    }


def test_a_rule_of_drawn_elements_asks_for_data() -> None:
    spec = open_space(load_spec(OperatorName.parse("ai.onnx::Div-14"))).spec
    assert TouchedRules(spec, frozenset({"B"})).ask_for_data
    assert not TouchedRules(spec, frozenset({"A"})).ask_for_data


def test_levels_that_lack_a_core_are_told() -> None:
    spec = load_spec(OperatorName.parse("ai.onnx::Gather-13"))
    _, levels = declare_levels(spec, learn=False)
    plain = {
        name: str(level) for name, level in levels.space.plainest.items() if name not in levels.space.types
    }
    assert len(levels.deal([plain])) > 1
    with pytest.raises(UnlearnedCore, match=r"cores .*axis=inner"):
        levels.deal([plain, {**plain, "rank_S": "1", "axis": "inner"}])
