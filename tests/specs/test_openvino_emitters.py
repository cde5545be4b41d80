"""Pages written from schemas in each generation of OpenVINO's markup are read back equal."""

from __future__ import annotations

import os
from functools import cache
from random import Random

import pytest

from specs.documents.text.documents import Text, read_document
from specs.importers import find_importer
from specs.importers.openvino_specifications import MARKDOWN
from specs.model.spec import Spec
from tests.documents.gathering import Documents
from tests.specs.emitters.onnx_schemas import microsoft_schemas, onnx_schemas
from tests.specs.emitters.openvino import MARKUPS, Markup, emit_page, essence
from tests.specs.emitters.openvino_specs import make_spec

pytestmark = pytest.mark.slow

_EVERY = int(os.environ.get("OPCERT_EXAMPLES", "1"))


@cache
def made_specs() -> tuple[Spec, ...]:
    """All 659 versions of ONNX's operators and all of com.microsoft, as these pages could state them."""
    return tuple(make_spec(onnx_schema) for onnx_schema in (*onnx_schemas(), *microsoft_schemas()))


@pytest.mark.nightly
@pytest.mark.parametrize("markup", MARKUPS, ids=lambda each: each.dialect)
@pytest.mark.parametrize("seed", range(_EVERY))
def test_every_schema_is_read_back_equal(markup: Markup, seed: int) -> None:
    assert len(made_specs()) >= 659 + 130
    for position, spec in enumerate(made_specs()):
        page = emit_page(spec, markup, Random(f"{seed} {spec.operator}"))
        text = Text(f"{spec.operator.name}.txt", page, "00")
        importer = find_importer(text, None if position % 25 == 0 else markup.dialect)
        assert importer.dialect == markup.dialect, page
        (found,) = importer.read(text, None)
        assert essence(found) == essence(spec), page
        assert found.findings == (), page


@pytest.mark.parametrize("markup", MARKUPS, ids=lambda each: each.dialect)
def test_every_page_is_read_back_equal_from_each_markup(documents: Documents, markup: Markup) -> None:
    """The facts of the real pages, written in each of the three generations."""
    count = 0
    for path in sorted((documents.find("openvino")).glob("*/*.md")):
        spec = MARKDOWN.read(read_document(path), None)[0]
        page = Text(path.name, emit_page(spec, markup, Random(path.name)), "00")
        (found,) = find_importer(page).read(page, None)
        assert found.documents[0].dialect == markup.dialect
        assert essence(found) == essence(spec), page.content
        count += 1
    assert count == 130
