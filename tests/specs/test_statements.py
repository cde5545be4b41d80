"""Statements read from sentences: each form by itself, both lists of a reader, expressions, and the files."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest

from specs.documents.prose.part_names import ParameterNames, find_normative
from specs.documents.prose.passage_statements import find_statements
from specs.documents.text.documents import Line, Passage, read_document
from specs.files.library import load_imported
from specs.files.spec_folders import list_operators
from specs.importers import import_text
from specs.language.expressions import parse
from specs.model.spec import Spec
from specs.model.statements import Range, Relevance, describe, is_proposed
from tests.documents.gathering import Documents
from tests.specs.stated_facts import Measured, measure, read_list

PARTS = ParameterNames(
    ("axis", "axes", "mode", "pads", "keepdims"),
    ("X", "indices", "scales", "B"),
    ("Y",),
    ("axis", "keepdims"),
)


def read(passages: Mapping[str, str], parts: ParameterNames = PARTS) -> list[tuple[str, str]]:
    lines = {about: Passage([Line(text, 1)]) for about, text in passages.items()}
    return [(statement.about, describe(statement)) for statement in find_statements(lines, parts)]


@pytest.mark.parametrize(
    ("about", "text", "stated"),
    [
        ("attributes.axis", "Accepted range is [-r, r-1] where r = rank(X).",
         "range >= -rank(X), <= rank(X) - 1"),
        ("attributes.axis", "If rank(X) is r, its allowed range is [-r, r).", "range >= -rank(X), < rank(X)"),
        ("attributes.axis", "Must be in the range `[0, rank-1]`.", "range >= 0, <= rank(X) - 1"),
        ("attributes.axis", "Accepted range is [-r, r-1].", "range >= -r, <= r - 1"),
        ("attributes.pads", "It can take any value greater than or equal to 0.", "range >= 0"),
        ("inputs.indices", "All values are expected to be within bounds [-s, s-1].",
         "range of elements >= -s, <= s - 1"),
        ("inputs.scales", "It takes value greater than 0.", "range of elements > 0"),
        ("inputs.B", "A 1-D tensor containing a single positive value.", "rank 1"),
        ("inputs.B", "It must be a scalar(tensor of empty shape).", "rank 0"),
        ("inputs.B", "It could be a scalar or a 1-D tensor.", "rank 0 to 1"),
        ("inputs.B", "Tensor of rank r >= 2.", "rank >= 2"),
        ("inputs.X", "Has size (N x C x D1 x D2 ... Dn).", "shape [N, C, D1, D2, ..., Dn]"),
        ("inputs.X", "The shape of X should be (M, K) if keepdims is 0.", "shape [M, K] where keepdims == 0"),
        ("inputs.B", "Optional 1D bias of length oC.", "shape [oC]"),
        ("outputs.Y", "It has the same shape and type as the input.", "shape of inputs.X"),
        ("inputs.B", "Shape must match `scales`.", "shape of inputs.scales"),
        ("inputs.B", "The shape of B should be unidirectional broadcastable to (M, N).",
         "broadcast B to (M, N)"),
        ("attributes.pads", "This attribute is valid only if mode is \"cubic\".",
         "matters where mode == 'cubic'"),
        ("attributes.pads", "If scales is specified, this attribute is ignored.",
         "matters where not present(scales)"),
        ("inputs.X", "Tensor of rank 3, 4 or 5.", "rank 3 to 5"),
        ("inputs.X", "A tensor of at least rank 2.", "rank >= 2"),
        ("inputs.X", "1-D or higher, with its last axis sorted.", "rank >= 1"),
        ("inputs.X", "A tensor of type `T` and arbitrary shape.", "rank >= 0"),
        ("inputs.X", "Any number of dimensions.", "rank >= 0"),
        ("inputs.B", "non-negative int32 scalar `Tensor`.", "rank 0"),
        ("inputs.B", "Optional input list of integers.", "rank 1"),
        ("inputs.B", "Shape is (1)", "shape [1]"),
        ("inputs.B", "A 1-D tensor of 2 elements: height and width.", "shape [2]"),
        ("inputs.B", "Vector of length 4.", "shape [4]"),
        ("inputs.B", "2-D tensor of type `T` `[batch, size]`, the weights.", "shape [batch, size]"),
        ("inputs.B", "An `N` x `K` matrix of weights.", "shape [N, K]"),
        ("inputs.B", "2-D, size `[nnz, 2]` Matrix.", "shape [nnz, 2]"),
        ("inputs.B", "Added, with shape (N or 1, C).", "shape [1 or N, C]"),
        ("inputs.B", "A matrix with shape=[N, C].", "shape [N, C]"),
        ("inputs.B", "Shape of the tensor is `[N, T, C]`, where `N` is the batch.", "shape [N, T, C]"),
        ("inputs.B", "Its shape must have the form `[D_0, ..., D_{N-1}, 2]`.",
         "shape [D_0, ..., D_{N-1}, 2]"),
        ("outputs.Y", "The shape of the output has the form `[S_0, 2]`.", "shape [S_0, 2]"),
        ("outputs.Y", "Tensor with shape and type equal to `X` tensor.", "shape of inputs.X"),
        ("outputs.Y", "Tensor with shape equal to broadcasted shape of X and B.", "broadcast X, B"),
        ("attributes.axis", "Must be one of 1 (default), or 0.", "range >= 0, <= 1"),
        ("attributes.axis", "The order: 0 for rows, 1 for columns, 2 for neither.", "range >= 0, <= 2"),
        ("attributes.axis", "Whether to keep the axis", "range >= 0, <= 1"),
        ("attributes.axis", "If set to 1, the axis is kept.", "range >= 0, <= 1"),
        ("attributes.axis", "Keep the reduced axis or not, default 1.", "range >= 0, <= 1"),
        ("attributes.axis", "Must be a power of two and ≥ 16 (e.g., 16, 32).", "range >= 16"),
        ("attributes.pads", "Must be between 0 and 1.", "range >= 0, <= 1"),
        ("inputs.B", "2D with shape (,hidden_size)", "shape [_, hidden_size]"),
        ("inputs.B", "Required exactly when axis is positive.", "required where axis > 0 there alone"),
        ("inputs.B", "Required when the Y output is requested.", "required where Y is asked for"),
        ("inputs.B", "A vector with size of at least 2.", "range of length >= 2"),
        ("inputs.B", "Tensor(scalar, or dims=[1]). The first.", "range of length >= 1, <= 1"),
        ("inputs.B", "A scalar or one-element tensor.", "range of length >= 1, <= 1"),
        ("inputs.B", "Has shape (N, d) where d is (axis + 2) * H.", "shape [N, (axis + 2) * H]"),
        ("inputs.B", "Shape (N, k) where k = ceil(K / axis) and b = (2 * N).", "shape [N, ceil(K / axis)]"),
        ("inputs.X", "Its extents `H` and `W` should be divisible by `axis`.", "W: a multiple of axis"),
        ("type_constraints.T", "Constrain types to 8-bit unsigned integer tensors.",
         "types 8-bit unsigned integer"),
        ("type_constraints.T", "Constrain input types. Strings and complex are not supported.",
         "types any without string, complex"),
    ],
)  # fmt: skip
def test_each_form(about: str, text: str, stated: str) -> None:
    assert (about, stated) in read({about: text})


@pytest.mark.parametrize(
    ("about", "text"),
    [
        ("attributes.axis", "Values outside the range [0, 5] become zero."),
        ("attributes.axis", "The bounds are clamped to range [0, r]."),
        ("inputs.X", "It should have most values in the range of [-1, 1]."),
        ("inputs.X", "For 2D input tensor, it is the number of pixels."),
        ("inputs.X", "If the input is a 1-D tensor, it is reshaped."),
        ("inputs.X", "An input of shape [2, 3, 4]."),
        ("outputs.Y", "The first two dimensions of output shape are the same as the input."),
        ("outputs.Y", "In those cases the output has the same shape as the input."),
        ("inputs.B", "It could be a scalar or N-D tensor."),
        ("inputs.B", "Non-negative numbers. Can be 0D."),
        ("inputs.B", "A tensor of rank 4 or less."),
        ("summary", "Tiles a tensor, but no broadcast."),
        ("inputs.B", "A scalar for one, or 1-D of another size for many."),
        ("inputs.B", "A 0-D `Tensor`, or a `Tensor` with the same shape as `X`."),
        ("inputs.B", "1-D with size matching the last axis."[4:]),
        ("outputs.Y", "It has `shape[i] = shapeOf(X)[i]` for all axes."),
        ("outputs.Y", "It cannot have the shape [2]."),
        ("outputs.Y", "Shape of the output is `[X.shape[:axis], B.shape, X.shape[axis + 1:]]`."),
        ("attributes.axis", "Set `keepdims=0` to use a positive one; 2 for two axes."),
        ("attributes.pads", "Whether a list is padded."),
        ("inputs.B", "It has at least some elements."),
        ("inputs.X", "The extent along `axis` must be divisible by `mode`."),
        ("summary", "All are element-wise operations with numpy-style broadcasting."),
    ],
)
def test_what_states_nothing(about: str, text: str) -> None:
    assert read({about: text}) == []


LISTS = ParameterNames(("keys_ints", "keys_texts", "values", "int_words", "text_words"), ("X",), ("Y",), ())


@pytest.mark.parametrize(
    ("about", "text", "stated"),
    [
        ("attributes.keys_ints", "One and only one of the 'keys_*' attributes must be defined.",
         [("attributes.keys_ints", "exactly one of keys_ints, keys_texts")]),
        ("attributes.int_words", "An array.<br>One and only one of the words must be defined.",
         [("attributes.int_words", "exactly one of int_words, text_words")]),
        ("summary", "One and only one of int_words or text_words should be defined -- as the input is.",
         [("summary", "exactly one of int_words, text_words")]),
        ("attributes.values", "This sequence must be the same length as the 'int_words' sequence.",
         [("attributes.values", "as many elements as int_words")]),
        ("summary", "Note that the 'keys_*' and 'values' attributes must have the same length.",
         [("attributes.values", "as many elements as keys_*")]),
        ("attributes.values", "Can be length of features in an [N,F] tensor or length 1.",
         [("attributes.values", "range of length >= 1, <= shape(X)[-1]")]),
        ("summary", "The keys attribute length can be 1 element, or it can have one element per feature.",
         [("attributes.keys_ints", "range of length >= 1, <= shape(X)[-1]"),
          ("attributes.keys_texts", "range of length >= 1, <= shape(X)[-1]")]),
        ("summary", "There must be as many columns as keys.", [("inputs.X", "shape [N, C]")]),
        ("attributes.keys_ints", "One and only one of them must be defined.", []),
        ("attributes.keys_ints", "Only one of the 'keys_*' is used.", []),
        ("attributes.values", "Must be the same length as the sequence.", []),
    ],
)  # fmt: skip
def test_what_is_said_of_lists_together(about: str, text: str, stated: list[tuple[str, str]]) -> None:
    found = read({about: text}, LISTS)
    assert found[: len(stated)] == stated
    assert stated or not found


def test_hostile_lists_are_read_in_time() -> None:
    started = time.monotonic()
    for text in (
        "one and only one of " * 20_000,
        "must be same length as " * 20_000,
        "exactly one " + "a" * 10**6,
    ):
        read({"attributes.values": text}, LISTS)
    assert time.monotonic() - started < 2 * 3


PRODUCT = ParameterNames(("transA",), ("A", "A_scale", "B", "bias"), ("Y",), ("transA",))


@pytest.mark.parametrize(
    "passages",
    [
        {"summary": "Matrix product that behaves like numpy.matmul: https://numpy.org/numpy.matmul.html"},
        {"summary": "Matrix product that behaves like [numpy.matmul](https://numpy.org/numpy.matmul.html)."},
        {
            "inputs.A": "N-dimensional matrix A",
            "inputs.B": "N-dimensional dense matrix B",
            "outputs.Y": "Matrix multiply results from A * B",
        },
    ],
)
def test_a_matrix_product_has_rows_and_columns_behind_axes_that_are_broadcast(
    passages: Mapping[str, str],
) -> None:
    assert {text for _, text in read(passages, PRODUCT)} == {
        "shape [..., M, K]",
        "shape [..., K, N]",
        "shape [..., M, N]",
        "broadcast A, B",
    }


@pytest.mark.parametrize(
    ("about", "text", "stated"),
    [
        ("attributes.transA", "Whether A should be transposed on the last two dimensions before doing it",
         ("inputs.A", "shape [..., K, M] where transA != 0")),
        ("inputs.bias", "It could be a scalar or a 1-D tensor. If it's a 1-D tensor, its number of elements "
         "should be equal to the number of columns of input 'B'.",
         ("inputs.bias", "shape [shape(B)[-1]] where rank(bias) == 1")),
        ("inputs.bias", "1D input tensor, whose dimension is same as B's last dimension",
         ("inputs.bias", "shape [shape(B)[-1]]")),
        ("inputs.bias", "A vector with the same shape as last dim of A",
         ("inputs.bias", "shape [shape(A)[-1]]")),
    ],
)  # fmt: skip
def test_what_lies_along_a_matrix(about: str, text: str, stated: tuple[str, str]) -> None:
    assert stated in read({about: text}, PRODUCT)


@pytest.mark.parametrize(
    ("about", "text"),
    [
        ("summary", "A product of numbers that behaves like numpy.multiply."),
        ("inputs.bias", "N-dimensional matrix bias"),
        ("inputs.bias", "The same shape as the last dim of bias"),
        ("attributes.transA", "Whether C should be transposed on the last two dimensions"),
    ],
)
def test_what_is_no_factor_of_a_product(about: str, text: str) -> None:
    assert not [each for each in read({about: text}, PRODUCT) if "shape" in each[1]]


def test_a_packed_input_has_its_shape_where_the_others_are_left_out() -> None:
    parts = ParameterNames(inputs=("query", "key", "value"))
    passages = {"inputs.query": "Of shape (N, S, H), or packed QKV with shape (N, S, d) where d is (3 * H).",
                "inputs.key": "With shape (N, S, H) or packed KV with shape (N, S, 2, H)"}  # fmt: skip
    assert read(passages, parts) == [
        ("inputs.query", "shape [N, S, H]"),
        ("inputs.query", "shape [N, S, (3 * H)] where not present(key)"),
        ("inputs.key", "shape [N, S, H]"),
        ("inputs.key", "shape [N, S, 2, H] where not present(value)"),
    ]


def test_what_is_applied_to_each_element_takes_any_rank() -> None:
    one = ParameterNames((), ("X",), ("Y",))
    text = "The sign, y = sign(x) where x is real, is applied to the tensor elementwise."
    assert read({"summary": text}, one) == [
        ("inputs.X", "rank >= 0"),
        ("outputs.Y", "shape of inputs.X"),
    ]
    assert read({"summary": text}) == []


def test_a_name_for_a_rank_holds_in_other_passages() -> None:
    passages = {"inputs.X": "Tensor of rank r >= 1.", "inputs.indices": "Indices, of any rank q.",
                "outputs.Y": "Tensor of rank q + (r - 1)."}  # fmt: skip
    assert ("outputs.Y", "rank rank(indices) + (rank(X) - 1)") in read(passages)


def test_a_name_for_an_extent_holds_in_other_passages_where_its_formula_is_known() -> None:
    shapes = {"inputs.scales": "Of shape (N, blocks).", "inputs.B": "Of shape (N, other, K)."}
    summary = "The scales are those of blocks, where blocks = ceil(K / axis). The other is length + 1."
    assert read({"summary": summary, **shapes}) == [
        ("inputs.scales", "shape [N, ceil(K / axis)]"),
        ("inputs.B", "shape [N, other, K]"),
    ]
    cut = "Derived: where blocks = 2 * B.shape[1], in the order of rows."
    assert read({"summary": cut, **shapes})[0] == ("inputs.scales", "shape [N, blocks]")


def test_what_stands_twice_is_one_statement_with_both_places() -> None:
    text = "Accepted range for 'axis' is in `[-r, r-1]`, where r = rank(X)."
    passages = {"summary": Passage([Line(text, 3)]), "attributes.axis": Passage([Line(text, 9)])}
    (statement,) = find_statements(passages, PARTS)
    assert [source.line for source in statement.origin.sources] == [3, 9]


def test_a_bound_by_a_letter_that_nothing_defines_is_proposed() -> None:
    (statement,) = find_statements(
        {"attributes.axis": Passage([Line("Accepted range is [-r, r-1].", 1)])}, PARTS
    )
    assert is_proposed(statement)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It must be one of these.", ["must"]),
        ("Accepted range is [0, 1].", ["accepted range"]),
        ("It is an error if any index is out of bounds.", ["error"]),
        ("Always required, and should be sorted.", ["should", "required"]),
        ("The shape is not required.", []),
        ("Computes the error function of the input.", []),
    ],
)
def test_normative_words(text: str, words: list[str]) -> None:
    assert [word for word, _ in find_normative(Passage([Line(text, 1)]))] == words


@pytest.fixture(scope="module")
def pages(documents: Documents) -> list[Spec]:
    return import_text(read_document(documents.find("onnx/Operators.md")))


def share(measured: Measured) -> tuple[float, float]:
    """Recall and precision over all kinds."""
    right = sum(measured.right.values())
    return right / sum(measured.listed.values()), right / sum(measured.found.values())


@pytest.mark.parametrize(("group", "recall"), [("first", 0.98), ("second", 0.93)])
def test_what_a_reader_listed_is_found_and_nothing_else(pages: list[Spec], group: str, recall: float) -> None:
    """Before the lists mended the rules, 83 and 78 % of them were found, and 98 and 97 % of it was right."""
    measured = measure(pages, group)
    found, right = share(measured)
    assert found >= recall, measured.missed
    assert right >= 0.98, measured.wrong


def test_the_lists_name_operators_of_the_page(pages: list[Spec]) -> None:
    names = {page.operator.name for page in pages}
    assert len(read_list("first")) == 40
    assert len(read_list("second")) == 20
    assert {*read_list("first"), *read_list("second")} <= names


@pytest.mark.slow
def test_bounds_and_conditions_of_shipped_specs_are_expressions() -> None:
    bounds = 0
    for operator in list_operators():
        for statement in load_imported(operator).statements:
            texts: list[str | None] = []
            if isinstance(statement, Range):
                texts = [
                    statement.at_least,
                    statement.more_than,
                    statement.at_most,
                    statement.less_than,
                    statement.when,
                ]
            elif isinstance(statement, Relevance):
                texts = [statement.effective_when]
            for text in texts:
                if text is not None:
                    parse(text)
                    bounds += 1
            assert statement.origin.sources
    assert bounds > 500


PIECES = (
    *("|", "(", "[", ",", "- ", "a x ", "or [a], ", "a and ", "shape [", "`a` is a ", "0 is a, ", "whether "),
    *(
        "1 or ",
        "of 2 ",
        "multiple of ",
        "same shape as ",
        "where d is (",
        "where d = a ",
        "the d is (",
        "and d = ",
    ),
)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("about", ["attributes.axis", "inputs.X", "outputs.Y", "summary"])
def test_a_megabyte_of_one_piece_takes_bounded_time(about: str, piece: str) -> None:
    passage = Passage([Line(piece * (1_000_000 // len(piece)), 1)])
    begun = time.process_time()
    find_statements({about: passage}, PARTS)
    assert time.process_time() - begun < 10
