"""Folders of many operators that nobody needs: to see what is done once for each of them."""

from __future__ import annotations

from pathlib import Path

from opcert.vocabulary.names import OperatorName

_IMPORTED = """\
operator: {{domain: {domain}, name: {name}, since_version: {version}}}
documents:
  d1: {{file: page.rst, dialect: onnx-sphinx-rst, sha256: "00", identity: stated}}
arity: {{inputs: [1, 1], outputs: [1, 1]}}
inputs: [{{name: X, type: T, option: single, src: [d1, 10]}}]
outputs: [{{name: Y, type: T, option: single, src: [d1, 14]}}]
"""
_OWN_MODULES = "shapes: {X: '*S'}\n\nreference: reference.py\n"


def write_operators(folder: Path, count: int) -> list[OperatorName]:
    """So many operators in a folder of specs: half of them with modules of their own, half declared."""
    made = [OperatorName("made.up", f"Operator{number}", number % 20 + 1) for number in range(count)]
    for number, operator in enumerate(made):
        room = folder / operator.domain / operator.name
        room.mkdir(parents=True)
        facts = _IMPORTED.format(domain=operator.domain, name=operator.name, version=operator.since_version)
        (room / f"imported-{operator.since_version}.yaml").write_text(facts, encoding="utf-8")
        declared = _OWN_MODULES if number % 2 else "shapes: {X: '*S'}\n"
        (room / "spec.yaml").write_text(declared, encoding="utf-8")
    return sorted(made)
