"""Functions of the expression language that need a page of their own.

Each is pure and bounded in work, takes plain numbers, texts and lists, and raises ValueError where it has no
value. A new one stands in the module of what it is about, and in the table here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specs.language.functions import equations, patterns, shapes, tree_links, whole_pictures
from specs.language.functions import sliding_windows as windows
from specs.language.functions import typed_values as values

FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        *(equations.einsum_fits, equations.einsum_shape, equations.einsum_terms, equations.is_einsum),
        *(patterns.is_re2, whole_pictures.is_picture, whole_pictures.picture_format),
        *(shapes.block_fits, shapes.broadcast_shape, shapes.broadcasts, shapes.distinct_along),
        *(shapes.divided, shapes.granularity, shapes.padding, shapes.reduced, shapes.replaced),
        *(shapes.reshaped, shapes.reshapes, shapes.rows_differ, shapes.rows_inside),
        *(shapes.sliced, shapes.unsqueezed),
        *(tree_links.are_votes_of_leaves, tree_links.leafy_tree_faults, tree_links.tree_faults),
        *(values.body_inputs, values.body_outputs, values.body_shapes, values.body_takes),
        *(values.has_element, values.is_number, values.type_code, values.value_type),
        *(windows.block_count, windows.output_padding_fits, windows.same_padding_fits),
        *(windows.spread_lengths, windows.unpooled, windows.valid_leaves_nothing, windows.window_counts),
        *(windows.window_covers, windows.windows_begin_inside, windows.windows_hold_elements),
    )
}
