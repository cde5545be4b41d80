"""Every expected output that the first pages print, or state as slices, becomes an `example` case."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from generator.making.families import example
from generator.making.operators.discovery import open_spec
from generator.making.operators.workshop import Options, Workshop, word_of
from opcert.vocabulary.names import OperatorName
from reference.registry import find_operator

PAGES = [
    # how the page's name begins, the operator, what stands once for each expected output, how many there are
    ("000", "ai.onnx::CenterCropPad-18", r"\bexpect\(", 5),
    ("001", "com.microsoft::Pad-1", r"\boutput = \[", 1),
    ("002", "org.tensorflow::BatchToSpaceND-1", r"output tensor has shape", 4),
    ("003", "org.openvino::ExtractImagePatches-3", r"\n *output:\n", 5),
    ("004", "ai.onnx::Resize-18", r"# \[\[\[\[", 37),
]


def _page(first_pages: Path, start: str) -> str:
    return next(first_pages.glob(f"{start}_*.txt")).read_text(encoding="utf-8")


@cache
def _bench(operator: str) -> Workshop:
    """The bench of an operator with the cases of its worked examples alone."""
    name = OperatorName.parse(operator)
    spec, levels = open_spec(name)
    bench = Workshop(spec, find_operator(name), levels, Options())
    example.make_cases(bench)
    return bench


@pytest.mark.parametrize(("page", "operator", "mark", "count"), PAGES)
def test_every_expected_output_is_an_example(
    first_pages: Path, page: str, operator: str, mark: str, count: int
) -> None:
    text = _page(first_pages, page)
    assert len(re.findall(mark, text)) == count
    examples = [each for each in _bench(operator).spec.examples if each.printed]
    assert len(examples) == count


@pytest.mark.parametrize("operator", [page[1] for page in PAGES])
def test_every_example_is_a_case(operator: str) -> None:
    bench = _bench(operator)
    words = [each.id.word for each in bench.cases.values() if each.id.family == "example"]
    printed = [word_of(each.id) for each in bench.spec.examples if each.printed]
    assert len(printed) == len(set(printed))
    assert set(printed) <= set(words)


def test_the_examples_of_resize_hold_the_arrays_that_its_page_prints(first_pages: Path) -> None:
    printed = []
    for match in re.finditer(r"# \[\[\[\[", text := _page(first_pages, "004")):
        depth, end = 0, match.start()
        while depth or end == match.start() or "[" not in text[match.start() : end]:
            depth += {"[": 1, "]": -1}.get(text[end], 0)
            end += 1
        numbers = re.findall(r"-?[0-9]+\.?[0-9]*(?:e-?[0-9]+)?", text[match.start() : end])
        printed.append([float(number) for number in numbers])
    bench = _bench("ai.onnx::Resize-18")
    found = [value.data for each in bench.spec.examples for _, value in each.outputs if value]
    assert [list(each or ()) for each in found] == printed
