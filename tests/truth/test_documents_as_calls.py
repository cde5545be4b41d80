"""Calls that documents alone make: what is made, what runtimes say of it, and how it is counted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED
from generator.calls.solver.solving import Found
from generator.calls.space.space import open_space
from generator.trust.witnesses.document_calls import LEAST, make_document_calls
from opcert.vocabulary.names import OperatorName
from specs.files.declarations import declare_by_documents
from specs.files.library import load_imported, load_spec
from specs.files.spec_folders import OWN_FOLDER, facts_path
from specs.model.signature_parts import Origin, Source
from specs.model.spec import Spec
from specs.model.statements import Rank
from tools.documents_as_calls import Row, half_of, main

SECONDS = 60.0


def facts(name: str) -> Spec:
    return load_imported(OperatorName.parse(name))


@pytest.mark.parametrize("name", ["ai.onnx::Abs-13", "ai.onnx::Xor-7", "org.openvino::Tan-1"])
def test_a_document_alone_makes_enough_calls_with_all_pairs(name: str) -> None:
    made = make_document_calls(facts(name), SECONDS)
    assert made.all_pairs
    assert not made.missing
    operator = OperatorName.parse(name)
    assert len({call.digest(operator) for call in made.calls}) == len(made.calls) >= LEAST


def test_what_people_declared_is_taken_away() -> None:
    operator = OperatorName.parse("ai.onnx::Clip-13")
    room = facts_path(operator, OWN_FOLDER).parent
    declared = load_spec(operator)
    derived = declare_by_documents(load_imported(operator), room, (OWN_FOLDER,))
    assert {reading.id for reading in declared.readings} > {reading.id for reading in derived.readings}


def test_a_fact_that_is_missing_is_named_and_there_is_no_call() -> None:
    made = make_document_calls(facts("ai.onnx::Einsum-12"), SECONDS)
    assert not made.calls
    assert any("equation" in each for each in made.missing)


def test_a_sparse_tensor_is_not_sent_as_a_dense_one() -> None:
    made = make_document_calls(facts("com.microsoft::SparseToDenseMatMul-1"), SECONDS)
    assert not made.calls
    assert "sparse tensor" in made.missing[0]


def test_a_document_that_contradicts_itself_makes_no_call_and_its_lines_are_told() -> None:
    lines = [Origin("imported", (Source("d1", number),)) for number in (7, 9)]
    ranks = (Rank("inputs.X", lines[0], "2", "2"), Rank("inputs.X", lines[1], "4", "4"))
    found = facts("ai.onnx::Abs-13")
    made = make_document_calls(replace(found, statements=ranks), SECONDS)
    assert not made.calls
    assert all(f":{number}" in " ".join(made.missing) for number in (7, 9))


def test_indices_are_asked_only_where_their_axis_is_told() -> None:
    found = facts("ai.onnx::Gather-13")
    axis = replace(found.attributes["axis"], has_default=False, default=None)
    room = facts_path(found.operator, OWN_FOLDER).parent
    spec = declare_by_documents(replace(found, attributes={"axis": axis}), room, (OWN_FOLDER,))
    space = open_space(spec)
    plain = {name: factor[0] for name, factor in space.factors.items()}
    assert isinstance(space.search.solve(plain, Draw("told")), Found)
    assert OMITTED in space.factors["axis"]
    assert not isinstance(space.search.solve({**plain, "axis": OMITTED}, Draw("told")), Found)


def test_the_halves_are_those_of_every_machine_and_of_every_version() -> None:
    names = [f"ai.onnx::Name{number}-{number}" for number in range(1, 101)]
    halves = [half_of(OperatorName.parse(name)) for name in names]
    assert 35 < halves.count("a") < 65
    assert (
        half_of(OperatorName.parse("ai.onnx::Abs-1")) == half_of(OperatorName.parse("ai.onnx::Abs-13")) == "a"
    )
    assert half_of(OperatorName.parse("ai.onnx::Gather-13")) == "b"


@pytest.mark.parametrize(
    ("answered", "offered", "all_pairs", "holds"),
    [(27, 30, True, True), (26, 30, True, False), (29, 29, True, False), (30, 30, False, False)],
)
def test_an_operator_holds_by_nine_tenths_of_thirty_calls_with_all_pairs(
    answered: int, offered: int, all_pairs: bool, holds: bool
) -> None:
    row = Row("ai.onnx::Abs-13", "a", 90, all_pairs, offered, answered, {}, ())
    assert row.holds is holds


def measured(folder: Path, dialect: str, *names: str) -> dict[str, dict[str, Any]]:
    """The rows of three operators of a dialect, by their names."""
    target = folder / "found.json"
    words = [dialect, "--operators", *names, "--seconds", str(SECONDS), "--output", str(target)]
    assert main(words) == 0
    rows = json.loads(target.read_text(encoding="utf-8"))["operators"]
    return {OperatorName.parse(row["operator"]).name: row for row in rows}


@pytest.mark.parametrize(
    ("dialect", "names"),
    [
        pytest.param(
            "ai.onnx", ("Abs", "Xor", "Gather"), marks=pytest.mark.runtimes("onnxruntime", "onnx"), id="onnx"
        ),
        pytest.param(
            "ai.onnx.ml",
            ("Binarizer", "Normalizer", "ZipMap"),
            marks=[pytest.mark.slow, pytest.mark.runtimes("onnxruntime", "onnx")],
            id="ml",
        ),
        pytest.param(
            "com.microsoft",
            ("Gelu", "QuickGelu", "BiasSoftmax"),
            marks=[pytest.mark.slow, pytest.mark.runtimes("onnxruntime")],
            id="microsoft",
        ),
        pytest.param(
            "org.openvino",
            ("Tan", "Asinh", "Equal"),
            marks=[pytest.mark.slow, pytest.mark.runtimes("openvino")],
            id="openvino",
        ),
    ],
)
def test_the_runtime_of_the_document_is_asked_and_what_it_says_is_counted(
    tmp_path: Path, dialect: str, names: tuple[str, ...]
) -> None:
    rows = measured(tmp_path, dialect, *names)
    assert set(rows) == set(names)
    assert rows[names[0]]["calls"]
    for row in rows.values():
        assert row["calls"] >= LEAST or row["missing"] or row["half"] == "b"
        assert row["answered"] <= row["offered"] <= row["calls"]
        assert row["half"] == "a" or not (row["refusals"] or row["missing"])
    if dialect != "ai.onnx.ml":
        assert rows[names[0]]["holds"]
    if dialect == "com.microsoft":
        assert not rows["BiasSoftmax"]["has_kernel"]


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.runtimes("tensorflow")
def test_docstrings_are_asked_of_raw_operators_with_booleans_types_and_lists(
    tmp_path: Path, documents: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = measured(tmp_path, "org.tensorflow", "AddV2", "Pack", "Size")
    assert [name for name, row in rows.items() if not row["holds"]] == []
