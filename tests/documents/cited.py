"""Whether a passage that an entry cites stands in its document."""

from __future__ import annotations

from pathlib import PurePosixPath

from tests.documents.gathering import Documents, read_digests


def assert_cited(documents: Documents, passage: str) -> None:
    """Fail where a passage (`file:line`, `file:first-last`, `file:1:column`) has no such lines, or empty."""
    places = {PurePosixPath(digest).name: digest for digest in read_digests()}
    file, _, place = passage.partition(":")
    if file.endswith(".jsonl"):
        assert file not in places  # a package's schemas, of which the facts alone are kept
        return
    lines = documents.find(places[file]).read_text(encoding="utf-8").split("\n")
    if ":" in place:
        assert lines[0][int(place.partition(":")[2]) - 1 :].strip(), passage
        return
    first, _, last = place.partition("-")
    told = lines[int(first) - 1 : int(last or first)]
    assert len(told) == int(last or first) - int(first) + 1, passage
    assert told[0].strip(), passage
    assert told[-1].strip(), passage
