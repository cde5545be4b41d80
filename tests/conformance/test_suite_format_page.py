"""docs/reference.md names everything that a golden holds."""

from __future__ import annotations

import json
from pathlib import Path

from onnx import GraphProto

from conformance.suite.distributions import Distributed
from conformance.suite.goldens import write_golden
from conformance.suite.properties import HasShape, InRange, Masked, SameAgain, describe_property
from tests.conformance.structured_cases import FORMS, random
from tests.conftest import doc_section


def test_the_page_names_every_key(repository: Path) -> None:
    page = doc_section((repository / "docs" / "reference.md").read_text("utf-8"), "A suite on disk")
    drawn = random(
        HasShape("output", (40, None)),
        InRange("output", whole=True),
        Distributed("output", "categorical", (0.5, 0.5), 1e-9, rows=2, resolution=0.1),
        Masked("output", "output", exactly=True),
        SameAgain(),
    )
    said: set[str] = set()
    for case in (*FORMS.values(), drawn):
        rest = json.loads(GraphProto.FromString(write_golden(case)[0]).doc_string)
        said |= rest.keys() | {key for each in rest["expectations"] for key in each}
    for each in drawn.properties:
        found = describe_property(each)
        said |= {str(found["kind"]), *found} - {"kind"}
    assert {key for key in said if f"`{key}`" not in page} == set()
