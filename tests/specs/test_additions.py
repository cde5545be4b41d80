"""Merging what people add: confirming, overriding, adding, and every error at once with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.names import OperatorName
from specs.files.library import load_spec
from specs.files.spec_folders import list_operators

NAME = OperatorName("ai.test", "Blend", 3)
IMPORTED = """\
operator: {domain: ai.test, name: Blend, since_version: 3}
documents:
  d1: {file: blend.rst, dialect: onnx-sphinx-rst, sha256: "00", identity: stated}
arity: {inputs: [1, 2], outputs: [1, 1]}
attributes:
  mode:
    required: false
    values: {list: [soft, hard], proposed: true, rule: conditions, confidence: 0.5, src: [d1, 5]}
    src: [d1, 4]
  ratio:
    required: false
    default: {value: 0.5, rule: stated-default, confidence: 1.0, src: [d1, 8]}
    src: [d1, 7]
inputs:
  - {name: X, type: T, option: single, src: [d1, 10]}
  - {name: mask, type: bool, option: optional, src: [d1, 12]}
outputs:
  - {name: Y, type: T, option: single, src: [d1, 14]}
examples:
  - id: plain
    src: [d1, 20]
    attributes: {mode: soft}
    inputs: [{name: X, shape: [2], data: [1.0, 2.0]}]
    outputs: [{name: Y, shape: [2], data: [1.0, 2.0]}]
"""


def _write(folder: Path, added: str) -> Path:
    place = folder / "ai.test" / "Blend"
    place.mkdir(parents=True)
    (place / "imported-3.yaml").write_text(IMPORTED)
    (place / "spec.yaml").write_text(added)
    return folder


def _errors(folder: Path, added: str) -> list[str]:
    with pytest.raises(SeveralErrors) as caught:
        load_spec(NAME, [_write(folder, added)])
    return [str(error) for error in caught.value.errors]


def test_a_whole_file(tmp_path: Path) -> None:
    spec = load_spec(
        NAME,
        [
            _write(
                tmp_path,
                """\
attributes:
  mode: {type: string, default: soft, confirms: values, why: the examples leave it out}
  ratio: {type: float, default: 0.25, overrides: {default: 0.5}, src: [d1, 9]}
type_constraints:
  T: {types: [float, double], why: the page lists none}
let: {n: rank(X)}
constraints:
  - {id: same_shape, when: present(mask), require: shape(mask) == shape(X), else: error, src: [d1, 13]}
  - {id: ratio_scope, attr: ratio, effective_when: mode == 'soft', src: [[d1, 8], [d1, 9]]}
may_refuse:
  - {id: no_elements, when: 0 in shape(X), why: the page speaks of no empty tensors}
readings:
  - id: edge
    question: what happens at the edge
    options: {kept: the value stays, dropped: it becomes 0}
    evidence: [{option: kept, kind: text, src: [d1, 11]}, {option: dropped, kind: example, src: [d1, 20]}]
    chosen: null
behaviours:
  - {id: empty, question: an empty input, options: {empty: empty, error: refused}, why: nobody says}
factors:
  rank: [1, 2]
  data: {levels: [random, distinct], why: values are copied}
exclusions:
  - {when: rank == '2' and data == 'random', why: a test}
examples:
  - {id: plain, attributes: {ratio: 1.0}, why: it was forgotten}
""",
            )
        ],
    )
    mode = spec.attributes["mode"]
    assert (mode.kind, mode.default) == ("string", "soft")
    assert mode.values is not None
    assert not mode.values.proposed
    assert spec.origins["attributes.mode.values"].how == "confirmed"
    assert spec.attributes["ratio"].default == 0.25
    origin = spec.origins["attributes.ratio.default"]
    assert (origin.how, origin.old, origin.sources[0].line) == ("overridden", 0.5, 9)
    assert spec.types_of(spec.inputs[0]) == ("float", "double")
    assert spec.types_of(spec.inputs[1]) == ("bool",)
    assert [constraint.id for constraint in spec.constraints] == ["same_shape", "ratio_scope"]
    assert [(refusable.id, refusable.when) for refusable in spec.may_refuse] == [
        ("no_elements", "0 in shape(X)")
    ]
    assert [(reading.id, reading.kind) for reading in spec.readings] == [
        ("edge", "reading"),
        ("empty", "behaviour"),
    ]
    assert [(factor.name, factor.levels) for factor in spec.factors] == [
        ("rank", (1, 2)),
        ("data", ("random", "distinct")),
    ]
    assert spec.examples[0].attributes == {"mode": "soft", "ratio": 1.0}


def test_what_may_be_refused_needs_a_condition_over_what_there_is_and_a_reason(tmp_path: Path) -> None:
    errors = _errors(tmp_path, "may_refuse: [{id: a, when: 0 in shape(Z)}, {id: a, when: ratio < 0, why: x}]")
    assert any("unknown name" in error and "got Z" in error for error in errors)
    assert any("a fact needs a reason" in error for error in errors)
    assert any("used twice" in error for error in errors)


def test_a_rejected_example_is_gone(tmp_path: Path) -> None:
    folder = _write(tmp_path, "examples: [{id: plain, reject: true, why: a misprint}]\n")
    assert load_spec(NAME, [folder]).examples == ()


def test_one_entry_speaks_of_all_types_that_are_listed_or_of_none_that_are(tmp_path: Path) -> None:
    listed = "type_constraints:\n  T: {types: [float, complex64, double], src: [d1, 16]}\n"
    for at, (facts, entry, types, how) in enumerate(
        (
            ("", "unlisted: {types: [float, double], why: w}", ("float", "double"), "added"),
            (listed, "unlisted: {types: [int32], why: w}", ("float", "complex64", "double"), None),
            (listed, "listed: {without: [complex64, string], why: w}", ("float", "double"), "overridden"),
            (listed, "T: {without: [complex64, float], why: w}", ("double",), "overridden"),
            (listed, "listed: {without: [int8], why: w}", ("float", "complex64", "double"), None),
            (
                listed,
                "{T: {confirms: types}, listed: {without: [float]}}",
                ("float", "complex64", "double"),
                "confirmed",
            ),
        )
    ):
        folder = _write(tmp_path / str(at), f"type_constraints:\n  {entry}\n")
        (folder / "ai.test" / "Blend" / "imported-3.yaml").write_text(IMPORTED + facts)
        spec = load_spec(NAME, [folder])
        assert spec.types_of(spec.inputs[0]) == types
        assert spec.types_of(spec.inputs[1]) == ("bool",)
        origin = spec.origins.get("type_constraints.T.types")
        assert (origin.how if origin is not None else None) == how


WRONG = """\
attributes:
  mode: {type: text, defalt: soft}
inputs:
  X: {option: many}
constraints:
  - {id: a b, require: rank(X) > 0, else: maybe}
  - {require: rank(X) > 0}
readings:
  - {id: edge, question: q, options: {one: only}}
factors: {}
colour: red
"""


def test_every_error_of_form_is_reported_at_once(tmp_path: Path) -> None:
    errors = _errors(tmp_path, WRONG)
    for place in (
        ":2:16 at attributes.mode.type",
        ":2:30 at attributes.mode.defalt: unknown key",
        ":4:15 at inputs.X.option",
        ":6:10 at constraints[0].id",
        ":6:43 at constraints[0].else",
        ":7:5 at constraints[1].id: a key is missing",
        ":9:38 at readings[0].options",
        ":11:9 at colour: unknown key",
    ):
        assert any(place in error for error in errors), (place, errors)
    assert len(errors) == 8
    assert all("spec.yaml" in error for error in errors)


@pytest.mark.parametrize(
    ("added", "messages"),
    [
        ("attributes: {mode: {type: string}}", ["needs a reason"]),
        ("attributes: {ratio: {default: 0.5, why: w}}", ["`confirms: default`"]),
        ("attributes: {ratio: {default: 0.7, overrides: {default: 0.6}, why: w}}", ["stale override"]),
        ("attributes: {ratio: {overrides: {default: 0.5}, why: w}}", ["needs its new value"]),
        ("attributes: {ratio: {confirms: [default, values]}}", ["nothing was imported"]),
        ("attributes: {ratio: {default: 0.6, confirms: default}}", ["gives another value"]),
        ("attributes: {ratio: {confirms: colour}}", ["no such field"]),
        ("attributes: {ratio: {confirms: default, overrides: {default: 0.5}}}", ["either"]),
        ("attributes: {mode: {type: int, default: soft, why: w}}", ["does not fit"]),
        ("inputs: {Z: {why: w}}", ["give its type"]),
        ("type_constraints: {T: {types: [float33], why: w}}", ["unknown element type"]),
        ("type_constraints: {T: {without: [float], why: w}}", ["not some of the types"]),
        ("type_constraints: {unlisted: {types: [float]}}", ["needs a reason"]),
        ("constraints: [{id: a, require: rank(Z) > 0, else: undefined, why: w}]", ["unknown name"]),
        ("constraints: [{id: a, require: rank(X) >, else: undefined, why: w}]", ["not an expression"]),
        ("constraints: [{id: a, require: rank(X) > 0, else: error, why: w}]", ["demands it"]),
        ("constraints: [{id: a, require: rank(X) > 0, why: w}]", ["needs `else`"]),
        ("constraints: [{id: a, why: w}]", ["either `require` or"]),
        ("constraints: [{id: a, attr: size, effective_when: rank(X) > 0, why: w}]", ["needs an attribute"]),
        (
            "constraints: [{id: a, require: rank(X) > 0, else: undefined, src: [d7, 1]},"
            " {id: a, require: rank(X) > 0, else: undefined}]",
            ["no document", "needs a reason", "used twice"],
        ),
        (
            "readings: [{id: a, question: q, options: {x: x, y: y}, chosen: z, why: w,"
            " evidence: [{option: w, kind: text, src: [d1, 1]}]}]",
            ["not an option", "not an option"],
        ),
        ("behaviours: [subnormal]", ["no shared reading of this name"]),
        ("behaviours: [subnormals, subnormals]", ["used twice"]),
        ("let: {X: rank(mask)}", ["already"]),
        ("factors: {rank: [1, '1']}", ["twice"]),
        ("exclusions: [{when: rank == 1, why: w}]", ["unknown name"]),
        ('shapes: {X: "*S"}\nexclusions: [{when: rank == 1, why: w}]', ["unknown name"]),
        ("examples: [{id: fancy, reject: true, why: w}]", ["no imported example"]),
        ("factors: {rank: []}", ["wrong value"]),
        ("constraints: [{id: a, require: rank(X) > 0, else: undefined, src: [d1, 0]}]", ["from 1"]),
        ("just a word", ["a declaration is one mapping"]),
        ("a: [", ["not YAML"]),
    ],
)
def test_entries_that_do_not_fit(tmp_path: Path, added: str, messages: list[str]) -> None:
    errors = _errors(tmp_path, added + "\n")
    assert len(errors) == len(messages), errors
    for error, message in zip(sorted(errors), sorted(messages), strict=False):
        assert "spec.yaml" in error
        assert any(message in error for error in errors), (message, error)


def test_an_exclusion_names_a_factor_of_shapes_alone(tmp_path: Path) -> None:
    text = 'shapes: {X: "*S"}\nexclusions: [{when: data == "subnormal", why: w}]\n'
    spec = load_spec(NAME, [_write(tmp_path, text)])
    assert [each.when for each in spec.exclusions] == ['data == "subnormal"']


def test_an_unknown_operator_names_its_neighbours(tmp_path: Path) -> None:
    folder = _write(tmp_path, "")
    assert list_operators([folder]) == [NAME]
    with pytest.raises(UserError, match="perhaps ai"):
        load_spec(OperatorName("ai.test", "Blend", 4), [folder])
    with pytest.raises(UserError, match="no such folder"):
        load_spec(NAME, [tmp_path / "missing"])


def test_a_damaged_imported_file_is_answered_with_places(tmp_path: Path) -> None:
    folder = _write(tmp_path, "")
    path = folder / "ai.test" / "Blend" / "imported-3.yaml"
    path.write_text(IMPORTED.replace("option: optional", "option: perhaps").replace("[d1, 4]", "[d1]"))
    with pytest.raises(SeveralErrors) as caught:
        load_spec(NAME, [folder])
    assert len(caught.value.errors) == 2
    path.write_text("")
    with pytest.raises(UserError, match="no facts"):
        load_spec(NAME, [folder])
