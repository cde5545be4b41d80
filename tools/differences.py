"""Operators of OpenVINO and TensorFlow beside those of ONNX that compute them: docs/tables/differences.md.

Usage: uv run python -m tools.differences > docs/tables/differences.md

Made of the declarations alone: what `same_as`, `arguments` and `differs` of their `spec.yaml` say.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from generator.asking.named_operators import referenced_operators
from generator.making.operators.opsets import DIALECTS, newest_versions
from opcert.commands.terminal import say
from opcert.vocabulary.harmless import for_markdown, for_markdown_code
from specs.files.library import load_spec
from specs.model.facts import place
from specs.model.spec import SameAs, Spec

HEAD = """# What differs from ONNX

Operators of OpenVINO and TensorFlow whose answers an operator of ONNX has as well, for whoever ports a model.
Made by `uv run python -m tools.differences` from the declarations: *is* names the operator and version whose
reference computes the cases, *given* what that one is given in place of its own inputs and attributes, as an
expression over the operator's own, and *otherwise* what somebody who knows it does not expect, with the place
in the operator's page. What is not asked here is said so. An operator without a word differs in names and
element types alone. `-s openvino` and `-s tensorflow` name the cases.
"""
_COLUMNS = "| operator | is | given | otherwise |\n|---|---|---|---|"
_TITLES = {"openvino": "OpenVINO", "tensorflow": "TensorFlow"}


def page() -> Iterator[str]:
    """The lines of the page."""
    yield HEAD
    for suite, title in _TITLES.items():
        operators = newest_versions(each for each in referenced_operators() if each.domain == DIALECTS[suite])
        rows = [row for operator in operators if (row := _row(load_spec(operator))) is not None]
        yield f"## {title}\n\n{len(rows)} operators.\n\n{_COLUMNS}"
        yield from rows
        yield ""


def _row(spec: Spec) -> str | None:
    """The line of an operator; None of one that has a reference of its own."""
    if spec.same_as is None:
        return None
    given = (f"{name} = {text}" for name, text in spec.same_as.arguments.items())
    cells = (
        spec.operator.short,
        str(spec.same_as.operator).removeprefix("ai.onnx::"),
        "; ".join(map(_code, given)),
        "; ".join(_told(spec, spec.same_as)),
    )
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    return for_markdown_code(" ".join(text.split()))


def _told(spec: Spec, same_as: SameAs) -> Iterator[str]:
    for each in same_as.differs:
        where = "".join(f" ({place(spec, source)})" for source in each.origin.sources[:1])
        yield for_markdown(each.what) + where


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    for line in page():
        say(line)
