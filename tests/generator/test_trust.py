"""How far an operator's cases are trusted: worked out from what was measured of these very cases."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.suite.suites import open_suite
from generator.making.suites.cache import default_suite
from generator.making.suites.lock import read_lock
from generator.making.suites.lock_making import expectations_by_operator, lock_of
from generator.making.suites.measured_cases import measured_cases
from generator.measured.kept import (
    Agreed,
    MeasuredOperator,
    RuntimeFailures,
    Selected,
    agreed_path,
    cases_digest,
    read_agreed,
    write_agreed,
    write_kept,
)
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from tools.operators import beside_others, rest_of_onnx

NAME = OperatorName.parse("test.domain::Shift-1")
CASES = {"cover/000000000001": "a" * 16, "cover/000000000002": "b" * 16}
KEPT = MeasuredOperator(
    str(NAME), "", (Selected("cover/000000000001", 3, "a" * 16),), {"mutants": {"killed": 97, "score": 0.97}}
)
WRITE = "write it with `python -m tools.operators --keep > docs/tables/operators.md`"
AGREED = Agreed(
    str(NAME),
    cases_digest(CASES),
    {"onnx": RuntimeFailures("1.0", 3, 3), "other": RuntimeFailures("2.0", 0, 0)},
)


def trust(folder: Path, kept: MeasuredOperator | None = KEPT, agreed: Agreed | None = AGREED) -> str:
    if kept is not None:
        write_kept(kept, folder)
    if agreed is not None:
        write_agreed(agreed, folder)
    return found_of(NAME, CASES, folder)


def found_of(operator: OperatorName, cases: Mapping[str, str], folder: Path) -> str:
    return measured_cases(operator, cases, (folder,)).trust


def test_what_was_measured_and_explained_is_reviewed(tmp_path: Path) -> None:
    assert trust(tmp_path) == "reviewed"
    assert read_agreed(NAME, tmp_path) == AGREED


@pytest.mark.parametrize(
    ("kept", "agreed"),
    [
        (None, AGREED),
        (KEPT, None),
        (replace(KEPT, found={"mutants": {"killed": 96, "score": 0.969}}), AGREED),
        # A case that was counted on expects something else by now.
        (replace(KEPT, selection=(Selected("cover/000000000001", 3, "c" * 16),)), AGREED),
        (KEPT, replace(AGREED, cases="0" * 64)),
        (KEPT, replace(AGREED, runtimes={"onnx": RuntimeFailures("1.0", 3, 2)})),
    ],
)
def test_whatever_lacks_leaves_it_referenced(
    tmp_path: Path, kept: MeasuredOperator | None, agreed: Agreed | None
) -> None:
    assert trust(tmp_path, kept, agreed) == "referenced"


def test_who_was_asked_of_the_same_cases_before_is_kept() -> None:
    again = replace(AGREED, runtimes={"other": RuntimeFailures("3.0", 1, 1)})
    kept = beside_others(again, AGREED)
    assert kept.runtimes == {"onnx": RuntimeFailures("1.0", 3, 3), "other": RuntimeFailures("3.0", 1, 1)}
    assert beside_others(again, replace(AGREED, cases="0" * 64)) == again
    assert beside_others(again, None) == again


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": "opcert-agreement/0"}', "\x00"])
def test_a_damaged_file_is_told(tmp_path: Path, text: str) -> None:
    path = agreed_path(NAME, tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(UserError, match="agreement cannot be read"):
        read_agreed(NAME, tmp_path)


@pytest.mark.slow
def test_the_lock_says_what_the_files_come_to() -> None:
    """Of the default suite: nothing was measured of other versions."""
    lock = read_lock()
    with open_suite(default_suite(lambda line: None)) as suite:
        now = lock_of(suite).versions
    for name, line in lock.versions.items():
        found = now[name].trust if name in now else "referenced"
        assert line.trust == found, f"{name}: `opcert generate --update` names it"


@pytest.mark.slow
def test_a_level_of_the_lock_holds_for_the_cases_that_runtimes_were_asked_about_alone() -> None:
    lock = read_lock()
    name = next(name for name, line in lock.default.versions.items() if line.trust == "reviewed")
    operator = OperatorName.parse(name)
    with open_suite(default_suite(lambda line: None)) as suite:
        cases = expectations_by_operator(suite)[operator]
    assert measured_cases(operator, cases).trust == "reviewed"
    assert measured_cases(operator, cases, locked={}).trust == "referenced"
    assert measured_cases(operator, cases, locked={name: "referenced"}).trust == "referenced"
    first = next(iter(cases))
    assert measured_cases(operator, {**cases, first: "0" * 16}).trust == "referenced"
    del cases[first]
    assert measured_cases(operator, cases).trust == "referenced"


def test_the_table_of_operators_is_of_the_lock(repository: Path) -> None:
    text = (repository / "docs" / "tables" / "operators.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    shown = {(row[0].strip("`"), int(row[2]), row[6]) for row in rows}
    lock = read_lock()
    wanted = {
        (OperatorName.parse(name).short, line.cases, line.trust)
        for name, line in lock.default.versions.items()
    }
    assert shown == wanted, WRITE


def test_the_table_is_followed_by_the_operators_without_a_reference(repository: Path) -> None:
    text = (repository / "docs" / "tables" / "operators.md").read_text(encoding="utf-8")
    rest = "\n".join(rest_of_onnx())
    assert text.endswith(rest + "\n"), WRITE
    shown = {line.strip("| ").split(" | ")[0] for line in text.splitlines() if line.startswith("| `")}
    listed = set(re.findall(r"`\w+-\d+`", rest))
    assert listed
    assert not {each.rpartition("-")[0] for each in listed} & {each.rpartition("-")[0] for each in shown}


def test_the_readme_counts_as_the_lock_does(repository: Path) -> None:
    text = (repository / "README.md").read_text(encoding="utf-8")
    versions = read_lock().default.versions.values()
    cases, operators = sum(version.cases for version in versions), len(versions)
    assert f"{cases:,} cases of {operators} operators" in text
    assert f"\n{operators} of them, each in its newest version" in text
