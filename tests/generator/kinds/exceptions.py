"""Rules of kinds of certain operators that the laws of breaches do not hold for, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping

NEVER_ALONE: Mapping[tuple[str, str], str] = {
    ("Attention", "kv_num_heads_value"): "no number beside the listed ones makes groups of 1, 2 or 4 heads",
    ("DFT", "dft_length_positive"): "something_to_transform speaks of the same length, given or not",
    ("DeformConv", "group_positive"): "no weights have the shape that C / group gives them",
    ("LinearAttention", "kv_num_heads_value"): "no number beside the listed ones divides 1, 2 or 4 heads",
    ("LinearAttention", "q_num_heads_value"): "the width of the query is so many times that of a key",
    ("MaxRoiPool", "spatial_scale_finite"): "what is multiplied with infinity ends outside of every image",
    ("STFT", "frame_length_positive"): "a_frame_fits speaks of the same length, given or not",
}
"""Of operators' names and rules: a breach of these breaks another rule as well, in every scope."""
UNBREACHED: Mapping[tuple[str, str], str] = {
    ("Attention", "mask_type"): "kinds choose no element types; breaches of types are made for every input",
    ("Attention", "one_type"): "kinds choose no element types; breaches of types are made for every input",
    ("LinearAttention", "beta_width"): "it is a shape's; breaches of shapes are made for every input",
    ("LinearAttention", "decay_width"): "it is a shape's; breaches of shapes are made for every input",
}
"""Of operators' names and rules: no kind proposes a breach of these."""


def excepted(rules: Mapping[tuple[str, str], str], operator: str) -> set[str]:
    """The rules of an operator among these."""
    return {rule for name, rule in rules if name == operator}
