"""In which order causes stand, what they are called, and how broken rules are told."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from conformance.judging.known_causes import KnownCause
from conformance.recording.rows import Result
from conformance.suite.where_shown import Shows
from opcert.vocabulary.names import CaseId, OperatorName
from reports.causes.failure_class import GROUPS, FailureClass
from reports.causes.failure_classes import find_classes
from reports.causes.operator_use import FILE, Use, counted_models, use_of, use_text
from reports.causes.titles import title
from reports.results.case_results import CaseResult
from reports.text.rule_words import FILE as SENTENCES
from reports.text.rule_words import broken_rule
from reports.upstream.issues import may_be_sent

SAID = {"crash": "SIGSEGV", "mismatch": None, "rejected_valid": None}


def failing(
    operator: str, verdict: str, shows: Shows, size: int = 4, message: str | None = None
) -> CaseResult:
    name = OperatorName("ai.onnx", operator, 22)
    case = CaseId(name, "cover", None, f"{abs(hash((operator, verdict, shows, size))) % 16**12:012x}")
    row = Result(
        str(case), str(name), "cover", "float", "inputs", 0, verdict, message=message,  # type: ignore[arg-type]
        signal=SAID.get(verdict), difference="shape" if verdict == "mismatch" else None,
    )  # fmt: skip
    return CaseResult(case, "float", "answer", None, {}, (size, 0, 1), verdict, row, (row,), shows)


def test_where_it_shows_comes_first_then_damage_then_use() -> None:
    cases = [
        failing("BatchNormalization", "crash", "extremes"),
        failing("Swish", "crash", "special"),
        failing("Conv", "rejected_valid", "ordinary", message="no kernel of this kind here"),
        failing("Celu", "rejected_valid", "ordinary", message="something else is wrong there"),
        failing("Celu", "mismatch", "ordinary"),
        failing("Celu", "mismatch", "wide"),
        failing("Resize", "mismatch", "ordinary"),
    ]
    known = [KnownCause(f"k{place}", "witness_fault", "x", (), cases=(str(result.id),)) for place, result in
             enumerate(cases)]  # fmt: skip
    found = [
        (failures.operators[0].name, failures.kind, failures.shows) for failures in find_classes(cases, known)
    ]
    assert found == [
        ("Resize", "shape", "ordinary"),
        ("Celu", "shape", "ordinary"),
        ("Conv", "rejected_valid", "ordinary"),
        ("Celu", "rejected_valid", "ordinary"),
        ("Celu", "shape", "wide"),
        ("Swish", "crash", "special"),
        ("BatchNormalization", "crash", "extremes"),
    ]


def test_what_blames_nobody_stays_last_whatever_it_shows_on() -> None:
    cases = [
        failing("Conv", "document", "ordinary"),
        failing("Erf", "inexact", "ordinary"),
        failing("Celu", "crash", "invalid"),
        failing("Exp", "inexact", "invalid"),
    ]
    known = [
        KnownCause(f"k{place}", "finding", "x", (), cases=(str(result.id),))
        for place, result in enumerate(cases)
    ]
    found = find_classes(cases, known)
    assert [failures.operators[0].name for failures in found][::3] == ["Celu", "Conv"]
    last = len(GROUPS) - 1
    assert [GROUPS.index(failures.group) for failures in found] == [4, last - 1, last - 1, last]
    assert (
        [failures.blames for failures in found]
        == [may_be_sent(failures) for failures in found]
        == [True, *[False] * 3]
    )


def test_a_cause_is_shown_by_its_most_ordinary_case_however_large() -> None:
    cases = (failing("Conv", "mismatch", "special", 1), failing("Conv", "mismatch", "ordinary", 90))
    found = FailureClass(1, "shape", (cases[0].operator,), None, cases)
    assert found.smallest is cases[1]
    assert found.shows == "ordinary"


def test_a_title_has_the_operator_first_and_then_the_symptom() -> None:
    case = failing("BatchNormalization", "crash", "extremes")
    said = "The outputs of training are optional. ONNX Runtime writes to one that is left out. More."
    known = KnownCause("k", "witness_fault", said, ())
    found = FailureClass(1, "crash", (case.operator,), None, (case,), told="entry", known=known)
    assert title(found, "onnxruntime-node") == (
        "BatchNormalization: segfault: ONNX Runtime writes to one that is left out"
    )
    mended = replace(known, explanation="Its axis is not read. Mended in 1.32.")
    assert title(replace(found, known=mended)) == "BatchNormalization: segfault: Its axis is not read"
    typed = replace(found, known=replace(known, short="segfault when an optional output is left out"))
    assert title(typed) == "BatchNormalization: segfault when an optional output is left out"


def test_use_is_counted_over_the_models_that_the_file_names() -> None:
    told = yaml.safe_load(FILE.read_text("utf-8"))
    counted = counted_models()
    assert counted.number == sum(map(len, told["models"].values())) > 10
    assert all(0 < operator.models <= counted.number <= operator.nodes + counted.number for operator in
               counted.operators.values())  # fmt: skip
    conv = OperatorName("ai.onnx", "Conv", 22)
    nothing = OperatorName("ai.onnx", "Celu", 12)
    assert use_of([nothing, conv]) == counted.operators["ai.onnx::Conv"] > use_of([nothing]) == Use()
    assert use_text(use_of([conv])).endswith(f"of {counted.number} public models")
    assert use_text(Use()) == ""


@pytest.mark.parametrize(
    ("rule", "absent", "wanted"),
    [
        ("data_given", ["data"], "a call without its required input `data`"),
        ("blocksize_given", ["data"], "a call without its required `blocksize`"),
        ("axis_range", [], "a call with a value of `axis` out of its range"),
        ("not_scales_and_sizes", [], "a call with both `scales` and `sizes`"),
        ("type_of_T", [], "a call with an element type that `T` does not have"),
    ],
)
def test_a_broken_rule_is_a_sentence(rule: str, absent: list[str], wanted: str) -> None:
    assert broken_rule(rule, absent) == wanted


def test_typed_sentences_are_of_rules_that_there_are(repository: Path) -> None:
    """Rules stand in declarations, and in the kinds of values that bring some."""
    typed = yaml.safe_load(Path(SENTENCES).read_text("utf-8"))
    sources = [*(repository / "specs").rglob("spec.yaml"), *(repository / "specs").glob("*/*.yaml")]
    sources += (repository / "generator").rglob("*.py")
    told = "\n".join(source.read_text("utf-8") for source in sources)
    words = set(re.findall(r"\w+", told))

    def is_there(name: str) -> bool:
        ends = [name[at:] for at, letter in enumerate(name) if letter == "_"]
        return name in words or any(end in words or f'"{end[1:]}"' in told for end in ends)

    assert [name for name in typed if not is_there(name)] == []
