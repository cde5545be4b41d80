"""Damaged OpenVINO pages: harmless damage changes no fact, other damage none that nobody reports."""

from __future__ import annotations

import os
from functools import cache
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opcert.vocabulary.errors import UserError
from specs.documents.text.documents import Text, decode
from specs.files.imported_files import plain_layer
from specs.importers import find_importer
from specs.model.spec import Example, Spec
from tests.documents.gathering import Documents
from tests.specs.damage import HARMFUL, HARMLESS, VIOLENT, Change, Damage, section_dropper, silent_changes
from tests.specs.emitters.onnx_schemas import onnx_schemas
from tests.specs.emitters.openvino import MARKUPS, emit_page
from tests.specs.emitters.openvino_specs import make_spec

_PAGES = (
    "activation/PReLU_1.md",
    "convolution/GroupConvolutionBackpropData_1.md",
    "detection/DetectionOutput_1.md",
    "image/I420toRGB_8.md",
    "matrix/Einsum_7.md",
    "movement/Gather_8.md",
    "movement/Pad_1.md",
    "movement/Slice_8.md",
    "pooling/MaxPool_1.md",
    "sequence/LSTMCell_1.md",
    "sort/NonMaxSuppression_9.md",
)
_FIRST_PAGE = "003_93eb874b53beb9d9.txt"
_TITLES = ("Attributes", "Inputs", "Outputs", "Types", "Examples?", "Category", "Short description")
_EXAMPLES = int(os.environ.get("OPCERT_EXAMPLES", "1"))
_SETTINGS = settings(
    max_examples=80 * _EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@cache
def _emitted() -> dict[str, bytes]:
    """Pages of a few large operators, in each markup."""
    wanted = ("Resize-19", "LSTM-22", "Conv-22", "TfIdfVectorizer-9", "Loop-21", "QuantizeLinear-23")
    pages = {}
    for schema in onnx_schemas():
        name = f"{schema.name}-{schema.since_version}"
        for markup in MARKUPS if name in wanted else ():
            page = emit_page(make_spec(schema), markup, Random(name))
            pages[f"{markup.dialect}/{name}"] = page.encode()
    return pages


def _page(documents: Documents, name: str) -> bytes:
    if name == _FIRST_PAGE:
        return (documents.find("first-pages") / name).read_bytes()
    return _emitted()[name] if name in _emitted() else (documents.find("openvino") / name).read_bytes()


_NAMES = (_FIRST_PAGE, *_PAGES, *_emitted())


def _read(text: Text) -> list[Spec]:
    """What the importer reads and finds by itself; the linter's rules have tests of their own."""
    return find_importer(text).read(text, None)


@cache
def _whole(raw: bytes) -> tuple[Spec, ...]:
    return tuple(_read(decode(raw, "page.txt")))


def _changes(raw: bytes, damage: Damage, seed: int) -> list[Change]:
    """What damage changed without a word; prose and formulas at a cut do not count.

    A page that ends behind an example is a page: whole examples may be gone, but those that are left say
    what they said, under whatever number.
    """
    try:
        damaged = _read(decode(damage(raw, Random(seed)), "page.txt"))
    except UserError:
        return []
    whole = _whole(raw)
    changes = silent_changes(whole, damaged, lambda path: path.startswith(("prose", "formulas", "examples")))
    (before,), (after,) = whole, damaged
    if {(finding.code, finding.message) for finding in after.findings} <= {
        (finding.code, finding.message) for finding in before.findings
    }:
        known = [_call(example) for example in before.examples]
        changes += [
            Change(str(after.operator), f"examples.{example.id}", None, example.id)
            for example in after.examples
            if _call(example) not in known
        ]
    return changes


def _becomes(cut: bytes) -> Damage:
    return lambda raw, choices: cut


def _call(example: Example) -> object:
    return (
        dict(example.attributes),
        [(name, value and (value.shape, value.data, value.element_type)) for name, value in example.inputs],
        [(name, value and (value.shape, value.data, value.element_type)) for name, value in example.outputs],
    )


@_SETTINGS
@given(name=st.sampled_from(_NAMES), kind=st.sampled_from(sorted(HARMLESS)), seed=st.integers(0, 2**32))
def test_harmless_damage_changes_no_fact(documents: Documents, name: str, kind: str, seed: int) -> None:
    raw = _page(documents, name)
    damaged = HARMLESS[kind](raw, Random(seed))
    found = _read(decode(damaged, "page.txt"))
    assert list(map(_plain, found)) == list(map(_plain, _whole(raw)))


def _plain(spec: Spec) -> object:
    plain = plain_layer(spec, "d1")
    plain["documents"]["d1"].pop("sha256")
    return plain


@_SETTINGS
@given(name=st.sampled_from(_NAMES), kind=st.sampled_from(sorted(HARMFUL)), seed=st.integers(0, 2**32))
def test_no_damage_changes_a_fact_silently(documents: Documents, name: str, kind: str, seed: int) -> None:
    assert _changes(_page(documents, name), HARMFUL[kind], seed) == []


@_SETTINGS
@given(name=st.sampled_from(_NAMES), title=st.sampled_from(_TITLES), seed=st.integers(0, 2**32))
def test_a_missing_section_is_reported(documents: Documents, name: str, title: str, seed: int) -> None:
    damage = section_dropper(rf"\*\*{title}:?\*\*")
    assert _changes(_page(documents, name), damage, seed) == []


@_SETTINGS
@given(name=st.sampled_from(_NAMES), kind=st.sampled_from(sorted(VIOLENT)), seed=st.integers(0, 2**32))
def test_violent_damage_never_crashes(documents: Documents, name: str, kind: str, seed: int) -> None:
    damaged = VIOLENT[kind](_page(documents, name), Random(seed))
    try:
        specs = _read(decode(damaged, "page.txt"))
    except UserError:
        return
    for spec in specs:
        plain_layer(spec, "d1")


@pytest.mark.parametrize("name", _NAMES)
def test_every_end_of_a_line_is_a_place_to_break_off(documents: Documents, name: str) -> None:
    """The page up to each of its lines (every seventh of the long ones)."""
    raw = _page(documents, name)
    lines = raw.split(b"\n")
    for end in range(1, len(lines), 1 if _EXAMPLES > 1 else 7):
        cut = b"\n".join(lines[:end]) + b"\n"
        assert _changes(raw, _becomes(cut), 0) == [], end
