"""More documents made to hurt, through the command line: no bug, a minute at most, two gigabytes at most."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.specs.test_hostile_documents import FRAMES, _opcert

pytestmark = pytest.mark.nightly

_DIGITS = "9" * 6_000
PIECES = {
    "long numbers": f"x in [0, {_DIGITS}], 1e{_DIGITS} or 0x{'f' * 6_000}\n\n**Default value**: {_DIGITS}\n",
    "long versions": f"version {_DIGITS} of X-{_DIGITS}, since_version: **{_DIGITS}**, opset{_DIGITS}\n",
    "math": "$$\n" + "\\frac{1}{" * 20_000 + "x" + "}" * 20_000 + "\n$$\n" + "\\begin{equation}\n" * 2_000,
    "wide tables": "|" + " a |" * 20_000 + "\n|" + "---|" * 20_000 + "\n" + "| x | `y` |\n" * 30_000,
    "grid tables": "+--+--+\n|a |b |\n" * 20_000 + "+--+--+\n" + "=== ===\n" * 20_000,
    "nested types": "`" + "seq(" * 20_000 + "tensor(float)" + ")" * 20_000 + "`, " + "map(int64, " * 20_000,
    "code points": "&#99999999999999999999;&#xD800;&#0;" * 2_000
    + "e"
    + "\u0301" * 50_000
    + "\u2028\x85\x0c" * 3_000,
}
NAMES = {
    "onnx-markdown": "Operators.md",
    "onnx-sphinx-rst": "onnx__X.rst",
    "openvino": "X_1.rst",
    "tensorflow-docstring": "x.txt",
    "tensorflow-fragment": "org.tensorflow.BatchToSpaceND-1.txt",
}


@pytest.mark.parametrize("command", ["import", "lint"])
@pytest.mark.parametrize("dialect", FRAMES)
@pytest.mark.parametrize("kind", PIECES)
def test_a_page_has_an_answer(tmp_path: Path, kind: str, dialect: str, command: str) -> None:
    piece, page = PIECES[kind], tmp_path / NAMES[dialect]
    page.write_text(FRAMES[dialect] % ("s" if dialect == "openvino" else piece, piece), encoding="utf-8")
    words = ["-o", str(tmp_path / "specs")] if command == "import" else []
    ended = _opcert(command, str(page), *words)
    assert ended.code in (0, 1, 2, 5), ended.err[-2_000:]
    assert "Traceback" not in ended.err
    assert ended.seconds < 60
    assert ended.mebibytes < 2_048
