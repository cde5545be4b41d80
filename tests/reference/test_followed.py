"""What runtimes were measured to follow is well formed, and about readings and options that there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from opcert.vocabulary.errors import SeveralErrors
from opcert.vocabulary.names import OperatorName
from reference.readings.followed import followers, load_all_followed, read_followed
from specs.files.library import load_spec
from tests.commands.command_line import call

MEASURED = """measured:
  - runtime: mine
    version: "2.0"
    followed:
      "ai.onnx::Resize-18":
        scale: {given: 3}
        subnormals: {flushed: 1, kept: 4}
  - runtime: theirs
    version: "1"
    followed:
      "ai.onnx::Resize-18":
        scale: {recomputed: 1}
"""


def test_the_file_names_readings_and_options_that_there_are() -> None:
    for followed_readings in load_all_followed():
        for operator, told in followed_readings.followed.items():
            readings = {reading.id: reading for reading in load_spec(OperatorName.parse(operator)).readings}
            for reading, options in told.items():
                assert set(options) <= set(readings[reading].options), (operator, reading)
                assert all(number > 0 for number in options.values())


def test_followers_are_told_by_option(tmp_path: Path) -> None:
    path = tmp_path / "followed.yaml"
    path.write_text(MEASURED, encoding="utf-8")
    measured, operator = read_followed(path), OperatorName.parse("ai.onnx::Resize-18")

    def told(reading: str) -> dict[str, list[str]]:
        return {
            option: [str(follower) for follower in found]
            for option, found in followers(measured, operator, reading).items()
        }

    assert told("scale") == {
        "given": ["mine 2.0 in all 3 cases that tell"],
        "recomputed": ["theirs 1 in the only case that tells"],
    }
    assert told("subnormals") == {
        "flushed": ["mine 2.0 in 1 of 5 cases that tell"],
        "kept": ["mine 2.0 in 4 of 5 cases that tell"],
    }
    assert told("length_resized") == {}
    path.write_text(MEASURED.replace("version", "edition"), encoding="utf-8")
    with pytest.raises(SeveralErrors, match="edition"):
        read_followed(path)


def test_show_tells_who_follows_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    answer = call(capsys, "show", "Resize-18")
    assert answer.code == 0
    lines = answer.out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("reading scale"))
    given = next(number for number in range(at, len(lines)) if lines[number].startswith("  given:"))
    assert any("followed by onnxruntime" in line for line in lines[given : given + 4])
