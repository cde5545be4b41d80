"""Entries about wrong answers are shown, not matched: by the answers in the record, or by the runtime."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import jsonschema
import numpy as np
import pytest
import yaml

from conformance.judging.kept_diagnosis import FILE
from conformance.judging.responses import Response
from conformance.processes.worker_limits import Limits
from conformance.running.requests import Offer
from conformance.runtimes.runtimes import find_runtime
from conformance.suite import store
from conformance.suite.cases import Case
from generator.exploring.fuzzing import workers
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from opcert.commands import experiments
from opcert.commands.cause_finding import with_experiments, with_known_causes
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from reports.causes.class_words import headline, remarks
from reports.causes.failure_class import FailureClass
from reports.causes.failure_classes import classes_of
from reports.formats.html import render_report
from reports.formats.json import render as render_json
from reports.overview.cause_paragraphs import cause_paragraphs, totals_line
from reports.results.case_results import Results, put_together
from tests.generator.fuzz_fakes import Fake, Mistake, space_of
from tests.reports.sample import HEADER, Maker

PAD = "com.microsoft::Pad-1"
SCHEMA = Path(__file__).parents[2] / "conformance/schemas/diagnosis.json"
Inputs = Mapping[str, Tensor | None]
asked: list[str] = []


def reflect_as_edge(attributes: dict[str, Any], _inputs: Inputs) -> dict[str, Any] | None:
    return {**attributes, "mode": "edge"} if attributes.get("mode") == "reflect" else None


def reflect_as_edge_and_doubles_as_constants(
    attributes: dict[str, Any], inputs: Inputs
) -> dict[str, Any] | None:
    data = inputs["data"]
    if data is not None and data.element_type.name == "double" and attributes.get("mode") != "constant":
        return {**attributes, "mode": "constant"}
    return reflect_as_edge(attributes, inputs)


@cache
def pad_cases() -> tuple[Case, ...]:
    """Without subnormal elements, of which it may not be told which one came out."""
    made = generate_operator(OperatorName.parse(PAD), Options())
    return tuple(each for each in made.cases if each.demand == "answer" and not _is_subnormal(each))


def _is_subnormal(case: Case) -> bool:
    data = dict(case.inputs)["data"]
    if data is None or data.array.dtype.kind != "f":
        return False
    return bool(((data.array != 0) & (np.abs(data.array) < np.finfo(data.array.dtype).tiny)).any())


class Workers:
    """Stands where a runtime would be started."""

    mistake: Mistake = reflect_as_edge
    offer = Offer("fake", "1", {"com.microsoft": "node"}, ("inputs",), None)
    name = str(HEADER["runtime"]["name"])

    def __init__(self, *_: object) -> None:
        self._fake = Fake(space_of(PAD), type(self).mistake)

    def ask(self, case: Case, valid_case: Case | None = None, form: str = "") -> Response:
        asked.append(f"{case.id} {form}")
        return self._fake.ask(case, valid_case)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        pass


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(workers, "RunningRuntime", Workers)
    monkeypatch.setattr(experiments, "environment_state", lambda _: None)
    asked.clear()


def entry(name: str, when: str | None = None, **more: object) -> dict[str, object]:
    condition = {} if when is None else {"when": when}
    return {
        "id": name,
        "operator": "com.microsoft::Pad-*",
        "against": str(HEADER["runtime"]["name"]),
        "verdicts": "mismatch",
        "cause": "witness_fault",
        "passage": "page.rst:3",
        "explanation": f"It does {name}.",
        "evidence": "seen",
        **condition,
        **more,
    }


def run(
    folder: Path,
    entries: Sequence[Mapping[str, object]],
    mistake: Mistake = reflect_as_edge,
    seconds: float = 600,
) -> Results:
    """A run of a fake that is wrong on purpose, with entries of the user's own, and experiments on it."""
    Workers.mistake = staticmethod(mistake)
    made = Maker(folder).make(list(pad_cases()), Fake(space_of(PAD), mistake).ask, facts={})
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump({"cases": list(entries)}))
    results = with_known_causes(put_together(made.suite, made.record), (), (path,))
    runtime = find_runtime("onnxruntime")
    return with_experiments(results, runtime, Limits(), seconds=seconds, files=(path,))


def told(results: Results) -> dict[str, FailureClass]:
    found = {}
    for failures in classes_of(results):
        names = [failures.known] if failures.known is not None else failures.suspects
        found[f"{failures.told} {' '.join(one.id for one in names)}".strip()] = failures
    return found


AS_EDGE = entry("as_edge", "mode == 'reflect'", computes="attribute mode=edge")
OF_REFLECT = entry("of_reflect", "mode == 'reflect'")


def test_an_answer_that_is_what_an_entry_computes_is_its_case_without_asking(tmp_path: Path) -> None:
    results = run(tmp_path, [AS_EDGE], seconds=0)
    (found,) = told(results).values()
    assert (found.told, len(found.cases)) == ("entry", sum(result.fails for result in results.cases))
    assert not asked
    equals = "the result equals the expected output with mode reflect → edge"
    assert headline(found) in (f"wrong: {equals}", f"wrong shape: {equals}")
    assert "It does as_edge." in remarks(found)


def test_what_an_entry_says_wrongly_of_an_answer_claims_nothing(tmp_path: Path) -> None:
    wrong = entry("as_constant", "mode == 'reflect'", computes="attribute mode=constant")
    found = told(run(tmp_path, [wrong, AS_EDGE]))
    assert set(found) == {"entry as_edge"}
    # Without the other one nobody explains it, and the experiment says what it hangs on.
    (alone,) = told(run(tmp_path / "alone", [wrong])).values()
    assert alone.told == "experiment"
    assert "mode = reflect" in headline(alone)


def test_an_entry_without_a_formula_is_shown_where_the_runtime_is_right_without_it(tmp_path: Path) -> None:
    wide = entry("of_wide_padding", "any(each > 0 for each in pads)")
    found = told(run(tmp_path, [wide, OF_REFLECT]))
    # Where nothing is padded nothing shows, either: that says less than another mode.
    assert "entry of_reflect" in found
    assert any("right with mode = " in remark for remark in remarks(found["entry of_reflect"]))
    other = entry("of_double", "element_type(data) == 'double'")
    found = told(run(tmp_path / "other", [other]))
    assert "entry of_double" not in found
    assert {failures.told for failures in found.values()} == {"experiment"}


def test_what_two_entries_show_alike_is_given_to_neither(tmp_path: Path) -> None:
    again = entry("of_mirrors", "mode == 'reflect'")
    results = run(tmp_path, [OF_REFLECT, again])
    (found,) = told(results).values()
    assert found.told == "either"
    assert headline(found) == "wrong: either of_reflect or of_mirrors, which do alike"
    # Both are one cause where one of them says so.
    same = told(run(tmp_path / "same", [OF_REFLECT, {**again, "same_as": "of_reflect"}]))
    assert set(same) == {"entry of_reflect"}


def test_two_mistakes_at_once_are_told_as_two(tmp_path: Path) -> None:
    entries = [
        entry("reflected_as_edge", "mode == 'reflect'"),
        entry("doubles_never_repeated", "element_type(data) == 'double' and mode != 'constant'"),
    ]
    found = told(run(tmp_path, entries, reflect_as_edge_and_doubles_as_constants))
    assert {"entry reflected_as_edge", "entry doubles_never_repeated"} <= set(found)
    of_doubles = found["entry doubles_never_repeated"].cases
    assert {double.element_type for double in of_doubles} == {"double"}
    assert all(result.element_type != "double" for result in found["entry reflected_as_edge"].cases)


def test_what_nobody_could_try_is_suspected_and_not_known(tmp_path: Path) -> None:
    results = run(tmp_path, [OF_REFLECT], seconds=0)
    (found,) = told(results).values()
    assert (found.told, found.known) == ("suspected", None)
    assert headline(found).endswith(", suspected and not shown: of_reflect")
    assert "1 suspected and not shown" in totals_line(results)
    assert "known" not in totals_line(results).split("Causes: ")[1]
    report = json.loads(render_json(results))
    assert report["classes"][0]["suspects"] == ["of_reflect"]


def test_a_report_needs_no_runtime_for_what_was_shown(tmp_path: Path) -> None:
    results = run(tmp_path, [OF_REFLECT])
    assert asked
    assert all(each.endswith(" inputs") for each in asked[:1])
    kept = json.loads((results.record.path.with_name(FILE)).read_text())
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(kept)
    assert {each["result"] for each in kept["trials"]} == {"cured"}
    asked.clear()
    again = put_together(results.suite, results.record)
    again = with_known_causes(again, (), (tmp_path / "mine.yaml",))
    assert set(told(again)) == {"entry of_reflect"}
    assert not asked
    # An entry that says something else by now was not tried.
    other = tmp_path / "other.yaml"
    other.write_text(yaml.safe_dump({"cases": [entry("of_reflect", "mode in ['reflect', 'wrap']")]}))
    assert set(told(with_known_causes(again, (), (other,)))) == {"suspected of_reflect"}


def test_the_call_that_is_shown_is_made_smaller_on_the_runtime(tmp_path: Path) -> None:
    results = run(tmp_path, [OF_REFLECT])
    (found,) = told(results).values()
    kept = json.loads((results.record.path.with_name(FILE)).read_text())
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(kept)
    (small,) = kept["smaller"]
    assert small["case"] == str(found.smallest.id)
    assert ["mode", "reflect"] in small["attributes"]
    (_, typed, values), pads, *_ = small["inputs"]
    assert typed.startswith("float [")
    assert len(values.split()) <= 3
    assert pads[0] == "pads"
    assert small["got"] != small["expected"]
    (paragraph,) = cause_paragraphs(results)
    assert small["got"] in paragraph.call
    assert paragraph.call in paragraph.lines()
    (told_of,) = json.loads(render_json(results))["classes"]
    assert told_of["smallerCall"]["expected"] == small["expected"]
    page = render_report([results])
    assert f"<dd>{small['got']}</dd>" in page
    assert "The case it was found in" in page
    # A call that was made smaller for one entry is not shown of another.
    other = tmp_path / "other.yaml"
    other.write_text(yaml.safe_dump({"cases": [AS_EDGE]}))
    (told_otherwise,) = cause_paragraphs(with_known_causes(results, (), (other,)))
    assert (told_otherwise.found.entry, told_otherwise.call) == ("as_edge", "")
    # Where nobody made it smaller the suite's own case is shown.
    (results.record.path.with_name(FILE)).unlink()
    bare = with_known_causes(put_together(results.suite, results.record), (), (tmp_path / "mine.yaml",))
    assert "Smallest case" in render_report([bare])
    assert all(not cause_paragraph.call for cause_paragraph in cause_paragraphs(bare))


def test_a_damaged_trial_is_said_to_be(tmp_path: Path) -> None:
    results = run(tmp_path, [OF_REFLECT])
    path = results.record.path.with_name(FILE)
    kept = json.loads(path.read_text())
    kept["trials"][0]["result"] = "believed"
    path.write_text(json.dumps(kept))
    with pytest.raises(Exception, match="damaged"):
        with_known_causes(results, (), (tmp_path / "mine.yaml",))


def test_a_cause_is_headed_by_what_its_answers_equal(tmp_path: Path) -> None:
    (first,) = cause_paragraphs(run(tmp_path, [AS_EDGE], seconds=0))
    assert ", as with mode reflect → edge" in first.head
    assert any("It does as_edge." in remark for remark in first.remarks)
