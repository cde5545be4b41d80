"""What calls of documents alone give where sentences say little, and words of OpenVINO and TensorFlow."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED
from generator.calls.solver.solving import Found
from generator.calls.space.space import open_space
from generator.trust.witnesses.document_calls import make_document_calls
from opcert.vocabulary.names import OperatorName
from specs.derived.deriving import derive
from specs.documents.prose.part_names import ParameterNames
from specs.documents.tensorflow_texts.phrases import find_counted
from specs.documents.text.documents import Line, Passage
from specs.files.declarations import declare_by_documents
from specs.files.library import load_imported, load_spec
from specs.files.spec_folders import OWN_FOLDER, facts_path
from specs.importers.openvino_specifications import find_page_statements
from specs.importers.package_tensorflow import with_taken_shapes
from specs.model.signature_parts import Origin, Source
from specs.model.statements import Range, Rank, StatedShape, Statement, describe

PARTS = ParameterNames(("axis",), ("data", "axes"), ("output",))
HERE = Origin("imported", (Source("d1", 1),))


def declared_alone(name: str) -> dict[str, str]:
    """The kinds of a document alone, by the names of parts."""
    operator = OperatorName.parse(name)
    room = facts_path(operator, OWN_FOLDER).parent
    spec = declare_by_documents(load_imported(operator), room, (OWN_FOLDER,))
    assert spec.declared is not None
    return {kind.name: kind.call for kind in spec.declared.kinds}


def shapes_alone(name: str) -> dict[str, str]:
    """The shapes of a document alone, by the names of inputs."""
    return {
        entry.path[1]: str(entry.value)
        for entry in derive(load_imported(OperatorName.parse(name))).entries
        if entry.path[0] == "shapes"
    }


@pytest.mark.parametrize(
    ("name", "image", "weights"),
    [
        ("NhwcMaxPool", "N, *S, C", None),
        ("NhwcFusedConv", "N, *S, C", "M, *upto(*S), C"),
        ("ConvTransposeWithDynamicPads", "N, C, *S", "C, M, *upto(*S)"),
    ],
)
def test_a_window_slides_over_an_image_where_no_sentence_says_a_shape(
    name: str, image: str, weights: str | None
) -> None:
    operator = f"com.microsoft::{name}-1"
    found, kinds = shapes_alone(operator), declared_alone(operator)
    assert next(iter(found.values())) == image
    assert found.get("W") == weights
    assert "window" not in kinds
    assert kinds["kernel_shape"].startswith("constant" if weights else "whole_numbers('alike'")
    assert kinds["strides"] == "constant('left_out')"


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("com.microsoft::MatMulNBitsMlp-1", {"A": "*S, K"}),
        ("com.microsoft::SkipLayerNormalization-1", {"beta": "hidden_size", "bias": "hidden_size"}),
        ("org.openvino::BatchNormInference-5", {"beta": "beta_0"}),
    ],
)
def test_features_and_biases_lie_along_the_last_axis(name: str, shapes: dict[str, str]) -> None:
    found = shapes_alone(name)
    assert {each: found[each] for each in shapes} == shapes
    assert not any(declared_alone(name).get(each) == "constant('left_out')" for each in shapes)


@pytest.mark.parametrize(
    "name", ["com.microsoft::QLinearAveragePool-1", "ai.onnx::MaxPool-22", "ai.onnx::QLinearConv-10"]
)
def test_what_a_window_makes_is_not_filled_again(name: str) -> None:
    kinds = declared_alone(name)
    assert kinds["window"] == "window(S, kernel)"
    assert not kinds.keys() & {"kernel_shape", "strides", "pads", "dilations"}


@pytest.mark.parametrize("name", ["FusedMatMul", "FusedMatMulActivation"])
def test_a_flag_is_given_where_a_shape_asks_for_it_and_left_out_where_none_does(name: str) -> None:
    operator = OperatorName.parse(f"com.microsoft::{name}-1")
    kinds = declared_alone(str(operator))
    assert kinds["transA"].startswith("integer(0, 1)")
    assert kinds["transBatchA"] == "constant('left_out')"
    rules = {
        entry.path[1] for entry in derive(load_imported(operator)).entries if entry.path[0] == "constraints"
    }
    assert {"transA_given", "transB_given"} <= rules
    assert "transBatchA_given" not in rules


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("The range of elements is `[-r, r-1]`, where `r` is the rank of `data`.", ["range of elements"]),
        ("Axes from `-rank(data) .. rank(data)-1`.", ["range of elements"]),
        ("Indices have to be from range `[-R, R-1]`, where `R` is the rank of the output.", []),
        ("Numbers from `-r` to `s - 1`.", []),
        ("A scalar or 1D tensor with 1 element.", ["range of length"]),
        ("A 1D tensor with 10 elements.", []),
        ("A tensor of a rank not less than 1.", ["rank >= 1"]),
    ],
)
def test_pages_of_openvino_say_axes_single_elements_and_ranks(text: str, stated: list[str]) -> None:
    passages = {"inputs.axes": Passage([Line(text, 7)])}
    found = list(find_page_statements(passages, PARTS))
    assert len(found) == len(stated)
    for statement, words in zip(found, stated, strict=True):
        assert describe(statement).startswith(words.removesuffix(" >= 1"))
        assert statement.origin.sources[0].line == 7


def test_the_axes_are_those_of_the_input_that_is_named() -> None:
    names = ParameterNames((), ("first", "second", "axes"), ())
    text = "Values in `[-r, r-1]` where `r` is the rank of `second`."
    (found,) = find_page_statements({"inputs.axes": Passage([Line(text, 1)])}, names)
    assert isinstance(found, Range)
    assert (found.at_least, found.at_most) == ("-rank(second)", "rank(second) - 1")


def test_the_parts_of_a_sparse_tensor_have_the_extents_of_its_indices() -> None:
    passages = {
        "inputs.indices": Passage([Line("2-D. `N x R` matrix with the indices.", 1)]),
        "inputs.values": Passage([Line("1-D. `N` non-empty values.", 2)]),
        "inputs.shape": Passage([Line("1-D. Shape of the input SparseTensor.", 3)]),
        "inputs.other": Passage([Line("1-D. A list.", 4)]),
    }
    stated = [StatedShape("inputs.indices", HERE, ("N", "R"))]
    found = {shape.about: shape.extents for shape in find_counted(passages, stated)}
    assert found == {"inputs.values": ("N",), "inputs.shape": ("R",)}
    assert not list(find_counted({"inputs.shape": passages["inputs.shape"]}, ()))


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("ai.onnx::DeformConv-22", ["C % offset_group == 0"]),
        ("org.openvino::ReorgYolo-1", ["H % stride == 0", "W % stride == 0"]),
    ],
)
def test_what_a_document_calls_a_multiple_is_one_in_every_call(name: str, rules: list[str]) -> None:
    entries = derive(load_imported(OperatorName.parse(name))).entries
    required = [str(entry.value["require"]) for entry in entries if "_by_" in entry.path[1]]
    assert [text.replace("(", "").replace(")", "") for text in required] == rules


PIECES = (
    "[-r, r-1]",
    "[-r, ",
    "-rank(data) .. ",
    "rank of `",
    "1D tensor with ",
    "rank ",
    "1-D. `N` ",
    "1-D.  ",
    "- ",
)


@pytest.mark.parametrize("piece", PIECES)
def test_a_megabyte_of_one_piece_takes_bounded_time(piece: str) -> None:
    passages = {"inputs.axes": Passage([Line(piece * (1_000_000 // len(piece)), 1)])}
    begun = time.process_time()
    list(find_page_statements(passages, PARTS))
    list(find_counted(passages, ()))
    assert time.process_time() - begun < 5


def shape(about: str, *extents: str) -> StatedShape:
    return StatedShape(f"inputs.{about}", HERE, extents)


@pytest.mark.parametrize(
    ("stated", "taken", "shapes"),
    [
        # What the function finds equal has the docstring's name.
        (
            [shape("x", "batch", "depth")],
            [shape("x", "?", "n0"), shape("b", "n0")],
            {"x": "batch depth", "b": "depth"},
        ),
        # Extents that nobody names are the input's own.
        ([], [shape("x", "?", "n0"), shape("y", "n0", "4")], {"x": "x_0 n0", "y": "n0 4"}),
        # A rank that the docstring states closes what the function leaves open.
        ([Rank("inputs.x", HERE, "3", "3")], [shape("x", "...", "n0")], {"x": "x_0 x_1 n0"}),
        # An open shape of the docstring has the function's extents where both leave the same place open.
        ([shape("x", "...", "M", "K")], [shape("x", "...", "n0", "n0")], {"x": "... M M"}),
        ([shape("x", "M", "...")], [shape("x", "...", "n0")], {"x": "M ..."}),
    ],
)
def test_shapes_of_docstrings_and_of_shape_functions_become_one(
    stated: list[Statement], taken: list[Statement], shapes: dict[str, str]
) -> None:
    found = with_taken_shapes(stated, taken)
    told = [each for each in found if isinstance(each, StatedShape)]
    assert {each.about.removeprefix("inputs."): " ".join(each.extents) for each in told} == shapes


def test_silent_axes_lists_and_choices_have_their_plainest_values() -> None:
    assert declared_alone("org.openvino::TopK-3")["axis"] == "axis(input)"
    assert declared_alone("org.openvino::ReduceL1-4")["axes"] == "axis('several', data)"
    strides = declared_alone("org.openvino::DeformableConvolution-8")["strides"]
    assert strides == "whole_numbers('alike', length=rank(input) - 2, least=1)"
    gather = declared_alone("org.openvino::GatherElements-6")
    assert gather["input_2"] == "data('range', 0, 1)"


def test_what_is_silent_is_not_put_into_what_people_declared(tmp_path: Path) -> None:
    operator = OperatorName.parse("org.openvino::TopK-3")
    facts = facts_path(operator, OWN_FOLDER)
    room = tmp_path / "org.openvino" / "TopK"
    shutil.copytree(facts.parent, room)
    (room / "spec.yaml").write_text("kinds: {k: integer(1)}\n", encoding="utf-8")
    declared = load_spec(operator, [tmp_path]).declared
    assert declared is not None
    assert {kind.name: kind.call for kind in declared.kinds}["axis"] == "integer(1, 4)"


POOL = """\
operator: {domain: ai.test, name: Pool, since_version: 1}
documents:
  d1: {file: pool.md, dialect: onnx-markdown, sha256: "00", identity: stated}
attributes:
  strides: {type: ints, required: true, src: [d1, 5]}
  pads_end: {type: ints, required: true, src: [d1, 6]}
inputs:
  - {name: X, type: T, option: single, src: [d1, 10]}
outputs:
  - {name: Y, type: T, option: single, src: [d1, 14]}
type_constraints:
  T: {types: [float], src: [d1, 16]}
statements:
  - {about: inputs.X, says: rank, least: "1", most: "3", rule: stated-rank, confidence: 1.0, src: [d1, 11]}
"""


def test_a_list_of_alike_numbers_is_as_long_as_it_says(tmp_path: Path) -> None:
    room = tmp_path / "ai.test" / "Pool"
    room.mkdir(parents=True)
    (room / "imported-1.yaml").write_text(POOL, encoding="utf-8")
    made = make_document_calls(load_imported(OperatorName.parse("ai.test::Pool-1"), [tmp_path]), 20.0)
    ranks = set()
    for call in made.calls:
        data = dict(call.inputs)["X"]
        assert data is not None
        rank = len(data.shape)
        ranks.add(rank)
        assert call.attributes["strides"].value == (1,) * rank
        assert call.attributes["pads_end"].value == (0,) * rank
    assert ranks == {1, 2, 3}


NUMBER_FIRST = """\
operator: {domain: ai.test, name: Turn, since_version: 1}
documents:
  d1: {file: turn.md, dialect: onnx-markdown, sha256: "00", identity: stated}
attributes:
  axis: {type: int, required: true, src: [d1, 5]}
  axes: {type: ints, required: true, src: [d1, 6]}
inputs:
  - {name: x_scale, type: T, option: single, src: [d1, 10]}
  - {name: X, type: T, option: single, src: [d1, 11]}
outputs:
  - {name: Y, type: T, option: single, src: [d1, 14]}
type_constraints:
  T: {types: [float], src: [d1, 16]}
"""


def test_axes_are_those_of_the_first_input_that_has_some(tmp_path: Path) -> None:
    room = tmp_path / "ai.test" / "Turn"
    room.mkdir(parents=True)
    (room / "imported-1.yaml").write_text(NUMBER_FIRST, encoding="utf-8")
    made = make_document_calls(load_imported(OperatorName.parse("ai.test::Turn-1"), [tmp_path]), 20.0)
    assert made.calls
    for call in made.calls:
        inputs = {name: data for name, data in call.inputs if data is not None}
        rank = len(inputs["X"].shape)
        assert inputs["x_scale"].shape == ()
        axis, axes = call.attributes["axis"].value, call.attributes["axes"].value
        assert isinstance(axis, int)
        assert isinstance(axes, tuple)
        assert all(-rank <= each < rank for each in (axis, *axes))


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        (
            "ai.onnx.ml::LabelEncoder-4",
            {
                "keys_strings": "constant('listed', length=3, when=element_type(X) == 'string')",
                "keys_floats": "constant('listed', length=3, when=element_type(X) == 'float')",
                "values_int64s": "constant('listed', length=3, when=not (present(values_floats)))",
                "values_tensor": "constant('left_out')",
            },
        ),
        (
            "ai.onnx.ml::Scaler-1",
            {"scale": "constant('listed', length=1)", "offset": "constant('listed', length=1)"},
        ),
        ("ai.onnx.ml::ZipMap-1", {"classlabels_int64s": "constant('listed', length=shape(X)[-1])"}),
        (
            "ai.onnx.ml::OneHotEncoder-1",
            {"cats_int64s": "constant('listed', length=3, when=element_type(X) != 'string')"},
        ),
        ("ai.onnx.ml::CastMap-1", {"max_map": "enumeration(1)"}),
        (
            "com.microsoft::QEmbedLayerNormalization-1",
            {
                "input_ids": "data('range', 0, 1)",
                "segment_embedding_scale": "constant('left_out')",
                "segment_embedding_zero_point": "constant('left_out')",
                "word_embedding_scale": "real(0.125, 2)",
            },
        ),
        ("com.microsoft::QLinearReduceMean-1", {"axes": "axis('several', data)"}),
        ("com.microsoft::GatherBlockQuantized-1", {"bits": "enumeration(4)"}),
        ("com.microsoft::QMoE-1", {"expert_weight_bits": "enumeration(4)"}),
        ("com.microsoft::QMoE-1", {"fc3_scales": "constant('left_out')", "fc1_experts_bias": None}),
    ],
)
def test_lists_and_inputs_that_belong_together_have_values_that_do(
    name: str, kinds: dict[str, str | None]
) -> None:
    found = declared_alone(name)
    assert {each: found.get(each) for each in kinds} == kinds


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("ai.onnx.ml::Scaler-1", {"scale_given": "present(scale)", "offset_given": "present(offset)"}),
        (
            "ai.onnx.ml::OneHotEncoder-1",
            {"one_of_cats_int64s": "sum([present(cats_int64s), present(cats_strings)]) == 1"},
        ),
        ("ai.onnx.ml::CastMap-1", {"X_holds_something": "shape(X[0])[0] > 0"}),
        ("ai.onnx::SequenceAt-11", {"input_sequence_holds_something": "len(input_sequence) > 0"}),
        ("com.microsoft::EngramGate-1", {"conv_norm_scale_required": "present(conv_norm_scale)"}),
        (
            "com.microsoft::VarlenCausalConvWithState-1",
            {"capture_count_required": "present(capture_count) == (state_update_capacity > 0)"},
        ),
        (
            "com.microsoft::QEmbedLayerNormalization-1",
            {"position_embedding_quant_0_enough": "position_embedding_quant_0 >= sequence_length"},
        ),
        (
            "com.microsoft::MRotaryEmbedding-1",
            {
                "max_sequence_length_enough": "max_sequence_length >= sequence_length",
                "whole_heads": "hidden_size % head_size == 0",
            },
        ),
        ("com.microsoft::GroupQueryAttention-1", {"max_sequence_length_enough": None}),
        (
            "com.microsoft::MultiHeadAttention-1",
            {
                "key_with_value": "present(key) == present(value)",
                "past_key_with_past_value": "present(past_key) == present(past_value)",
                "present_key_with_past_key": "present(past_key) == ('present_key' in wanted)",
            },
        ),
    ],
)
def test_what_is_given_together_is_a_rule_of_documents_alone(name: str, rules: dict[str, str | None]) -> None:
    entries = [entry for entry in derive(load_imported(OperatorName.parse(name))).entries if entry.alone]
    found = {entry.path[1]: entry.value["require"] for entry in entries if entry.path[0] == "constraints"}
    assert {each: found.get(each) for each in rules} == rules


def test_quantised_numbers_have_four_bits_where_an_extent_says_how_many() -> None:
    made = make_document_calls(load_imported(OperatorName.parse("com.microsoft::MatMulNBits-1")), 20.0)
    assert {call.attributes["bits"].value for call in made.calls} == {4}


def test_an_index_for_one_axis_where_a_rank_hangs_on_the_last_extent() -> None:
    assert shapes_alone("com.microsoft::GatherND-1")["indices"] == "*S_indices, 1"


@pytest.mark.parametrize("name", ["ai.onnx.ml::LabelEncoder-4", "ai.onnx.ml::ZipMap-1"])
def test_calls_have_exactly_one_list_of_each_group(name: str) -> None:
    operator = OperatorName.parse(name)
    made = make_document_calls(load_imported(operator), 20.0)
    assert made.calls
    for call in made.calls:
        for group in ("keys_", "classlabels_"):
            given = [each for each, value in call.attributes.items() if each.startswith(group) and value]
            assert len(given) == any(each.startswith(group) for each in load_imported(operator).attributes)


def test_block_sizes_are_powers_of_two_and_groups_divide_both_channels() -> None:
    assert declared_alone("com.microsoft::MatMulNBits-1")["block_size"].startswith("enumeration(16, 32)")
    assert declared_alone("ai.onnx::QLinearConv-10")["group"] == "integer(divides=[C, M])"


def test_sequences_in_one_axis_end_where_an_input_says() -> None:
    operator = OperatorName.parse("com.microsoft::VarlenNGramHashMapping-1")
    made = make_document_calls(load_imported(operator), 20.0)
    assert made.calls
    for call in made.calls:
        given = {name: tensor for name, tensor in call.inputs if tensor is not None}
        ends = given["cumulative_sequence_length"].array.tolist()
        assert (ends[0], ends[-1]) == (0, *given["input_ids"].shape)
        assert all(before < after for before, after in pairwise(ends))
        assert given["multipliers"].shape == (call.attributes["max_ngram_size"].value,)


def test_one_number_or_one_element_is_the_shape_where_a_sentence_says_so() -> None:
    assert shapes_alone("com.microsoft::Range-1") == dict.fromkeys(("start", "limit", "delta"), "maybe(1)")


def test_an_integer_that_may_be_a_flag_keeps_both_values() -> None:
    assert "detect_negative" not in declared_alone("ai.onnx::IsInf-20")


def test_of_what_no_type_is_known_nothing_is_held() -> None:
    rules = derive(load_imported(OperatorName.parse("org.openvino::Equal-1"))).entries
    assert not [entry for entry in rules if entry.path[0] == "constraints"]


def test_extents_that_are_left_blank_are_those_of_one_tensor_alone() -> None:
    found = shapes_alone("com.microsoft::QEmbedLayerNormalization-1")
    assert found["word_embedding_quant"] == "word_embedding_quant_0, hidden_size"
    assert found["segment_embedding"] == "segment_embedding_0, hidden_size"


@pytest.mark.parametrize("name", ["com.microsoft::Range-1", "ai.onnx::Range-27", "org.openvino::Range-4"])
def test_a_single_number_of_which_nothing_is_said_is_a_plain_one(name: str) -> None:
    kinds = declared_alone(name)
    singles = [each for each, shape in shapes_alone(name).items() if shape in ("()", "maybe(1)")]
    assert {"start"} < set(singles)
    assert {kinds[each] for each in singles} <= {"integer(1, 8)", "constant('left_out')"}


def test_a_scale_of_which_no_sentence_says_how_long_it_is_is_one_number() -> None:
    assert shapes_alone("com.microsoft::QOrderedMatMul-1")["scale_B"] == "()"
    assert declared_alone("com.microsoft::QOrderedMatMul-1")["scale_B"] == "real(0.125, 2)"
    assert shapes_alone("com.microsoft::MatMulIntegerToFloat-1")["b_scale"] == "maybe(shape(B)[-1])"


def test_a_window_leaves_auto_pad_out_where_the_page_states_no_default() -> None:
    operator = OperatorName.parse("com.microsoft::QLinearAveragePool-1")
    facts = load_imported(operator)
    assert facts.attributes["auto_pad"].default == "NOTSET"
    silent = replace(facts.attributes["auto_pad"], default=None, has_default=False)
    found = replace(facts, attributes={**facts.attributes, "auto_pad": silent})
    space = open_space(declare_by_documents(found, facts_path(operator, OWN_FOLDER).parent, (OWN_FOLDER,)))
    for pads in ("mixed", OMITTED):
        levels = {"auto_pad": OMITTED, "pads": pads}
        assert isinstance(space.search.solve(levels, Draw("left out")), Found)
    given = {"auto_pad": "VALID", "pads": "mixed"}
    assert not isinstance(space.search.solve(given, Draw("both")), Found)


def test_further_calls_differ_in_one_level_from_those_that_they_are_to_be_like() -> None:
    facts = load_imported(OperatorName.parse("com.microsoft::GridSample-1"))
    made = make_document_calls(facts, 20.0)
    like = [levels for levels in made.levels if levels["type_T1"] == "double"]
    assert 0 < len(like) < len(made.calls)
    more = make_document_calls(facts, 20.0, len(made.calls) + 5, like)
    assert more.all_pairs
    assert more.levels[: len(made.calls)] == made.levels
    for levels in more.levels[len(made.calls) :]:
        assert levels["type_T1"] == "double"
        assert min(sum(levels[name] != one[name] for name in one) for one in like) <= 1
