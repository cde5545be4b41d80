"""Damaged documents of ONNX's dialects: no fact changes without a finding or an error, and nothing crashes.

OPCERT_EXAMPLES says how many documents each damage is tried on, and at how many bytes a document is cut off.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcert.vocabulary.errors import UserError
from specs.documents.text.documents import decode, read_document
from specs.importers import import_text
from specs.model.spec import Spec
from specs.rules.several_documents import find_differences
from tests.documents.gathering import Documents
from tests.specs.damage import (
    HARMFUL,
    HARMLESS,
    VIOLENT,
    Change,
    Damage,
    section_dropper,
    silent_changes,
)
from tests.specs.emitters.onnx_markdown import emit_changelog, emit_contrib, emit_operators
from tests.specs.emitters.onnx_rst import emit_flattened, emit_page
from tests.specs.emitters.onnx_schemas import Schema, microsoft_schemas, onnx_schemas
from tests.specs.test_onnx_schemas import package_layer

EXAMPLES = int(os.environ.get("OPCERT_EXAMPLES", "2"))
SETTINGS = settings(max_examples=EXAMPLES, deadline=None, derandomize=True)

DIALECTS: dict[str, Callable[[Iterable[Schema]], str]] = {
    "Operators.md": emit_operators,
    "Changelog.md": emit_changelog,
    "ContribOperators.md": emit_contrib,
    "page": emit_page,
    "typed page": partial(emit_page, typed=True),
    "flattened page": emit_flattened,
}
ENDLESS = ("Changelog.md", "page", "typed page", "flattened page")
"""Documents that list nothing at their head: without their last versions they are whole, and say less."""
UNMARKED = "flattened page"
"""A page on one line has no mark of its end either: its last passage is what is left of it."""


def choose(dialect: str, choices: Random) -> Sequence[Schema]:
    """Some schemas for one document; a page describes all versions of one operator."""
    pool = microsoft_schemas() if dialect == "ContribOperators.md" else onnx_schemas()
    if "page" in dialect:
        chosen = choices.choice(pool)
        return [schema for schema in pool if (schema.domain, schema.name) == (chosen.domain, chosen.name)][
            -3:
        ]
    return choices.sample(pool, choices.randint(1, 4))


def silent(raw: bytes, damaged: bytes, dialect: str) -> list[Change]:
    """What the damage changed and nobody reported."""
    whole = import_text(decode(raw, "page.txt"))
    try:
        specs = import_text(decode(damaged, "page.txt"))
    except UserError:
        return []
    changes = silent_changes(whole, specs)
    if len(damaged) == len(raw) or not raw.startswith(damaged):
        return changes
    if dialect in ENDLESS:
        changes = [change for change in changes if (change.path, change.after) != ("operator", None)]
    cut = {change.path for change in changes if re.fullmatch(r"prose\..*\.sha256", change.path)}
    if dialect == UNMARKED and len(cut) == 1:
        # What the passage states goes with its words.
        changes = [change for change in changes if not change.path.startswith(("prose.", "statements."))]
    return changes


@pytest.mark.nightly
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", [*HARMLESS, *HARMFUL])
@SETTINGS
@given(seed=st.integers(0, 2**32))
def test_damage_is_reported_or_changes_no_fact(name: str, dialect: str, seed: int) -> None:
    choices = Random(seed)
    raw = DIALECTS[dialect](choose(dialect, choices)).encode()
    damage: Damage = {**HARMLESS, **HARMFUL}[name]
    damaged = damage(raw, choices)
    assert silent(raw, damaged, dialect) == []
    if name in HARMLESS:
        assert [each.operator for each in import_text(decode(damaged, "page.txt"))]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", VIOLENT)
@SETTINGS
@given(seed=st.integers(0, 2**32))
def test_violence_crashes_nothing(name: str, dialect: str, seed: int) -> None:
    choices = Random(seed)
    raw = DIALECTS[dialect](choose(dialect, choices)).encode()
    try:
        specs = import_text(decode(VIOLENT[name](raw, choices), "page.txt"))
    except UserError:
        return
    assert all(isinstance(spec, Spec) for spec in specs)


@pytest.mark.nightly
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_document_cut_off_at_any_byte(dialect: str) -> None:
    """A small document at every place, or at every so many bytes where fewer examples are asked for."""
    pool = microsoft_schemas() if dialect == "ContribOperators.md" else onnx_schemas()
    wanted = ("Flatten",) if "page" in dialect else ("Unsqueeze", "Size", "QuickGelu", "Irfft")
    schemas = [each for each in pool if each.name in wanted][:3]
    raw = DIALECTS[dialect](schemas).encode()
    step = max(1, len(raw) // (EXAMPLES * 20))
    wrong = [end for end in range(0, len(raw), step) if silent(raw, raw[:end], dialect)]
    assert wrong == []


SECTIONS = {
    "Changelog.md": ("#### ", "#{2,4} ", ("Version", "Inputs", "Outputs", "Type Constraints")),
    "page": (r"\*\*", r"\*\*[A-Z]", ("Version", "Summary", "Inputs", "Outputs", "Type Constraints")),
}


@pytest.mark.nightly
@pytest.mark.parametrize("dialect", SECTIONS)
def test_a_section_that_is_missing_is_reported(dialect: str) -> None:
    mark, heading, titles = SECTIONS[dialect]
    wrong = []
    for schema in [onnx_schema for onnx_schema in onnx_schemas() if not onnx_schema.deprecated][
        :: 80 // EXAMPLES
    ]:
        raw = DIALECTS[dialect]([schema]).encode()
        for title in titles:
            damaged = section_dropper(mark + title, heading)(raw, Random(0))
            if damaged != raw and silent(raw, damaged, dialect):
                wrong.append((str(schema.operator), title))
    assert wrong == []


def test_missing_attributes_are_reported_where_the_text_speaks_of_them() -> None:
    """Without its attributes a page can be a whole page of another operator; the package still tells.

    Of the 458 versions that have attributes, the text of 162 speaks of them elsewhere.
    """
    spoken = 0
    schemas = [
        onnx_schema for onnx_schema in onnx_schemas() if onnx_schema.attributes and not onnx_schema.deprecated
    ]
    for schema in schemas[:: 24 // EXAMPLES]:
        raw = emit_changelog([schema]).encode()
        damaged = section_dropper("#### Attributes", "#{2,4} ")(raw, Random(0))
        if re.search(r"\battributes?\b", damaged.decode(), re.IGNORECASE):
            spoken += 1
            assert silent(raw, damaged, "Changelog.md") == []
        (spec,) = import_text(decode(damaged, "page.txt"))
        found = list(find_differences(spec, package_layer(schema), "the package"))
        assert len([finding for finding in found if "attribute" in finding.message]) == len(schema.attributes)
    assert spoken > 5


def test_damage_to_the_documents_themselves(documents: Documents) -> None:
    """A part of Operators.md with its examples: what code says may go, for nobody can part joined code."""
    content = read_document(documents.find("onnx/Operators.md")).content
    operators = content.split("\n### <a name=")
    wrong = defaultdict(list)
    for seed in range(EXAMPLES):
        choices = Random(seed)
        start = choices.randrange(1, len(operators) - 2)
        raw = (
            "## ai.onnx\n### <a name=" + "\n### <a name=".join(operators[start : start + 2]) + "\n"
        ).encode()
        whole = import_text(decode(raw, "Operators.md"))
        for name, damage in {**HARMLESS, **HARMFUL}.items():
            try:
                damaged = import_text(decode(damage(raw, choices), "Operators.md"))
            except UserError:
                continue
            for silent_change in silent_changes(whole, damaged, lambda path: path.startswith("examples.")):
                gone = name.startswith("truncate") and (silent_change.path, silent_change.after) == (
                    "operator",
                    None,
                )
                if not gone:
                    wrong[name].append(silent_change)
    assert wrong == {}


@pytest.mark.parametrize(
    ("dialect", "text", "hostile"),
    [
        ("Changelog.md", "#### Inputs", "#### Inputs (%s - 2)"),
        ("Changelog.md", "since version 1 ", "since version %s "),
        ("Changelog.md", "**Size-1**", "**Size-%s**"),
        ("page", "**since_version**: **1**", "**since_version**: **%s**"),
        ("page", "Size - 1\n", "Size - %s\n"),
        ("page", "**Inputs**", "**Inputs**\n\nBetween %s and 2 inputs."),
    ],
)
def test_numbers_beyond_all_bounds(dialect: str, text: str, hostile: str) -> None:
    """Five thousand digits are no version and no bound."""
    page = DIALECTS[dialect](
        [onnx_schema for onnx_schema in onnx_schemas() if str(onnx_schema.operator) == "ai.onnx::Size-1"]
    )
    assert text in page
    damaged = page.replace(text, hostile % ("9" * 5000))
    assert silent(page.encode(), damaged.encode(), dialect) == []
