"""Rules of kinds of certain operators that the laws of breaches do not hold for, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping

from opcert.vocabulary.names import OperatorName

NEVER_ALONE: Mapping[tuple[str, str], str] = {
    (
        "ai.onnx::Attention",
        "kv_num_heads_value",
    ): "no number beside the listed ones makes groups of 1, 2 or 4 heads",
    ("ai.onnx::DFT", "dft_length_positive"): "something_to_transform speaks of the same length, given or not",
    ("ai.onnx::DeformConv", "group_positive"): "no weights have the shape that C / group gives them",
    (
        "ai.onnx::LinearAttention",
        "kv_num_heads_value",
    ): "no number beside the listed ones divides 1, 2 or 4 heads",
    (
        "ai.onnx::LinearAttention",
        "q_num_heads_value",
    ): "the width of the query is so many times that of a key",
    (
        "ai.onnx::MaxRoiPool",
        "spatial_scale_finite",
    ): "what is multiplied with infinity ends outside of every image",
    ("ai.onnx::STFT", "frame_length_positive"): "a_frame_fits speaks of the same length, given or not",
    (
        "ai.onnx.ml::SVMClassifier",
        "scores_of_classes",
    ): "vectors_of_both speaks of the same coefficients, too",
    ("com.microsoft::Attention", "qkv_hidden_sizes_length"): "queries_as_keys speaks of three sizes, too",
    ("com.microsoft::Attention", "qkv_hidden_sizes_positive"): "heads_of_elements speaks of the same sizes",
}
"""Of operators' names and rules: a breach of these breaks another rule as well, in every scope."""
UNBREACHED: Mapping[tuple[str, str], str] = {
    (
        "ai.onnx::Attention",
        "mask_type",
    ): "kinds choose no element types; breaches of types are made for every input",
    (
        "ai.onnx::Attention",
        "one_type",
    ): "kinds choose no element types; breaches of types are made for every input",
    (
        "ai.onnx::LinearAttention",
        "beta_width",
    ): "it is a shape's; breaches of shapes are made for every input",
    (
        "ai.onnx::LinearAttention",
        "decay_width",
    ): "it is a shape's; breaches of shapes are made for every input",
    ("com.microsoft::QLinearConcat", "inputs_scales"): "scales are drawn as numbers, whatever is asked",
}
"""Of operators' names and rules: no kind proposes a breach of these."""


IDLE: Mapping[tuple[str, str], str] = {
    ("ai.onnx.ml::SVMClassifier", "prob_a reversed"): "two classes have one pair, and no more have shares",
    (
        "com.microsoft::Attention",
        "qkv_hidden_sizes first",
    ): "queries are as long as keys, and one alone is not",
    ("com.microsoft::DynamicQuantizeLSTM", "sequence_lens first"): "sequences have one length there",
    ("com.microsoft::DynamicQuantizeLSTM", "sequence_lens longest"): "sequences have one length there",
}
"""Of operators' names and changes: what is changed so breaks another rule in every scope."""


def excepted(rules: Mapping[tuple[str, str], str], operator: OperatorName) -> set[str]:
    """The rules of an operator among these."""
    return {rule for name, rule in rules if name == operator.unversioned}
