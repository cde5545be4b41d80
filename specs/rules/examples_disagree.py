"""An example is printed correctly in another document of the operator version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from specs.model.spec import Example, Finding, Severity, Spec

CODE = "examples-disagree"
SEVERITY: Severity = "warning"


def compare(layers: Sequence[Spec]) -> Iterator[Finding]:
    """One finding for each example that had to be mended and stands unbroken in another document."""
    for first, second in permutations(layers, 2):
        whole = {_call(each): each for each in second.examples if not each.repaired}
        for example in first.examples:
            twin = whole.get(_call(example)) if example.repaired else None
            if twin is not None:
                file = second.documents[0].file
                yield Finding(
                    CODE,
                    SEVERITY,
                    example.source,
                    f"example {example.id} had to be mended, and is printed correctly in {file}",
                    f"line {twin.source.line} of {file}",
                    "repaired",
                )


def _call(example: Example) -> str:
    """What makes two examples the same: attributes, and the values of inputs and outputs."""
    values = [
        (name, None if each is None else (each.shape, each.data, each.relation))
        for name, each in (*example.inputs, *example.outputs)
    ]
    return repr((sorted(example.attributes.items()), values))
