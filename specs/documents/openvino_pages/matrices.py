"""Matrices that picture an image of consecutive numbers: symbols stand for elements, numbers must fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specs.documents.text.documents import Line
from specs.model.spec import Finding, Value

_MOST_CELLS = 10_000


@dataclass(frozen=True)
class MatrixRow:
    """One row: its cells as written, and its line."""

    cells: tuple[str, ...]
    line: Line


def read_matrices(lines: Sequence[Line]) -> list[list[MatrixRow]]:
    """The matrices of a formula, row by row."""
    matrices: list[list[MatrixRow]] = []
    for line in lines:
        text = line.text.strip()
        if text.startswith("\\begin"):
            matrices.append([])
        elif matrices and "&" in text:
            cells = tuple(each.strip() for each in re.sub(r"\\\\\s*$", "", text).split("&"))
            matrices[-1].append(MatrixRow(cells, line))
    return matrices


def check_matrix(rows: list[MatrixRow], image: Value, channel: int) -> Iterator[Finding]:
    """Numbers of a matrix that differ from the image, wherever the image lies inside the padded matrix."""
    if image.data is None or len(image.shape) != 4 or not rows:
        return
    height, width = image.shape[2:]
    columns = max(len(row.cells) for row in rows)
    start = channel * height * width
    if start + height * width > len(image.data) or len(rows) * columns > _MOST_CELLS:
        return
    pixels = image.data[start : start + height * width]
    shifts = [
        (down, right)
        for down in range(max(len(rows) - height, 0) + 1)
        for right in range(max(columns - width, 0) + 1)
    ]
    wrong = min((_differences(rows, pixels, (height, width), shift) for shift in shifts), key=len)
    for row, got, expected in wrong if len(wrong) <= len(rows) * columns // 10 else ():
        yield Finding(
            "sequence-break",
            "error",
            row.line.source(),
            f"the matrix shows {got} where the image holds {expected}",
            f"the row reads {' '.join(row.cells)}",
            "noted",
        )


def _differences(
    rows: list[MatrixRow], pixels: Sequence[int], extent: tuple[int, int], shift: tuple[int, int]
) -> list[tuple[MatrixRow, int, int]]:
    """Cells that are numbers and differ from the image shifted so; around the image stand zeros."""
    height, width = extent
    found = []
    for down, row in enumerate(rows):
        for right, cell in enumerate(row.cells):
            if not re.fullmatch(r"\d{1,9}", cell):
                continue
            y, x = down - shift[0], right - shift[1]
            inside = 0 <= y < height and 0 <= x < width
            expected = pixels[y * width + x] if inside else 0
            if int(cell) != expected:
                found.append((row, int(cell), expected))
    return found
