"""The committed specs of the five first pages: no drift, every printed output accounted for, findings."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from opcert.vocabulary.names import OperatorName
from specs.documents.text.documents import read_document
from specs.files.library import load_imported
from specs.files.spec_folders import OWN_FOLDER, facts_path
from specs.importers import import_text
from specs.importing.importing import (
    Assertion,
    Import,
    find_drift,
    plan_files,
    read_documents,
    remembered_assertions,
    write_files,
)
from specs.model.spec import Spec
from tests.documents.gathering import Documents

FRAGMENT = OperatorName.parse("org.tensorflow::BatchToSpaceND-1")
OPERATORS = (
    "ai.onnx::CenterCropPad-18",
    "ai.onnx::Resize-10",
    "ai.onnx::Resize-11",
    "ai.onnx::Resize-13",
    "ai.onnx::Resize-18",
    "com.microsoft::Pad-1",
    "org.openvino::ExtractImagePatches-3",
    "org.tensorflow::BatchToSpaceND-1",
)


def _read(folder: Path) -> Import:
    return read_documents([folder], remembered=remembered_assertions(OWN_FOLDER))


def _only(result: Import, name: str) -> Spec:
    return result.layers[OperatorName.parse(name)][0]


def test_the_committed_specs_are_what_the_pages_say(first_pages: Path) -> None:
    result = _read(first_pages)
    assert sorted(map(str, result.layers)) == sorted(OPERATORS)
    assert result.unread == []
    assert find_drift(result, plan_files(result, OWN_FOLDER), OWN_FOLDER) == []


def test_the_full_docstring_is_committed_too(documents: Documents) -> None:
    path = documents.find("tensorflow/docstrings/BatchToSpaceND.txt")
    result = read_documents([path])
    assert find_drift(result, plan_files(result, OWN_FOLDER), OWN_FOLDER) == []


@pytest.mark.slow
def test_version_19_of_resize_is_committed_from_two_documents(documents: Documents) -> None:
    name = OperatorName.parse("ai.onnx::Resize-19")
    paths = [documents.find("onnx") / file for file in ("Changelog.md", "Operators.md")]
    result = read_documents(paths, [Assertion("*.md", name)])
    assert sorted(result.layers) == [name]
    assert find_drift(result, plan_files(result, OWN_FOLDER), OWN_FOLDER) == []
    spec = load_imported(name)
    assert [document.file for document in spec.documents] == ["Changelog.md", "Operators.md"]
    assert sum(example.printed for example in spec.examples) == 39


@pytest.mark.slow
def test_some_operators_of_a_large_page(documents: Documents, tmp_path: Path) -> None:
    names = [OperatorName.parse(f"ai.onnx::{each}") for each in ("Resize-19", "Resize-18")]
    path = documents.find("onnx/Changelog.md")
    result = read_documents([path], [Assertion(path.name, name) for name in (*names, names[0])])
    assert sorted(result.layers) == names
    assert [len(layers) for layers in result.layers.values()] == [1, 1]
    write_files(plan_files(result, tmp_path), tmp_path)
    assert find_drift(result, plan_files(result, tmp_path), tmp_path) == []


def test_documents_in_another_order_give_the_same_bytes(documents: Documents, tmp_path: Path) -> None:
    paths = [
        documents.find("first-pages") / "002_9bf136dd4443dc44.txt",
        documents.find("tensorflow/docstrings/BatchToSpaceND.txt"),
    ]
    remembered = {paths[0].name: FRAGMENT}
    facts_path(FRAGMENT, tmp_path).parent.mkdir(parents=True)
    shutil.copy(facts_path(FRAGMENT, OWN_FOLDER), facts_path(FRAGMENT, tmp_path))  # a reader's findings stay
    plans = [
        plan_files(read_documents(order, remembered=remembered), tmp_path) for order in (paths, paths[::-1])
    ]
    assert plans[0] == plans[1]
    committed = facts_path(FRAGMENT, OWN_FOLDER).read_text(encoding="utf-8")
    assert plans[0][FRAGMENT] == committed


def test_what_a_reader_found_stays_while_the_document_does(first_pages: Path, tmp_path: Path) -> None:
    page = tmp_path / "002_9bf136dd4443dc44.txt"
    shutil.copy(first_pages / page.name, page)
    specs = tmp_path / "specs"
    facts_path(FRAGMENT, specs).parent.mkdir(parents=True)
    shutil.copy(facts_path(FRAGMENT, OWN_FOLDER), facts_path(FRAGMENT, specs))
    for added, stays in (("", True), ("\nOne line more.", False)):
        page.write_text(page.read_text(encoding="utf-8") + added, encoding="utf-8")
        result = read_documents([page], remembered={page.name: FRAGMENT})
        text = plan_files(result, specs)[FRAGMENT]
        assert ("stripped-markup" in text) == stays


@pytest.mark.parametrize(
    ("name", "examples", "printed"),
    [
        ("ai.onnx::CenterCropPad-18", 5, 5),
        ("ai.onnx::Resize-18", 37, 37),
        ("com.microsoft::Pad-1", 4, 1),
        ("org.openvino::ExtractImagePatches-3", 6, 5),
        ("org.tensorflow::BatchToSpaceND-1", 4, 4),
    ],
)
def test_printed_outputs_are_counted(first_pages: Path, name: str, examples: int, printed: int) -> None:
    """37 + 1 + 5 + 4 printed arrays are 47; the 5 of CenterCropPad are slices of its inputs."""
    spec = _only(_read(first_pages), name)
    assert len(spec.examples) == examples
    assert sum(example.printed for example in spec.examples) == printed
    assert len({example.id for example in spec.examples}) == examples


def test_places_of_findings(first_pages: Path) -> None:
    result = _read(first_pages)
    patches = _only(result, "org.openvino::ExtractImagePatches-3")
    lines = [finding.source.line for finding in patches.findings if finding.code == "sequence-break"]
    assert lines == [109, 160, 217, 292]
    resize = _only(result, "ai.onnx::Resize-11")
    assert [
        (finding.code, finding.source.line) for finding in resize.findings if finding.code == "name-mismatch"
    ] == [("name-mismatch", 2232)]
    pad = _only(result, "com.microsoft::Pad-1")
    text = (first_pages / "001_b77fe3e618f24325.txt").read_text(encoding="utf-8")
    for name in ("mode", "data", "pads", "value", "output"):
        parameters = {parameter.name: parameter.origin for parameter in (*pad.inputs, *pad.outputs)}
        origin = parameters.get(name) or pad.attributes[name].origin
        column = origin.sources[0].column
        assert column is not None
        assert text[column - 1 :].startswith(f"* **{name}**")


def test_printed_precision_and_values(first_pages: Path) -> None:
    examples = {example.id: example for example in _only(_read(first_pages), "ai.onnx::Resize-18").examples}
    value = examples["resize_downsample_scales_linear"].outputs[0][1]
    assert value is not None
    assert (value.shape, value.data, value.decimals) == ((1, 1, 1, 2), (2.6666665, 4.3333331), 7)
    mended = examples["resize_tf_crop_and_resize_axes_3_2"]
    assert mended.repaired
    assert mended.attributes["axes"] == [3, 2]
    assert [name for name, _ in mended.inputs] == ["X", "roi", "", "sizes"]
    outside = examples["resize_upsample_scales_cubic_A_n0p5_exclude_outside"]
    assert outside.attributes == {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1}


def test_slices_of_the_input_are_computed(first_pages: Path) -> None:
    examples = {each.id: each for each in _only(_read(first_pages), "ai.onnx::CenterCropPad-18").examples}
    for name, zeros, target, index in (
        ("center_crop_pad_crop", None, (), np.s_[5:15, 1:8, :]),
        ("center_crop_pad_pad", (20, 10, 3), np.s_[5:15, 1:8, :], ()),
        ("center_crop_pad_crop_and_pad", (10, 10, 3), np.s_[:, 1:9, :], np.s_[5:15, :, :]),
    ):
        example = examples[name]
        given, wanted = example.inputs[0][1], example.outputs[0][1]
        assert given is not None
        assert wanted is not None
        assert wanted.relation is not None
        data = np.arange(np.prod(given.shape), dtype=np.float32).reshape(given.shape)
        expected = data[index]
        if zeros is not None:
            expected = np.zeros(zeros, np.float32)
            expected[target] = data[index]
        found = wanted.relation.apply({"input_data": data})
        assert found.shape == wanted.shape
        np.testing.assert_array_equal(found, expected)


def test_no_sentence_of_a_document_is_kept(first_pages: Path) -> None:
    """No run of nine words of a document's prose stands in the committed specs."""
    document = read_document(first_pages / "004_461a3d04fa574ae4.txt").content
    prose = " ".join(document[: document.index("**Examples**")].split())
    kept = (OWN_FOLDER / "ai.onnx" / "Resize" / "imported-18.yaml").read_text(encoding="utf-8")
    words = [word for word in prose.split(" ") if word.isalpha()]
    runs = {" ".join(words[start : start + 9]) for start in range(len(words) - 8)}
    assert not [run for run in runs if run in kept]


def test_the_docstring_completes_the_fragment() -> None:
    spec = load_imported(FRAGMENT)
    assert [document.key for document in spec.documents] == ["d1", "d2"]
    assert [document.identity for document in spec.documents] == ["asserted", "stated"]
    assert [parameter.name for parameter in spec.inputs] == ["input", "block_shape", "crops"]
    assert [output.type for output in spec.outputs] == ["T_input"]
    assert len(spec.examples) == 4
    assert not any(example.repaired for example in spec.examples)
    crops = spec.inputs[2]
    assert {source.document for source in crops.origin.sources} == {"d1", "d2"}


def test_a_document_that_contradicts_another_is_a_finding(documents: Documents, tmp_path: Path) -> None:
    path = documents.find("tensorflow/docstrings/BatchToSpaceND.txt")
    changed = tmp_path / "changed.txt"
    text = path.read_text(encoding="utf-8").replace("all values must be >= 1", "all values must be >= 2")
    changed.write_text(text, encoding="utf-8")
    result = read_documents([path, changed])
    folder = tmp_path / "specs"
    write_files(plan_files(result, folder), folder)
    codes = [
        finding
        for finding in load_imported(FRAGMENT, [folder]).findings
        if finding.code == "documents-disagree"
    ]
    assert len(codes) == 1
    assert "at_least" in codes[0].message


def test_one_document_at_a_time_keeps_the_other_s_facts(first_pages: Path) -> None:
    text = read_document(first_pages / "002_9bf136dd4443dc44.txt")
    layers = import_text(text, FRAGMENT)
    plan = plan_files(Import({FRAGMENT: layers}, [text]), OWN_FOLDER)
    assert "BatchToSpaceND.txt" in plan[FRAGMENT]
