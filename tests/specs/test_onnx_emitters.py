"""Documents written from every schema, in each dialect of ONNX, are read back equal."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial

import pytest

from specs.documents.text.documents import Text, decode
from specs.importers import find_importer, onnx_markdown
from specs.model.spec import Spec
from tests.specs.emitters.onnx_markdown import emit_changelog, emit_contrib, emit_operators
from tests.specs.emitters.onnx_rst import emit_flattened, emit_page
from tests.specs.emitters.onnx_schemas import Schema, microsoft_schemas, onnx_schemas
from tests.specs.schema_differences import Difference, Prints, differences

pytestmark = pytest.mark.slow

LOST = {
    # Printed with five decimals, as 0.0, which is no epsilon.
    ("ai.onnx.preview.training::Adagrad-1", "attributes.epsilon.default"),
    ("ai.onnx.preview.training::Adam-1", "attributes.epsilon.default"),
}
IN_WORDS = {("ai.onnx::Concat-1", "attributes.axis.default")}
"""The description states a default, and the schema has none."""

FULL = Prints()
UNTYPED = Prints(attribute_types=False, defaults=False, differentiable=False)
TYPED = Prints(differentiable=False)
CONTRIB = Prints(defaults=False, differentiable=False)
BARE = Prints(attribute_types=False, defaults=False, differentiable=False, constraints=False)

Emit = Callable[[Iterable[Schema]], str]


def one_document(emit: Emit, schemas: Sequence[Schema]) -> list[str]:
    return [emit(schemas)]


def one_each(emit: Emit, schemas: Sequence[Schema]) -> list[str]:
    """A page for each operator, with all its versions."""
    pages: dict[tuple[str, str], list[Schema]] = defaultdict(list)
    for schema in schemas:
        pages[(schema.domain, schema.name)].append(schema)
    return [emit(page) for page in pages.values()]


def read(page: str) -> list[Spec]:
    """The facts of a page by the importer that recognises it, without what the rules find."""
    text: Text = decode(page.encode(), "page.txt")
    return find_importer(text).read(text, None)


CASES = {
    "Operators.md": (partial(one_document, emit_operators), "onnx", FULL, 227),
    "Changelog.md": (partial(one_document, emit_changelog), "onnx", FULL, 659),
    "ContribOperators.md": (partial(one_document, emit_contrib), "microsoft", CONTRIB, 136),
    "pages": (partial(one_each, emit_page), "onnx", UNTYPED, 659),
    "typed pages": (partial(one_each, partial(emit_page, typed=True)), "onnx", TYPED, 659),
    "flattened pages": (partial(one_each, emit_flattened), "onnx", UNTYPED, 659),
    "flattened typed pages": (partial(one_each, partial(emit_flattened, typed=True)), "onnx", TYPED, 659),
    "pages of com.microsoft": (partial(one_each, emit_page), "microsoft", UNTYPED, 136),
    "flattened pages of com.microsoft": (
        partial(one_each, partial(emit_flattened, constraints=False)), "microsoft", BARE, 136),
}  # fmt: skip


@cache
def specs_of(case: str) -> tuple[Spec, ...]:
    """What is read of the documents that are written of all schemas."""
    emit, pool = CASES[case][:2]
    schemas = onnx_schemas() if pool == "onnx" else microsoft_schemas()
    return tuple(spec for page in emit(schemas) for spec in read(page))


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES)
def test_every_schema_is_read_back_equal(case: str) -> None:
    _, pool, prints, count = CASES[case]
    schemas = {
        onnx_schema.operator: onnx_schema
        for onnx_schema in (onnx_schemas() if pool == "onnx" else microsoft_schemas())
    }
    found: list[Difference] = []
    specs = specs_of(case)
    for spec in specs:
        schema = schemas[spec.operator]
        bodiless = (
            spec.deprecated and schema.deprecated and spec.documents[0].dialect == onnx_markdown.DIALECT
        )
        found += [] if bodiless else differences(spec, schema, prints)
    assert len({spec.operator for spec in specs}) == len(specs) == count
    expected = LOST | IN_WORDS if prints.defaults else set()
    if case == "Operators.md":
        expected = LOST
    assert {(each.operator, each.field) for each in found} == expected
    if prints.defaults:
        lost = {
            str(spec.operator): spec
            for spec in specs
            if (str(spec.operator), "attributes.epsilon.default") in LOST
        }
        assert all(not each.attributes["epsilon"].has_default for each in lost.values())


@pytest.mark.nightly
@pytest.mark.parametrize("case", ["Changelog.md", "pages", "flattened pages"])
def test_every_description_is_read_back_equal(case: str) -> None:
    """Word for word, but for the white space that wrapping takes."""
    schemas = {onnx_schema.operator: onnx_schema for onnx_schema in onnx_schemas()}
    wrong = []
    count = 0
    for spec in specs_of(case):
        wanted = descriptions(schemas[spec.operator])
        found = {each.about: each.sha256 for each in spec.prose}
        if spec.deprecated and case == "Changelog.md":
            wanted = {"summary": wanted["summary"]}
        count += len(wanted)
        wrong += [
            (str(spec.operator), about) for about in wanted if found.get(about) != digest(wanted[about])
        ]
    assert count > 4800
    assert wrong == []


def descriptions(schema: Schema) -> dict[str, str]:
    """What a schema says about each thing, by the names of passages."""
    texts = {"summary": schema.description}
    for group, items in (
        ("attributes", schema.attributes),
        ("inputs", schema.inputs),
        ("outputs", schema.outputs),
        ("type_constraints", schema.constraints),
    ):
        texts.update({f"{group}.{item.name}": item.description for item in items})
    return {about: text for about, text in texts.items() if text.strip()}


def digest(text: str) -> str:
    words = re.sub(r"(?<=\w-) ", "", " ".join(text.split()))
    return hashlib.sha256(words.encode()).hexdigest()[:16]


@pytest.mark.nightly
def test_whole_pages_have_no_finding_of_damage() -> None:
    """What importers say about lost lines, sections and ends is never said of a whole document."""
    codes = {"item-unread", "section-cut", "document-cut", "operator-undescribed", "operator-unlisted",
             "operator-twice", "version-disagrees", "html-escape"}  # fmt: skip
    found = {
        (finding.code, str(spec.operator))
        for case in ("Operators.md", "Changelog.md", "ContribOperators.md", "pages", "typed pages")
        for spec in specs_of(case)
        for finding in spec.findings
        if finding.code in codes
    }
    assert found == set()
