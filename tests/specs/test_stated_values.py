"""Single values of declarations: what the reader of these files finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.asking.named_operators import names_a_reference
from opcert.vocabulary.names import OperatorName
from specs.files.declaration_files import read_document
from specs.files.spec_folders import OWN_FOLDER
from specs.files.stated_values import KEYS, stated_value

SHIFT = OperatorName.parse("test.domain::Shift-21")


def told(path: Path, key: str) -> str | None:
    found = read_document(path).value.get(key)
    return None if found is None else str(found)


def test_of_every_file_that_ships_the_same_is_told() -> None:
    paths = [*OWN_FOLDER.glob("*/*/spec.yaml"), *OWN_FOLDER.glob("parts/*.yaml")]
    assert len(paths) > 150
    for path in paths:
        for key in KEYS:
            assert stated_value(path, key) == told(path, key), f"{path}: {key}"


@pytest.mark.parametrize(
    "text",
    [
        "versions: 21..\n",
        'versions: "21.."\n',
        "versions: '21..'  # since\n",
        '"versions": 21..\n',
        "{versions: 21..}\n",
        "versions : 21..\n",
        "versions:\n  21..\n",
        "versions: 21\nwhy: 'versions: of old'\n",
        "versions: 021\nolder: true\n",
        "versions: 0o25\nwhy: a\n",
        "versions: null\n",
        "versions:   # none\n",
        "why: |\n  versions: 22..\n",
        "? versions\n: 21..\n",
        '"ver\\u0073ions": 21..\n',
        "--- {versions: 21..}\n",
        "older: inputs are\n  broadcast\n\n  by axis\nversions: 20\n",
        "# the versions: all\nversions: 21..\r\nuses: [one, two]\r\n",
        "uses:\n- one\n- two\n",
        'uses: [one, "two"]\n',
        "uses: [one,\n  two]\n",
        "older: 'a: b'\ngroup: pooling\nreference: ~\n",
    ],
)
def test_however_it_is_written_the_same_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "spec.yaml"
    path.write_bytes(text.encode())
    for key in KEYS:
        assert stated_value(path, key) == told(path, key), key


@pytest.mark.parametrize("text", ['versions: "22.."', "uses:\n- late", 'uses: ["late"]', "uses: [over]"])
def test_an_operator_is_known_in_the_versions_that_its_declaration_speaks_of(
    tmp_path: Path, text: str
) -> None:
    room = tmp_path / "test.domain" / "Shift"
    room.mkdir(parents=True)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "late.yaml").write_text("versions: 22..\n")
    (tmp_path / "parts" / "over.yaml").write_text("uses:\n- over\n- late\n")
    (room / "spec.yaml").write_text(f"reference: shift.py\n{text}\n")
    assert not names_a_reference(SHIFT, [tmp_path])
    later = OperatorName(SHIFT.domain, SHIFT.name, 22)
    assert names_a_reference(later, [tmp_path])


def test_a_file_that_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    for version in ("20..", "21..", "20.."):
        path.write_text(f"versions: {version}\n")
        assert stated_value(path, "versions") == version
