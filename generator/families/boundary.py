"""Cases at the edges of the input space: extents 0 and 1, rank 0, extreme values, NaN, infinities."""

from __future__ import annotations

from generator.workshop import Workshop, word_of


def make_cases(workshop: Workshop) -> None:
    for word, levels, call in workshop.levels.boundary_calls(workshop.spec, workshop.draw("boundary")):
        workshop.add_valid("boundary", word_of(word), call, levels)
