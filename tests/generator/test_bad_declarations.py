"""Mistakes in a declaration: each is told with its file and line, what was got, and what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.calls.declared.declared_levels import (
    declare_levels,
    levels_without_call,
    rules_broken_together,
)
from generator.calls.rows.covering_rows import learn_cores
from generator.calls.space.space import CallSpace, open_space
from generator.making.cases.sized_cases import add_kernel_sizes
from generator.making.operators.workshop import Options, Workshop
from opcert.vocabulary.errors import OpcertError, UserError
from opcert.vocabulary.names import OperatorName
from reference.registry import find_operator
from specs.files.declarations import FILE_NAME
from specs.files.library import load_spec
from tests.commands.command_line import call, check_message
from tests.commands.test_your_operator import steps

HARDMAX = OperatorName("ai.onnx", "Hardmax", 13)
_SHAPES = 'shapes: {input: "*S"}\nextents: {S: 1..4}\n'

MISTAKES = {
    "an unknown key": (_SHAPES + "kindz:\n  axis: axis(input)\n", 4, ["unknown key", "kindz", "kinds"]),
    "an unknown kind": (
        _SHAPES + "kinds:\n  axis: axess(input)\n",
        4,
        ["unknown kind", "axess", "axis"],
    ),
    "data of an unknown domain": (
        _SHAPES + "kinds:\n  input: data('rnage', 0, 9)\n",
        4,
        ["unknown word of the kind Data", "rnage", "'range'"],
    ),
    "an unknown word of a kind that may have none": (
        _SHAPES + "kinds:\n  axis: real('fwe', 1, 2)\n",
        4,
        ["unknown word of the kind real", "fwe", "'few'"],
    ),
    "a kind of a former name": (
        _SHAPES + "kinds:\n  axis: sample(1, 2)\n",
        4,
        ["unknown kind", "sample", "real"],
    ),
    "data without its ends": (
        _SHAPES + "kinds:\n  input: data('range', 0)\n",
        4,
        ["lacks an argument", "range", "high"],
    ),
    "an unknown argument": (
        _SHAPES + "kinds:\n  axis: axis(input, exclude=True)\n",
        4,
        ["axis takes no such argument", "exclude", "exclude_last"],
    ),
    "an argument too many": (
        _SHAPES + "kinds:\n  axis: integer(0, 1, 2)\n",
        4,
        ["too many arguments of integer", "at most 2"],
    ),
    "an argument that lacks": (
        _SHAPES + "kinds:\n  axis: axis\n",
        4,
        ["axis lacks an argument", "of"],
    ),
    "a name that no version has": (
        _SHAPES + "kinds:\n  axis: axis(input)\n  axes: axis(input)\n",
        5,
        ["a kind of something that no version", "Hardmax has", "axes", "perhaps axis"],
    ),
    "a name in the arguments that nothing defines": (
        _SHAPES + "kinds:\n  axis: axis(inputs_)\n",
        4,
        ["unknown name in the arguments of a kind", "inputs_", "perhaps input"],
    ),
    "a shape of nothing": (
        'shapes: {input: "*S", put: "*S"}\nkinds:\n  axis: axis(input)\n',
        1,
        ["a shape of something that no version has", "put", "perhaps input"],
    ),
    "bounds of nothing": (
        'shapes: {input: "*S"}\nextents: {T: 1..4}\nkinds:\n  axis: axis(input)\n',
        2,
        ["bounds of something that no shape speaks of", "T", "one of S"],
    ),
    "bounds that are none": (
        'shapes: {input: "*S"}\nextents: {S: many}\nkinds:\n  axis: axis(input)\n',
        2,
        ["wrong value", "many", "1..3"],
    ),
    "sizes of nothing": (
        _SHAPES + "kinds:\n  axis: axis(input)\nsizes: {scanned: {T: [33]}}\n",
        5,
        ["sizes of something that no shape speaks of", "T", "one of S"],
    ),
    "a size that is none": (
        _SHAPES + "kinds:\n  axis: axis(input)\nsizes: {scanned: {S: [0]}}\n",
        5,
        ["sizes", "0", "greater than or equal to 1"],
    ),
    "a role that is none": (
        _SHAPES + "kinds:\n  axis: axis(input)\nsizes: {inside: [S]}\n",
        5,
        ["unknown key", "inside", "inner"],
    ),
    "a shape of no output": (
        _SHAPES + 'results: {put: "*S"}\nkinds:\n  axis: axis(input)\n',
        3,
        ["a shape of something that no version has", "put", "perhaps output"],
    ),
    "a choice in the shape of an output": (
        _SHAPES + "results: {output: broadcast(*S)}\nkinds:\n  axis: axis(input)\n",
        3,
        ["a word that says nothing of an output", "broadcast", "upto"],
    ),
    "an unknown name in the shape of an output": (
        _SHAPES + 'results: {output: "*R"}\nkinds:\n  axis: axis(input)\n',
        3,
        ["unknown name in the shape of an output", "R"],
    ),
    "a shape that does not parse": (
        'shapes: {input: "N, C,, *S"}\nkinds:\n  axis: axis(input)\n',
        1,
        ["not a shape", "N, C,, *S", "such as N, C, *S"],
    ),
    "a word of shapes with something else than extents": (
        'shapes: {input: "within()"}\nkinds:\n  axis: axis(input)\n',
        1,
        ["within() takes extents alone", "within(*S)"],
    ),
    "a kind split at its comma in flow style": (
        _SHAPES + "kinds: {axis: axis(input, negative=False)}\n",
        3,
        ["wrong value", "as many closing brackets as opening ones", "block style"],
    ),
    "a shape split at its comma in flow style": (
        "shapes: {input: within(N, C)}\nkinds:\n  axis: axis(input)\n",
        1,
        ["wrong value", "within(N", "as many closing brackets as opening ones"],
    ),
    "an error that the text does not demand": (
        _SHAPES
        + "kinds:\n  axis: axis(input)\nconstraints:\n"
        + "  - {id: some, require: rank(input) < 9, else: error, src: inputs.input}\n",
        6,
        ["`else: error` without a word of the text behind it", "some", "Write `else: undefined`"],
    ),
    "a passage that is none": (
        _SHAPES
        + "kinds:\n  axis: axis(input)\nconstraints:\n"
        + "  - {id: some, require: rank(input) < 9, else: undefined, src: attributes.axes}\n",
        6,
        ["no passage of ai.onnx::Hardmax-13 has this name", "attributes.axes"],
    ),
    "kinds that need each other": (
        'shapes: {input: "*S[:axis], L"}\nkinds:\n  axis: axis(input)\n',
        3,
        ["what kinds and shapes need goes in a circle", "kind:axis needs shape:input", "Take the name"],
    ),
    "a point that names nothing": (
        _SHAPES + "kinds:\n  axis: axis(input)\npoints: [0, axes]\n",
        5,
        ["unknown name in a point", "axes", "perhaps axis"],
    ),
    "more axes than there are": (
        'shapes: {input: "*S"}\nextents: {S: 1..999999999999}\nkinds:\n  axis: axis(input)\n',
        2,
        ["more axes than cases can have", "999,999,999,999", "at most 32"],
    ),
    "longer axes than cases have": (
        'shapes: {input: "N, *S"}\nextents: {N: 99999.., S: 1..3}\nkinds:\n  axis: axis(input)\n',
        2,
        ["more elements of an axis than cases can have", "99,999", "at most 4,096"],
    ),
    "more elements than cases have": (
        'shapes: {input: "N, M"}\nextents: {N: 1000..1001, M: 1000}\nkinds:\n  axis: axis(input)\n',
        1,
        ["a shape of more elements than cases have", "1,000,000", "at most 100,000"],
    ),
    "a number in a shape that no axis has": (
        'shapes: {input: "N * 999999999999, M"}\nkinds:\n  axis: axis(input)\n',
        1,
        ["a larger number in a shape than cases can have", "999,999,999,999", "at most 4,096"],
    ),
    "bounds of very many digits": (
        f'shapes: {{input: "*S"}}\nextents: {{S: "1..{"9" * 5000}"}}\nkinds:\n  axis: axis(input)\n',
        2,
        ["wrong value", "at most 18 digits"],
    ),
    "a shape of very many parts": (
        f'shapes: {{input: "{", ".join(f"A{at}" for at in range(900))}"}}\nkinds:\n  axis: axis(input)\n',
        1,
        ["a shape of too many parts", "900", "at most 32"],
    ),
    "a number that no attribute holds": (
        _SHAPES + f"kinds:\n  axis: integer({'9' * 30})\n",
        4,
        ["a number too large", "from -2^63 to 2^63 - 1"],
    ),
    "more points than cases show": (
        _SHAPES + f"kinds:\n  axis: axis(input)\npoints: [{', '.join(map(str, range(5_000)))}]\n",
        5,
        ["wrong value", "at most 1000 items"],
    ),
    "more cases than can be made": (
        _SHAPES + "kinds:\n  axis: axis(input)\nbudget: 999999999999\n",
        5,
        ["more cases than can be made", "999,999,999,999", "at most 1,000,000"],
    ),
    "a group that is none": (
        _SHAPES + "kinds:\n  axis: axis(input)\ngroup: reduction\n",
        5,
        ["no such group of operators", "reduction", "perhaps reductions", "groups/reduction.yaml"],
    ),
    "a group that is a path": (
        _SHAPES + "kinds:\n  axis: axis(input)\ngroup: ../parts/arithmetic\n",
        5,
        ["group", "../parts/arithmetic"],
    ),
    "a part that is none": ("uses: [broadcasting]\n", 1, ["no such part", "broadcasting", "broadcast"]),
    "a range of versions that is none": (
        _SHAPES + "versions: since 7\nkinds:\n  axis: axis(input)\n",
        3,
        ["not a range of versions", "since 7", "7.."],
    ),
    "paired with an unknown type variable": (
        _SHAPES + "kinds:\n  axis: axis(input)\npaired: [T, U]\n",
        5,
        ["no such type variable of an input", "paired: U", "expected T"],
    ),
    "paired with an element type": (
        _SHAPES + "kinds:\n  axis: axis(input)\npaired: [float]\n",
        5,
        ["no such type variable of an input", "paired: float", "expected T"],
    ),
    "paired that is no list": (
        _SHAPES + "kinds:\n  axis: axis(input)\npaired: T\n",
        5,
        ["wrong value", "paired", "a list of type variables, such as [T]"],
    ),
    "paired with what is no name": (
        _SHAPES + "kinds:\n  axis: axis(input)\npaired: [[T]]\n",
        5,
        ["wrong value", "paired", "such as [T]"],
    ),
    "a focus on an unknown factor": (
        _SHAPES + "kinds:\n  axis: axis(input)\nfocus: {type_U: float}\n",
        5,
        ["no such factor", "focus: {type_U: float}", "type_T", "axis", "rank_S"],
    ),
    "a focus on a type that is not allowed": (
        _SHAPES + "kinds:\n  axis: axis(input)\nfocus:\n  axis: last\n  type_T: complex64\n",
        7,
        ["no such level of a factor", "focus: {type_T: complex64}", "float", "double"],
    ),
    "a focus that is no mapping": (
        _SHAPES + "kinds:\n  axis: axis(input)\nfocus: [type_T]\n",
        5,
        ["wrong value", "focus", "{type_T: float}"],
    ),
    "a focus on several levels": (
        _SHAPES + "kinds:\n  axis: axis(input)\nfocus: {axis: [first, last]}\n",
        5,
        ["wrong value", "focus", "one level, a text or number"],
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_its_place(name: str, tmp_path: Path) -> None:
    text, line, parts = MISTAKES[name]
    path = _write(tmp_path, text)
    with pytest.raises(UserError) as caught:
        open_space(load_spec(HARDMAX, (tmp_path,)))
    message = str(caught.value)
    assert f"{path}:{line}:" in message
    for part in parts:
        assert part in message


def test_a_size_that_no_call_has_is_told_with_its_place(tmp_path: Path) -> None:
    rule = "  - {id: short, require: max(shape(input)) < 100, else: undefined, why: made up}\n"
    head = _SHAPES + "kinds:\n  axis: axis(input)\nsizes: {scanned: {S: [33, 300]}}\nconstraints:\n"
    path = _write(tmp_path, head + rule)
    spec, levels = declare_levels(load_spec(HARDMAX, (tmp_path,)))
    workshop = Workshop(spec, find_operator(HARDMAX), levels, Options())
    with pytest.raises(UserError) as caught:
        add_kernel_sizes(workshop)
    message = str(caught.value)
    assert f"{path}:5:" in message
    assert "a size that no call of ai.onnx::Hardmax-13 has" in message
    assert "300" in message


def test_or_error_needs_a_word_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "ai.onnx" / "NonZero" / FILE_NAME
    path.parent.mkdir(parents=True)
    path.write_text('shapes: {X: "*S"}\nkinds:\n  X: data("nonzero") or error\n', encoding="utf-8")
    with pytest.raises(UserError) as caught:
        open_space(load_spec(OperatorName("ai.onnx", "NonZero", 13), (tmp_path,)))
    message = str(caught.value)
    assert f"{path}:3:" in message
    assert "`or error` without a word of the text behind it" in message
    assert "leave `or error` out" in message


def test_an_attribute_of_which_nobody_says_anything_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "ai.onnx" / "MaxRoiPool" / FILE_NAME
    path.parent.mkdir(parents=True)
    path.write_text("shapes: {X: 'N, C, H, W', rois: 'R, 5'}\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        open_space(load_spec(OperatorName("ai.onnx", "MaxRoiPool", 1), (tmp_path,)))
    message = str(caught.value)
    assert f"{path}:1:" in message
    assert "an attribute of ai.onnx::MaxRoiPool-1 without a kind" in message
    assert "pooled_shape" in message


def test_an_older_text_that_demands_nothing_leaves_it_undefined(tmp_path: Path) -> None:
    _write(tmp_path, _SHAPES + "kinds:\n  axis: axis(input, negative=version >= 11) or error\n")
    meanings = {
        version: next(
            constraint.otherwise
            for constraint in _space(tmp_path, version).spec.constraints
            if constraint.id == "axis_range"
        )
        for version in (1, 13)
    }
    assert meanings == {1: "undefined", 13: "error"}


def test_a_level_that_no_call_has_is_told_with_its_place(tmp_path: Path) -> None:
    path = _write(tmp_path, 'shapes: {input: "*S"}\nextents: {S: 1..2}\nkinds:\n  axis: axis(input)\n')
    space = _space(tmp_path)
    faults = [str(level) for level in levels_without_call(space, learn_cores(space))]
    assert len(faults) == 1
    assert f"{path}:4:" in faults[0]
    assert "a level that no call of ai.onnx::Hardmax-13 has" in faults[0]
    assert "axis=inner" in faults[0]
    assert "exclusions" in faults[0]


@pytest.mark.slow
def test_a_rule_whose_breach_breaks_another_is_told_with_its_place(tmp_path: Path) -> None:
    rule = "  - {id: same_again, require: -rank(input) <= axis < rank(input), else: undefined, why: again}\n"
    path = _write(tmp_path, _SHAPES + "kinds:\n  axis: axis(input)\nconstraints:\n" + rule)
    faults = [str(each) for each in rules_broken_together(_space(tmp_path))]
    assert len(faults) == 1
    assert f"{path}:6:" in faults[0]
    assert "a rule whose breach breaks others as well" in faults[0]
    assert "same_again, with axis_range" in faults[0]
    assert "Narrow it with `when`" in faults[0]


def test_a_rule_that_no_call_breaks_is_told(tmp_path: Path) -> None:
    rule = "  - {id: idle, require: rank(input) >= 0, else: undefined, why: nothing}\n"
    _write(tmp_path, _SHAPES + "kinds:\n  axis: axis(input)\nconstraints:\n" + rule)
    faults = [str(user_error) for user_error in rules_broken_together(_space(tmp_path))]
    assert len(faults) == 1
    assert "a rule that no call breaks" in faults[0]


@pytest.mark.slow
def test_rules_that_no_call_keeps_are_told_with_the_one_to_leave_out(tmp_path: Path) -> None:
    rule = "  - {id: never, require: axis > 5 and axis < 3, else: undefined, why: nothing}\n"
    path = _write(tmp_path, _SHAPES + "kinds:\n  axis: axis(input)\nconstraints:\n" + rule)
    with pytest.raises(UserError) as caught:
        learn_cores(_space(tmp_path))
    assert f"{path}:6:" in str(caught.value)
    assert "no call of ai.onnx::Hardmax-13 keeps all the rules" in str(caught.value)
    assert "got never" in str(caught.value)


_OF_CALLS = {
    "a rule that another one holds already": (
        "constraints:\n  - {id: one, require: step >= 1, else: undefined, why: again}\n",
        ["spec.yaml:7:", "a rule whose breach breaks others as well", "one, with step_range"],
    ),
    "a rule that no call keeps": (
        "constraints:\n  - {id: never, require: step > 5 and step < 3, else: undefined, why: nothing}\n",
        ["spec.yaml:7:", "no call of org.example::EveryNth-1 keeps all the rules", "got never"],
    ),
    "a level that no call has": (
        "constraints:\n  - {id: forward, require: axis >= 0, else: undefined, why: plain}\n",
        [
            "spec.yaml:4:",
            "a level that no call of org.example::EveryNth-1 has",
            "axis=negative",
            "exclusions",
        ],
    ),
}
_EVERY_NTH = 'shapes: {X: "*S"}\nextents: {S: 1..3}\nkinds:\n  axis: axis(X)\n  step: integer(1)\n'


@pytest.mark.slow
@pytest.mark.parametrize("name", _OF_CALLS)
def test_try_tells_what_only_calls_show(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, words = _OF_CALLS[name]
    folder = _every_nth(tmp_path, text, capsys)
    answer = call(capsys, "try", "EveryNth", "--specs", folder, "--runtime", "none")
    check_message(answer, 2, "input", *words)


def test_generate_tells_of_a_declaration_without_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, words = _OF_CALLS["a rule that no call keeps"]
    folder = _every_nth(tmp_path, text + "reference: reference.py\n", capsys)
    answer = call(capsys, "generate", "EveryNth", "--specs", folder, "-o", tmp_path / "suite")
    check_message(answer, 2, "input", *words)


def test_lint_tells_mistakes_in_the_declaration_of_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _every_nth(tmp_path, "", capsys, kind="axiss(X)")
    answer = call(capsys, "lint", "EveryNth", "--specs", folder)
    check_message(answer, 2, "input", "spec.yaml:4:", "unknown kind", "axiss")


def test_onnx_is_not_asked_about_an_operator_that_it_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = call(capsys, "try", "EveryNth", "--specs", _every_nth(tmp_path, "", capsys), "--runtime", "none")
    assert answer.code == 0, answer.out
    assert "ONNX knows no such operator: its shape inference and checker were not run" in answer.out
    assert "nothing is unexplained" in answer.out


def test_mistakes_are_told_together(tmp_path: Path) -> None:
    _write(tmp_path, 'shapes: {input: "N,, C", put: "*S"}\nkinds:\n  axis: axis(input)\n')
    with pytest.raises(OpcertError) as caught:
        load_spec(HARDMAX, (tmp_path,))
    assert "not a shape" in str(caught.value)
    assert "a shape of something that no version has" in str(caught.value)


def _write(folder: Path, text: str) -> Path:
    path = folder / HARDMAX.domain / HARDMAX.name / FILE_NAME
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


def _every_nth(folder: Path, more: str, capsys: pytest.CaptureFixture[str], kind: str = "axis(X)") -> Path:
    """A folder of specs with EveryNth of docs/your-operator.md, imported, and more in its declaration."""
    texts = {Path(step.file).name: step.text for step in steps() if step.file is not None}
    page, specs = folder / "every_nth.md", folder / "specs"
    page.write_text(texts[page.name], encoding="utf-8")
    assert call(capsys, "import", page, "-o", specs).code == 0
    room = specs / "org.example" / "EveryNth"
    (room / "reference.py").write_text(texts["reference.py"], encoding="utf-8")
    (room / FILE_NAME).write_text(_EVERY_NTH.replace("axis(X)", kind) + more, encoding="utf-8")
    return specs


def _space(folder: Path, version: int = 13) -> CallSpace:
    return open_space(load_spec(OperatorName("ai.onnx", "Hardmax", version), (folder,)))


@pytest.mark.nightly
@pytest.mark.slow
def test_an_axis_beyond_the_last_has_no_indices_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "ai.onnx" / "Gather" / FILE_NAME
    path.parent.mkdir(parents=True)
    path.write_text(
        'shapes: {data: "*S", indices: "*I"}\nextents: {S: 1..4, I: 0..3}\nkinds:\n'
        "  axis: axis(data, extra=1)\n  indices: index(data, axis)\n",
        encoding="utf-8",
    )
    space = open_space(load_spec(OperatorName("ai.onnx", "Gather", 13), (tmp_path,)))
    faults = [str(level) for level in levels_without_call(space, learn_cores(space))]
    assert ["axis=last" in faults[0], "axis=lowest" in faults[1]] == [True, True]
    assert all(f"{path}:4:" in fault for fault in faults)
