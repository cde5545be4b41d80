"""The limits that the worker protocol states for what a worker says (docs/worker-protocol.md)."""

from __future__ import annotations

LARGEST_HEADER = 16 << 20
"""Bytes of a frame's header."""
LARGEST_HELLO = 64 << 10
"""Bytes of the header that answers `hello`: it stands in every record."""
LONGEST_MESSAGE = 4096
"""Characters of the message of an error."""
LONGEST_WORD = 1000
"""Characters of a name or kind: of the runtime, of an error, of what is no tensor."""
MOST_OUTPUTS = 128
"""Outputs of one answer, and blobs of one frame."""
MOST_STRINGS = 1 << 20
"""Strings of one output."""
MOST_TOUCHED = 128
"""Places of memory that an answer names."""
MOST_DIMENSIONS = 32
GREATEST_EXTENT = (1 << 63) - 1
MOST_THREAD_COUNTS = 16
MOST_THREADS = 4096
MOST_SECONDS = 1e6


def cut(text: str, longest: int) -> str:
    """The text; where it is longer, its begin and its end with a mark between that says so."""
    if len(text) <= longest:
        return text
    mark = f" ... (cut, {len(text):,} characters) ... "
    tail = (longest - len(mark)) // 4
    return text[: longest - len(mark) - tail] + mark + text[len(text) - tail :]
