"""`opcert check` of models as converters, optimisers and quantisers write them: every node is covered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.commands.checked_models import write_boosted_trees, write_optimised
from tests.commands.test_check import answers_of, check, on, place

__all__ = ["place"]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 200])
def test_one_score_of_two_classes_is_covered(
    capsys: pytest.CaptureFixture[str], place: Path, rows: int
) -> None:
    model = write_boosted_trees(place / "model.onnx")
    np.save("X.npy", np.random.default_rng(rows).normal(size=(rows, 3)).astype(np.float32))
    answer, document = check(
        capsys, model, *on("Right", "TurnedScores"), "--inputs", ".", "--require-coverage"
    )
    assert answer.code == 1, answer.err
    assert "Checked: all of 1 node." in answer.out
    found = [answers_of(document, name, "trees") for name in ("Right", "TurnedScores")]
    assert found == ["conformant", "wrong"]
    verdicts = [[node["verdict"] for node in each["numbers"]["nodes"]] for each in document["runtimes"]]
    assert verdicts == [["right"], ["wrong"]]


@pytest.mark.slow
@pytest.mark.runtimes("onnxruntime")
def test_what_onnx_runtime_writes_into_models_is_covered_and_right_there(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_optimised(place / "model.onnx")
    answer, document = check(capsys, model, "--on", "onnxruntime", "--inputs", "random", "--no-chains")
    assert answer.code == 0, answer.err
    assert "7 nodes held against references." in answer.out
    assert "7 of 7 nodes conformant; with these inputs 7 of 7 nodes right, 0 wrong" in answer.out
    assert [node["verdict"] for node in document["runtimes"][0]["numbers"]["nodes"]] == ["right"] * 7
