"""The script to copy: it makes the call by itself and says whether the answer is right."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.suite.cases import Alternative, Case
from opcert.vocabulary.tensors import tensor
from reports.single_cases.bare_calls import call_of
from reports.single_cases.standalone import MOST_ELEMENTS, case_lines, surroundings, whole_script
from tests.reports.sample import BATCH_TO_SPACE, PATCHES, make_case
from tests.reports.test_reproduction import crop


def run(case: Case, folder: Path) -> str:
    """What the case's script says on onnx's reference evaluator: its output, and why it ended."""
    lines = case_lines(case)
    assert lines is not None
    script = whole_script("onnx", lines)
    assert script is not None
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder, check=False)
    return done.stdout + done.stderr


def test_it_tells_right_from_wrong_to_the_last_bit(tmp_path: Path) -> None:
    data = tensor([[1.0, -0.0, float("nan"), 0.1]], "float")
    assert "\nas the documents say" in run(crop(((-0.0, float("nan")),), data=data), tmp_path)
    assert "NOT as the documents say" in run(crop(((0.0, float("nan")),), data=data), tmp_path)


def test_it_allows_the_error_that_is_allowed(tmp_path: Path) -> None:
    assert "\nas the documents say" in run(crop(((2.25, 3.0),), allowed=0.25), tmp_path)
    assert "NOT as the documents say" in run(crop(((2.5, 3.0),), allowed=0.25), tmp_path)


def test_an_answer_to_a_call_that_must_be_refused_is_named(tmp_path: Path) -> None:
    case = crop(demand="refuse", family="invalid", constraint="shape_type", valid_case=None)
    assert "answered, and must be rejected" in run(case, tmp_path)


@pytest.mark.parametrize(
    "case",
    [
        crop(element_type="bfloat16", expected=((2.0, 3.0),)),
        crop(alternatives=(Alternative(0, (5.0,)),)),
        crop(data=tensor([[0.0] * MOST_ELEMENTS], "float")),
    ],
    ids=["no type of numpy", "further values", "too large"],
)
def test_what_it_cannot_say_has_no_script(case: Case) -> None:
    assert case_lines(case) is None


@pytest.mark.parametrize(
    ("runtime", "case"),
    [
        ("openvino", make_case(PATCHES, "cover", {"auto_pad": "valid"})),
        ("tensorflow", make_case(BATCH_TO_SPACE, "cover", {"crops": "some"})),
        ("openvino", crop()),
        ("onnxruntime", crop()),
    ],
)
def test_every_runtime_has_lines_for_its_own_operators(runtime: str, case: Case) -> None:
    lines = case_lines(case)
    assert lines is not None
    script = whole_script(runtime, lines)
    assert script is not None
    compile(script, "script", "exec")
    assert f"import {runtime}\n" in script
    assert str(case.id) in script


def test_a_runtime_that_is_not_known_has_none() -> None:
    assert surroundings("something-else") == {}


def test_no_word_of_a_case_becomes_code(tmp_path: Path) -> None:
    """The goldens' reader takes no such words; the writer of scripts does not rely on it."""
    hostile = "x\nopen('owned', 'w')\n#\r\x85\u2028open('owned', 'w')"
    case = replace(
        crop(demand="refuse", family="invalid", constraint=hostile, valid_case=None),
        output_names=(f"Y{hostile}",),
    )
    case = replace(case, inputs=tuple((f"{name}{hostile}", each) for name, each in case.inputs))
    said = run(case, tmp_path)
    assert "answered" in said or "Error" in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["/home/josé/icd.json", "C:\\new\\icd.json", "\\g<0>"])
def test_an_option_of_a_record_is_text_and_paths_are_nobody_elses(option: str) -> None:
    made = call_of("wonnx", "onnx", {"driver": option, "a(": "b"})
    assert made is not None
    assert 'DRIVER = ""' in made.lines


def test_no_script_feeds_a_runtime_what_it_takes_as_constants_alone() -> None:
    assert surroundings("mnn") == {}
    assert surroundings("nxrt")
