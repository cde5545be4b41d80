"""Suites on disk: every element type there and back, the same bytes always, and damage that is noticed."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from conformance.suite.cases import Alternative, Case, Expectation, ExpectedOutput
from conformance.suite.goldens import read_golden, write_golden
from conformance.suite.protos import read_tensor, write_tensor
from conformance.suite.suites import open_suite, write_suite
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.errors import InternalError, UserError
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.samples import expect, make_case, make_suite, sample

NUMERIC = [element_type for element_type in ELEMENT_TYPES.values() if element_type.kind != "string"]


@st.composite
def tensors(draw: st.DrawFn, element_type: ElementType | None = None) -> Tensor:
    """Any tensor: any element type, any bits, sizes 0 and rank 0 included."""
    chosen = element_type or draw(st.sampled_from(list(ELEMENT_TYPES.values())))
    shape = draw(array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    count = int(np.prod(shape))
    if chosen.kind == "string":
        return tensor(
            np.array(
                draw(st.lists(st.binary(max_size=5), min_size=count, max_size=count)), dtype=object
            ).reshape(shape),
            chosen,
        )
    storage = np.dtype(chosen.storage)
    if chosen.kind == "bool":
        return Tensor(chosen, draw(arrays(np.bool_, shape)))
    if chosen.is_packed:
        low, high = chosen.integer_range if chosen.is_integer else (0, 15)
        return Tensor(chosen, draw(arrays(storage, shape, elements=st.integers(low, high))))
    raw = draw(st.binary(min_size=count * storage.itemsize, max_size=count * storage.itemsize))
    return Tensor.from_bytes(chosen, shape, raw)


@given(tensors())
def test_a_tensor_survives_its_proto_bit_for_bit(original: Tensor) -> None:
    proto = onnx.TensorProto.FromString(write_tensor(original, "x").SerializeToString())
    assert read_tensor(proto) == original


@pytest.mark.parametrize(
    "name",
    ["float", "int64", "bool", "float16", "uint4", "int4", "bfloat16", "string", "int2", "uint2",
     "float4e2m1", "float8e8m0", "float6e2m3", "float6e3m2"],
)  # fmt: skip
def test_protos_are_what_the_onnx_package_reads(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    values = [b"a", b"", "é".encode()] if name == "string" else [0, 1, 1]
    original = tensor(np.array(values, dtype=element_type.storage), element_type)
    read = onnx.numpy_helper.to_array(write_tensor(original, "x"))
    if name == "string":
        assert [each if isinstance(each, bytes) else str(each).encode() for each in read.tolist()] == values
    elif element_type.is_float and element_type.storage in (np.uint8, np.uint16):
        assert read.view(element_type.storage).tolist() == values
    else:
        assert [int(each) for each in read.astype(np.float64)] == values


@given(tensors(), st.data())
@settings(max_examples=60)
def test_a_case_survives_its_golden(output: Tensor, data: st.DataObject) -> None:
    allowed = data.draw(st.none() | arrays(np.float64, output.shape, elements=st.floats(0, allow_nan=False)))
    size = int(output.array.size)
    alternatives: tuple[Alternative, ...] = ()
    if size:
        other = output.array.reshape(-1)[size - 1]
        alternatives = (Alternative(data.draw(st.integers(0, size - 1)), (other, other)),)
    expected = Expectation(
        (ExpectedOutput("Y", output, allowed, alternatives),), {"r": ("a", "b")}, {"flush": ("yes",)}
    )
    case = make_case(seed=3, given=output, expectations=(expected, expect(sample(1))))
    raw, digest = write_golden(case)
    again = read_golden(raw)
    assert write_golden(again) == (raw, digest)
    assert again.expectations[0].outputs[0].expected == output
    found = again.expectations[0].outputs[0].allowed
    assert (allowed is None) == (found is None)
    if allowed is not None and found is not None:
        assert found.tobytes() == allowed.tobytes() or bool((found == allowed).all())
    assert again.attributes == case.attributes
    assert (again.levels, again.rule, again.sources) == (case.levels, case.rule, case.sources)


def some_cases() -> list[Case]:
    other = OperatorName.parse("ai.onnx::Identity-13")
    cases = [make_case(seed=each, family=family) for each in range(5) for family in ("cover", "example")]
    return cases + [make_case(seed=each, operator=other) for each in range(3)]


@pytest.mark.parametrize("name", ["suite", "suite.zip"])
def test_the_same_cases_make_the_same_bytes_in_any_order(tmp_path: Path, name: str) -> None:
    cases = some_cases()
    shuffled = random.Random(7).sample(cases, len(cases))
    first = write_suite(tmp_path / "a" / name, cases, {"b": 1, "a": 2}, {"size": "full"})
    second = write_suite(tmp_path / "b" / name, shuffled, {"a": 2, "b": 1}, {"size": "full"})
    assert first == second

    def content(folder: str) -> dict[str, bytes]:
        root = tmp_path / folder
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    assert content("a") == content("b")


@pytest.mark.parametrize("name", ["suite", "suite.zip"])
def test_a_suite_gives_its_cases_in_suite_order(tmp_path: Path, name: str) -> None:
    write_suite(tmp_path / name, some_cases(), {"operators": {}}, {})
    with open_suite(tmp_path / name) as suite:
        assert suite.facts == {"operators": {}}
        families = [str(each.operator.name) + "/" + each.family for each in suite.cases()]
        assert families == ["Identity/cover"] * 3 + ["Echo/example"] * 5 + ["Echo/cover"] * 5
        ids = list(suite.case_ids)
        with open_suite(tmp_path / name) as calls:
            for each in random.Random(3).sample(ids, len(ids)):
                case, call = suite.case(each), calls.case(each, call_alone=True)
                assert (str(case.id), call.expectations) == (each, ())
                assert (call.attributes, call.inputs) == (case.attributes, case.inputs)
        assert len(suite.select("Identity")) == 3
        assert len(suite.select("*/example/*")) == 5
        assert suite.select("nothing") == ()
        assert suite.select("cover") == tuple(each for each in ids if "/cover/" in each)
        with pytest.raises(UserError, match="no such case"):
            suite.case("ai.onnx/Identity-13/cover/000000000000")


def test_only_the_cases_of_a_small_suite_stay_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_suite(tmp_path / "suite", some_cases(), {"operators": {}}, {})
    with open_suite(tmp_path / "suite") as small:
        first = small.case_ids[0]
        assert small.case(first, call_alone=True) is not small.case(first)
        assert small.case(first) is small.case(first)
        assert small.case(first).expectations
    monkeypatch.setattr("conformance.suite.suites._MOST_KEPT_BYTES", 100)
    with open_suite(tmp_path / "suite") as large:
        assert large.case(first) is not large.case(first)


def test_the_digest_of_an_expectation_follows_what_is_expected_alone(tmp_path: Path) -> None:
    from dataclasses import replace

    case = make_case(seed=1)
    digest = write_golden(case)[1]
    assert write_golden(replace(case, levels={"other": "level"}, sources=()))[1] == digest
    assert write_golden(replace(case, expectations=(expect(sample(2)),)))[1] != digest
    assert write_golden(replace(case, expectations=(expect(sample(1), np.ones((2, 3))),)))[1] != digest


def _spoil_golden(folder: Path) -> None:
    path = next(folder.glob("goldens/*/*.pb"))
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def _edit(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        manifest = json.loads((folder / "manifest.json").read_text())
        change(manifest)
        (folder / "manifest.json").write_text(json.dumps(manifest))

    return damage


def _escape(manifest: dict[str, Any]) -> None:
    manifest["goldens"] = {"../../etc/passwd": {"bytes": 10, "sha256": "0"}}


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "golden gone": (lambda folder: next(folder.glob("goldens/*/*.pb")).unlink(), "is missing"),
    "golden spoilt": (_spoil_golden, "a golden file is damaged"),
    "manifest gone": (lambda folder: (folder / "manifest.json").unlink(), "is missing"),
    "manifest cut": (lambda folder: (folder / "manifest.json").write_text('{"format"'), "is not JSON"),
    "manifest binary": (lambda folder: (folder / "manifest.json").write_bytes(b"\xff\x00"), "is not JSON"),
    "manifest of another kind": (
        _edit(lambda manifest: manifest.update(format="x/1")),
        "not a suite's manifest",
    ),
    "fact changed": (_edit(lambda manifest: manifest.update(facts={"x": 1})), "does not fit its own digest"),
    "path escapes": (_edit(_escape), "the file name"),
    "cases gone": (_edit(lambda manifest: manifest.pop("cases")), "no goldens or no cases"),
    "case doubled": (_edit(lambda manifest: manifest["cases"].append(manifest["cases"][0])), "case number"),
    "offset outside": (_edit(lambda manifest: manifest["cases"][0].update(offset=1 << 40)), "case number"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_noticed_with_its_place(tmp_path: Path, name: str) -> None:
    damage, words = DAMAGES[name]
    path = make_suite(tmp_path, some_cases())
    damage(path)
    with pytest.raises(UserError, match=words) as caught:
        open_suite(path)
    assert caught.value.where is not None
    assert str(path) in str(caught.value)


def test_a_golden_behind_a_link_out_of_the_suite_is_not_read(tmp_path: Path) -> None:
    path = make_suite(tmp_path, some_cases())
    golden = next(path.glob("goldens/*/*.pb"))
    golden.rename(tmp_path / "elsewhere.pb")
    golden.symlink_to(tmp_path / "elsewhere.pb")
    with pytest.raises(UserError, match="lies outside"):
        open_suite(path)


def test_what_is_no_suite_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "file.zip").write_text("not a zip")
    with pytest.raises(UserError, match="no zip file"):
        open_suite(tmp_path / "file.zip")
    with pytest.raises(UserError, match="there is no suite here"):
        open_suite(tmp_path / "nowhere")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    with pytest.raises(UserError, match="is missing"):
        open_suite(tmp_path / "empty.zip")


def test_bytes_that_are_others_in_a_zip_file_are_its_mistake_and_not_ours(tmp_path: Path) -> None:
    """Wherever they are: no case is read, and nothing but an error of the input is raised."""
    path = tmp_path / "suite.zip"
    write_suite(path, some_cases(), {"operators": {}}, {})
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as suite_zip:
        begins = sorted(entry.header_offset for entry in suite_zip.infolist())
    met = 0
    for begin in begins:
        for place in range(begin, begin + 600, 40):
            damaged = bytearray(whole)
            damaged[place : place + 8] = bytes(each ^ 0x55 for each in damaged[place : place + 8])
            path.write_bytes(damaged)
            try:
                with open_suite(path) as suite:
                    list(suite.cases())
            except UserError as error:
                met += "damaged" in str(error) or "cannot be read" in str(error)
    assert met > len(begins)


def test_a_suite_replaces_a_suite_and_nothing_else(tmp_path: Path) -> None:
    path = make_suite(tmp_path, some_cases())
    assert make_suite(tmp_path, some_cases()[:2]) == path
    with open_suite(path) as suite:
        assert len(suite.case_ids) == 2
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("do not lose me")
    with pytest.raises(UserError, match="something that is no suite"):
        write_suite(tmp_path / "other", some_cases(), {}, {})
    with pytest.raises(UserError, match="cannot be written"):
        write_suite(tmp_path / "other" / "thesis.txt" / "suite", some_cases(), {}, {})
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_two_cases_of_one_id_are_a_bug_of_ours(tmp_path: Path) -> None:
    with pytest.raises(InternalError, match="two cases have one id"):
        make_suite(tmp_path, [make_case(seed=1), make_case(seed=1)])


def test_bytes_that_are_no_case_are_an_error() -> None:
    for raw in (b"", b"\xff\xff", write_golden(make_case())[0][:-40]):
        with pytest.raises(UserError, match="not a golden case"):
            read_golden(raw)


def test_ids_survive_being_read() -> None:
    case = make_case(seed=1, word="align_corners")
    assert CaseId.parse(str(case.id)) == case.id


def test_what_was_said_of_a_call_that_was_read_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.suite.suites._MOST_KEPT_BYTES", 0)
    monkeypatch.setattr("conformance.suite.suites._MOST_OUTLINED", 2)
    cases = [make_case(seed=each) for each in range(3)]
    with open_suite(make_suite(tmp_path, cases)) as suite:
        for name in suite.case_ids:
            suite.case(name)
        read, golden = list[str](), suite.golden

        def counted(name: str) -> bytes:
            read.append(name)
            return golden(name)

        monkeypatch.setattr(suite, "golden", counted)
        found = [suite.outline(name) for name in suite.case_ids]
        assert read == [suite.case_ids[2]]
        for case_outline in found:
            case = suite.case(str(case_outline.id), call_alone=True)
            assert (case_outline.levels, case_outline.attributes) == (case.levels, case.attributes)
            assert [shape for _, shape in case_outline.shapes] == [
                x.shape for _, x in case.inputs if x is not None
            ]
