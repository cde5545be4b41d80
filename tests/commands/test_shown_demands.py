"""`opcert show` of operators with drawn outputs: what cases demand; nothing where values decide."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from conformance.suite.distributions import Distributed
from conformance.suite.properties import HasShape, HasType, InRange, Masked, Property, SameAgain
from conformance.suite.suites import open_suite, write_suite
from opcert.commands import suite_argument
from opcert.commands.show_command import demand_lines
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from specs.files.library import load_spec
from specs.files.spec_folders import find_operator_name
from tests.commands.command_line import call
from tests.reports.sample import make_case, sample_facts

NORMAL = OperatorName("ai.onnx", "RandomNormal", 22)
EVERY: tuple[Property, ...] = (
    HasType("Y", ELEMENT_TYPES["float"]),
    HasShape("Y", (4, 4)),
    InRange("Y", -1.0, 1.0, whole=True),
    Distributed("Y", "normal", (0.0, 1.0), 1e-13),
    SameAgain(),
)


def shown(monkeypatch: pytest.MonkeyPatch, folder: Path, *demands: tuple[Property, ...]) -> list[str]:
    """The lines of an operator with a case for each of these."""
    cases = [
        make_case(NORMAL, "cover", {"mode": f"m{number}"}, properties=demand)
        for number, demand in enumerate(demands)
    ]
    write_suite(folder / "suite", cases, sample_facts(), {})
    monkeypatch.setattr(suite_argument, "made_of", lambda *_: open_suite(folder / "suite"))
    return demand_lines(load_spec(NORMAL))


def test_each_kind_of_demand_is_counted_with_a_case_that_has_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = shown(monkeypatch, tmp_path, EVERY, EVERY[:2], EVERY[3:])
    counts = {line.partition(" (")[0]: int(re.findall(r"\((\d+) cases?, such", line)[0]) for line in lines}
    assert counts == {
        "Y is of the type that the call says": 2,
        "Y has the shape that the call says": 2,
        "the elements of Y are whole numbers in a range": 1,
        "the elements of Y are independent draws of a normal distribution, which a right answer is denied "
        "in one of 1e13 runs at most": 2,
        "a second run, of the model loaded anew, answers the same: the call names a seed": 2,
    }
    told = "\n".join(lines)
    for each in (": float)", ": [4, 4])", ": -1 to 1)", "normal(0, 1))"):
        assert each in told


def test_a_mask_says_whether_there_are_zeros_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = shown(monkeypatch, tmp_path, (Masked("Y", "Y", True),), (Masked("Y", "Y", False),))
    assert {line.partition(" (")[0] for line in lines} == {
        "Y is 0 where Y is false, and nowhere else",
        "Y is 0 where Y is false",
    }


@pytest.mark.parametrize("name", ["Relu", "Resize-18", "com.microsoft::Pad-1"])
def test_where_values_decide_no_case_is_made(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite_argument, "made_of", None)
    assert demand_lines(load_spec(find_operator_name(name))) == []
    assert "in place of values" not in call(capsys, "show", name).out


@pytest.mark.slow
def test_every_case_of_a_real_one_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    answer = call(capsys, "show", "RandomNormal")
    head, *lines = answer.out.partition("demanded in place of values")[2].splitlines()
    with suite_argument.made_of([NORMAL]) as suite:
        counted = Counter(
            type(each).__name__ for name in suite.case_ids for each in suite.case(name).properties
        )
    assert (head, sorted(map(int, re.findall(r"\((\d+) cases, such", "\n".join(lines))))) == (
        "",
        sorted(counted.values()),
    )
