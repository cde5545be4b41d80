"""The suites of the operators that ship: every level reached, every rule broken alone, the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.suite.suites import open_suite
from generator.asking.named_operators import first_operators
from generator.asking.validity import find_violations
from generator.calls.data.draws import Draw
from generator.calls.rows.covering import cover
from generator.calls.rows.factors import factor_model
from generator.calls.rows.feasibility import Solver
from generator.calls.rows.level_tuples import covered_tuples, feasible_tuples
from generator.making.operators.discovery import open_spec
from generator.making.operators.workshop import Options
from generator.making.suites.suite_making import write_generated
from opcert.vocabulary.names import OperatorName
from reference.registry import find_operator
from specs.files.library import load_spec
from specs.language.expressions import parse
from tools.determinism import AS_IT_IS, OLDER, digest_under

pytestmark = pytest.mark.slow

OPERATORS = first_operators()
OLDER_RESIZES = ("ai.onnx::Resize-10", "ai.onnx::Resize-11", "ai.onnx::Resize-13", "ai.onnx::Resize-18")
"""What takes longest, and shows what the newest one shows."""
MOST_OF_THEM = [
    pytest.param(operator, marks=[pytest.mark.nightly] if str(operator) in OLDER_RESIZES else [])
    for operator in OPERATORS
]
DRAWS = 5
QUICK = OperatorName.parse("com.microsoft::Pad-1")
SHIPPED = {
    "ai.onnx::CenterCropPad-18",
    "ai.onnx::Resize-10",
    "ai.onnx::Resize-11",
    "ai.onnx::Resize-13",
    "ai.onnx::Resize-18",
    "ai.onnx::Resize-19",
    "com.microsoft::Pad-1",
    "org.openvino::ExtractImagePatches-3",
    "org.tensorflow::BatchToSpaceND-1",
}
UNBROKEN = dict.fromkeys(
    ("type_of_T", "type_of_T1", "type_of_T2", "type_of_T_input"), "every type that is tried is allowed"
)
"""Rules of which no case is made, and why."""


def test_every_shipped_operator_can_be_generated() -> None:
    assert {str(operator) for operator in OPERATORS} >= SHIPPED


@pytest.mark.parametrize("operator", OPERATORS, ids=str)
def test_readings_are_the_parameters_of_the_reference(operator: OperatorName) -> None:
    """Every open reading; a settled one may be computed in the chosen way alone."""
    spec, known = load_spec(operator), find_operator(operator).readings
    stated = {
        reading.id: set(reading.options)
        for reading in spec.readings
        if reading.chosen is None or reading.id in known
    }
    assert stated == {name: set(options) for name, options in known.items()}


@pytest.mark.nightly
@pytest.mark.parametrize("operator", MOST_OF_THEM, ids=str)
def test_every_row_becomes_a_call_that_keeps_every_rule(operator: OperatorName) -> None:
    spec, levels = open_spec(operator)
    model = factor_model(spec)
    rows = cover(model, 2)
    assert all(exclusion.origin.sources or exclusion.origin.why for exclusion in spec.exclusions)
    plain = [{name: str(level) for name, level in model.row_levels(row).items()} for row in rows]
    for chosen in levels.deal(plain):
        drawn = (levels.build_call(spec, chosen, Draw(f"{chosen} {turn}")) for turn in range(DRAWS))
        call = next((each for each in drawn if each is not None), None)
        assert call is not None, chosen
        assert find_violations(spec, call) == [], chosen
        assert call.inputs[0][1] is not None
        assert call.inputs[0][1].array.size <= 20_000


@pytest.mark.parametrize("operator", MOST_OF_THEM, ids=str)
def test_every_level_is_reached_and_rows_are_few(operator: OperatorName) -> None:
    model = factor_model(open_spec(operator)[0])
    rows = cover(model, 2)
    for factor, size in enumerate(model.sizes):
        assert {row[factor] for row in rows} == set(range(size)), model.names[factor]
    first, second = sorted(model.sizes)[-2:]
    assert len(rows) <= 1.25 * first * second
    feasible = feasible_tuples(Solver(model), 2)
    assert len(rows) >= max(map(len, feasible.values()))


@pytest.mark.parametrize("operator", MOST_OF_THEM, ids=str)
def test_the_pairs_of_random_rows_that_no_exclusion_rules_out_are_covered(operator: OperatorName) -> None:
    """Shares nothing with the solver: rows are drawn, and the exclusions evaluated on each."""
    spec, _ = open_spec(operator)
    model = factor_model(spec)
    covered = covered_tuples(model, cover(model, 2), 2)
    rules = [parse(exclusion.when) for exclusion in spec.exclusions]
    draw, found = Draw(f"rows of {operator}"), 0
    for _ in range(20_000):
        if found > 20:
            break
        row = tuple(draw.integer(0, size - 1) for size in model.sizes)
        levels = model.row_levels(row)
        if any(rule.evaluate(levels) for rule in rules):
            continue
        found += 1
        for factors, values in covered.items():
            assert tuple(row[factor] for factor in factors) in values
    assert found > 10


@pytest.mark.parametrize("word", ["invalid", "faults"])
@pytest.mark.parametrize("operator", MOST_OF_THEM, ids=str)
def test_every_rule_is_broken_alone_by_a_call_made_from_a_valid_one(
    operator: OperatorName, word: str
) -> None:
    """In the suite, and with other draws."""
    spec, levels = open_spec(operator)
    broken = set()
    for name, valid, call in levels.invalid_calls(spec, Draw(f"{operator}/{word}")):
        assert find_violations(spec, valid) == []
        assert [violation.id for violation in find_violations(spec, call)] == [name]
        broken.add(name)
    rules = {constraint.id for constraint in spec.constraints if constraint.require is not None}
    assert sorted(rules - broken - set(UNBROKEN)) == []
    assert broken <= rules


def generated(folder: Path, surroundings: Mapping[str, str], processes: int) -> str:
    code = (
        "import sys; from pathlib import Path; "
        "from generator.making.suites.suite_making import write_generated; "
        "from generator.making.operators.workshop import Options; "
        "from generator.making.operators.discovery import select_operators\n"
        "if __name__ == '__main__':\n"
        "    chosen = select_operators(['Pad-1', 'CenterCropPad'])\n"
        f"    print(write_generated(Path(sys.argv[1]), chosen, Options.of('small'), processes={processes}))"
    )
    script = folder.with_suffix(".py")
    script.write_text(code)
    ran = subprocess.run(
        [sys.executable, str(script), str(folder)],
        env={**os.environ, **surroundings, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.strip()


@pytest.mark.nightly
def test_the_same_bytes_whatever_the_surroundings(tmp_path: Path) -> None:
    """Other processors: test_processors.py. Older packages: tools/determinism.py."""
    here = {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "2"}
    there = {
        "PYTHONHASHSEED": "4242", "TZ": "Asia/Kathmandu", "LC_ALL": "C", "LANG": "tr_TR.UTF-8",
        "PYTHONUTF8": "0", "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    first = generated(tmp_path / "one", here, 1)
    assert generated(tmp_path / "two", there, 2) == first
    files = sorted(
        path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file()
    )
    assert [file.name for file in files] == ["CenterCropPad-18.pb", "Pad-1.pb", "known.json", "manifest.json"]
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_a_suite_holds_each_case_with_what_the_manifest_promises(tmp_path: Path) -> None:
    lines: list[object] = []
    digest = write_generated(tmp_path / "suite", [QUICK], Options.of("small"), progress=lines.append)
    assert len(lines) == 1
    assert str(lines[0]).startswith(f"{QUICK}: ")
    with open_suite(tmp_path / "suite") as suite:
        assert suite.digest == digest
        facts = suite.facts["operators"][str(QUICK)]
        assert facts["coverage"]["strength"] == 1
        assert facts["coverage"]["covered"] == facts["coverage"]["feasible"]
        ids = set(suite.case_ids)
        for case in suite.cases():
            if case.demand == "answer":
                assert case.expectations
            else:
                assert case.constraint in facts["constraints"]
                assert case.valid_case in ids
    assert json.loads((tmp_path / "suite" / "manifest.json").read_text())["options"]["size"] == "small"


@pytest.mark.runtimes("onnxruntime")
@pytest.mark.nightly
def test_the_same_bytes_under_older_packages(tmp_path: Path) -> None:
    """Marked as the tests of runtimes are, because it installs packages."""
    digests: list[str] = []
    for surroundings in (AS_IT_IS, OLDER):
        (tmp_path / str(len(digests))).mkdir()
        digests.append(digest_under(surroundings, ["Pad-1", "--size", "small"], tmp_path / str(len(digests))))
    assert digests[0] == digests[1]
