"""The digest of files by name: it follows every name and byte, and neither their order nor their place."""

from __future__ import annotations

from pathlib import Path

from opcert.vocabulary.file_digests import digest_by_name


def _files(folder: Path, **contents: str) -> dict[str, Path]:
    folder.mkdir()
    for name, text in contents.items():
        (folder / name).write_text(text)
    return {name: folder / name for name in contents}


def test_it_follows_names_and_bytes_alone(tmp_path: Path) -> None:
    first = digest_by_name(_files(tmp_path / "1", a="x", b="yz"))
    assert digest_by_name(_files(tmp_path / "2", b="yz", a="x")) == first
    others = [_files(tmp_path / "3", a="x", b="y"), _files(tmp_path / "4", a="x", c="yz")]
    others += [_files(tmp_path / "5", a="xy", b="z"), _files(tmp_path / "6", a="x"), {}]
    assert len({first, *map(digest_by_name, others)}) == 1 + len(others)
