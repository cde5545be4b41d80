"""Cores as they are kept: each is still one, learning again finds the same, none is of a single level."""

from __future__ import annotations

import pytest

from generator.calls.declared.modelled import kept_cores_of
from generator.calls.rows.cores import ForbiddenCombination, is_confirmed
from generator.calls.rows.covering_rows import covering_rows, learn_cores, make_rows
from generator.calls.rows.feasibility import Level
from opcert.vocabulary.names import OperatorName
from tests.generator.declared import declared_versions, newest_operators, space_of
from tools.searched import learn_versions

WITH_CORES = [newest_operator for newest_operator in newest_operators() if kept_cores_of(newest_operator)]
LEARNED_AGAIN = ("Add", "CumSum", "Expand", "Gather", "ReduceMax", "Reshape", "TopK", "Transpose", "Trilu")
ROWS_WITHOUT_CALL: dict[str, list[dict[str, Level]]] = {
    "DFT": [{"extents": "ordinary", "dft_length": "one", "inverse": 1, "onesided": 1}],
}
"""Levels of rows: a spectrum that goes back to one sample has one bin, and ordinary extents are not 1."""


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("operator", WITH_CORES, ids=str)
def test_no_search_finds_a_call_with_a_kept_core(operator: OperatorName) -> None:
    space = space_of(operator)
    assert [
        str(kept_core) for kept_core in kept_cores_of(operator) if not is_confirmed(space, kept_core, 1)
    ] == []


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNED_AGAIN)
def test_learning_again_finds_what_is_kept(name: str) -> None:
    versions = declared_versions(name)
    found = learn_versions([space_of(version) for version in versions])
    for version in versions:
        assert {str(core) for core in found[version.since_version]} == {
            str(core) for core in kept_cores_of(version)
        }


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("operator", newest_operators(), ids=str)
def test_every_level_has_a_call(operator: OperatorName) -> None:
    """No core is of one level, and no row of the array over what the cores leave is without a call.

    Exceptions are needed.
    """
    cores = kept_cores_of(operator)
    assert [str(core) for core in cores if len(core.levels) == 1] == []
    space = space_of(operator)
    dealt = set(space.types) - space.paired
    called = [
        tuple(row.levels[name] for name in row.levels if name not in dealt) for row in make_rows(space, cores)
    ]
    wanted = covering_rows(space, cores)
    lacking = [each for each in wanted if tuple(each.values()) not in called]
    listed = [ForbiddenCombination(each) for each in ROWS_WITHOUT_CALL.get(operator.name, [])]
    assert [each for each in lacking if not any(one.forbids(each) for one in listed)] == []
    assert [str(one) for one in listed if not any(one.forbids(each) for each in lacking)] == []
    assert [str(one) for one in listed if not is_confirmed(space, one, 1)] == []


def test_versions_that_differ_in_types_alone_share_their_cores() -> None:
    """The one that is taken over is the one that would be learned."""
    for operator in (OperatorName("ai.onnx", "Add", 7), OperatorName("ai.onnx", "ReduceMin", 12)):
        alone = {str(core) for core in learn_cores(space_of(operator))}
        assert alone == {str(kept_core) for kept_core in kept_cores_of(operator)}


def test_a_core_that_has_a_call_is_refuted() -> None:
    space = space_of(OperatorName("ai.onnx", "Add", 14))
    assert not is_confirmed(space, ForbiddenCombination({"rank_S": 2, "broadcast": "same"}))
    assert is_confirmed(space, ForbiddenCombination({"rank_S": 0, "broadcast": "mutual"}))
