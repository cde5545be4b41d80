"""What a build of a runtime was asked behind one run, it is not asked behind the next; any other build is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from conformance.judging.kept_diagnosis import FILE, Diagnosis, read_diagnosis
from conformance.judging.responses import Refused, Response
from conformance.processes.worker_limits import Limits
from conformance.running.requests import Offer
from conformance.runtimes.runtimes import Runtime, find_runtime
from conformance.suite import store as kept_work
from conformance.suite.cases import Case
from generator.exploring.fuzzing import workers
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from opcert.commands import experiments
from opcert.commands.cause_finding import with_experiments
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from reports.results.case_results import Results, put_together
from tests.generator.fuzz_fakes import Fake, Mistake, space_of
from tests.reports.sample import HEADER, Maker

PAD = "com.microsoft::Pad-1"
LOADED = (
    {"file": "libone.so", "bytes": 3, "sha256": "1" * 64},
    {"file": "libtwo.so", "bytes": 4, "sha256": "2" * 64},
)
asked: list[str] = []


def reflect_as_edge(
    attributes: dict[str, Any], _inputs: Mapping[str, Tensor | None]
) -> dict[str, Any] | None:
    return {**attributes, "mode": "edge"} if attributes.get("mode") == "reflect" else None


@cache
def pad_cases() -> tuple[Case, ...]:
    made = generate_operator(OperatorName.parse(PAD), Options())
    return tuple(each for each in made.cases if each.demand == "answer")


class FakeWorkers:
    """Stands where a runtime would be started; notes what it is asked."""

    offer = Offer("fake", "1", {"com.microsoft": "node"}, ("inputs",), None)
    name = str(HEADER["runtime"]["name"])

    def __init__(self, *_: object) -> None:
        self._fake = Fake(space_of(PAD), reflect_as_edge)

    def ask(self, case: Case, valid_case: Case | None = None) -> Response:
        asked.append(str(case.id))
        return self._fake.ask(case, valid_case)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        pass


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_work, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(workers, "RunningRuntime", FakeWorkers)
    state = {True: "as it was made", False: None}
    monkeypatch.setattr(
        experiments, "environment_state", lambda experiment: state[bool(experiment.requirements)]
    )
    asked.clear()


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Results]:
    return run_of(tmp_path, reflect_as_edge)


def run_of(folder: Path, mistake: Mistake) -> Callable[..., Results]:
    """A run of the fake, which ended so many seconds after it began, with libraries that were loaded."""
    made = Maker(folder).make(list(pad_cases()), Fake(space_of(PAD), mistake).ask, facts={})

    def results(
        seconds: int = 50,
        loaded: Any = LOADED,
        but: int = 0,
        options: Mapping[str, Any] | None = None,
        **runtime: str,
    ) -> Results:
        stated = {**(made.record.header.get("options") or {}), **(options or {})}
        header = {**made.record.header, "options": stated, "runtime": {**HEADER["runtime"], **runtime}}
        finished = f"2026-11-18T06:40:{seconds:02}Z"
        footer = {**(made.record.footer or {}), "finished": finished, "loaded": loaded}
        rows = list(made.record.results)
        failing = [row for row in rows if row.verdict == "mismatch"][:but]
        record = replace(
            made.record, header=header, footer=footer, results=[e for e in rows if e not in failing]
        )
        return put_together(made.suite, record)

    return results


def diagnosis(results: Results, runtime: Runtime | None = None, **options: Any) -> tuple[Diagnosis, int]:
    """What experiments show of a run, and of how many calls the runtime was asked for that."""
    before = len(asked)
    path = results.record.path.with_name(FILE)
    path.unlink(missing_ok=True)
    with_experiments(results, runtime or find_runtime("onnxruntime"), Limits(), **options)
    found = read_diagnosis(path, results.suite.digest, (results.record.footer or {}).get("digest"))
    assert found is not None
    return found, len(asked) - before


def test_the_same_failures_of_the_same_build_are_not_asked_for_again(
    run: Callable[..., Results], capsys: pytest.CaptureFixture[str]
) -> None:
    first, calls = diagnosis(run())
    assert calls > len(first.calls) > 20  # the call that is shown is made smaller, too
    assert [[needed.factor for needed in cause.needed] for cause in first.causes] == [["mode"]]
    capsys.readouterr()
    again, calls = diagnosis(run(seconds=20, loaded=LOADED[:1], options={"jobs": 7}))
    assert (again, calls) == (first, 0)
    assert f"were searched for before, in {len(first.calls)} calls" in capsys.readouterr().err


def test_behind_a_run_of_no_time_there_are_seconds_for_experiments(
    run: Callable[..., Results], capsys: pytest.CaptureFixture[str]
) -> None:
    found, calls = diagnosis(run(seconds=0))
    assert "experiments on the runtime, which find causes: at most 5 s" in capsys.readouterr().err
    assert calls > len(found.calls) > 20
    assert [[needed.factor for needed in cause.needed] for cause in found.causes] == [["mode"]]


def test_of_other_failures_only_the_calls_are_known(
    run: Callable[..., Results], capsys: pytest.CaptureFixture[str]
) -> None:
    first, calls = diagnosis(run())
    of_shown = calls - len(first.calls)
    capsys.readouterr()
    other, calls = diagnosis(run(but=1))
    assert "at most 15 s, beside" not in capsys.readouterr().err
    assert calls - of_shown < len(first.calls) / 4
    assert other.causes[0].sentence == first.causes[0].sentence
    assert diagnosis(run(but=1)) == (other, 0)
    assert diagnosis(run()) == (first, 0)


@pytest.mark.parametrize("state", ["another", None])
def test_an_environment_that_has_changed_or_is_not_known_is_asked_anew(
    run: Callable[..., Results], monkeypatch: pytest.MonkeyPatch, state: str | None
) -> None:
    _, calls = diagnosis(run())
    monkeypatch.setattr(experiments, "environment_state", lambda _: state)
    assert diagnosis(run())[1] == calls > 20


@pytest.mark.nightly
@pytest.mark.parametrize(
    "other",
    [
        {"loaded": ({**LOADED[0], "sha256": "3" * 64}, LOADED[1])},
        {"version": "2.1.1"},
        {"loaded": None},
        {"loaded": ()},
        {"options": {"timeout": 3.0}},
        {"options": {"memory": 1 << 30}},
    ],
)
def test_another_build_or_with_other_limits_is_asked_anew(
    run: Callable[..., Results], other: dict[str, Any]
) -> None:
    first, calls = diagnosis(run())
    found, again = diagnosis(run(**other))
    assert again == calls
    assert found.causes == first.causes


def test_a_runtime_that_opcert_did_not_install_is_asked_anew(run: Callable[..., Results]) -> None:
    runtime = find_runtime("my_module:Backend")
    _, first = diagnosis(run(), runtime)
    _, again = diagnosis(run(), runtime)
    assert first == again > 20


def test_who_says_for_how_long_has_experiments_go_on(run: Callable[..., Results]) -> None:
    first, calls = diagnosis(run(), seconds=0.000001)
    assert calls == 0
    assert first.stopped is not None
    whole, calls = diagnosis(run(), seconds=600.0)
    assert calls > len(whole.calls) > 20
    assert whole.stopped is None
    assert diagnosis(run()) == (whole, 0)


def test_what_was_ended_sooner_than_it_need_be_goes_on(run: Callable[..., Results]) -> None:
    diagnosis(run(), seconds=0.000001)
    found, calls = diagnosis(run())
    assert calls > len(found.calls) > 20
    assert found.stopped is None


def test_what_had_all_its_time_stands(run: Callable[..., Results]) -> None:
    first, _ = diagnosis(run(), seconds=0.000001)
    content = _kept()
    content["diagnoses"][0][1]["seconds"] = 15.0
    _keep(content)
    assert diagnosis(run()) == (replace(first, seconds=15.0), 0)


def test_the_seconds_of_before_count(run: Callable[..., Results], capsys: pytest.CaptureFixture[str]) -> None:
    diagnosis(run(), seconds=0.000001)
    content = _kept()
    content["seconds"], content["diagnoses"][0][0] = 12.0, "other failures"
    _keep(content)
    capsys.readouterr()
    diagnosis(run())
    assert "at most 3 s, beside 0 calls" in capsys.readouterr().err
    _keep({**content, "seconds": 99.0})
    diagnosis(run())
    assert "at most 0.5 s, beside 0 calls" in capsys.readouterr().err


@pytest.mark.nightly
@pytest.mark.parametrize(
    "damage",
    [{"calls": [{"nothing": 1}]}, {"calls": 7}, {"seconds": None}, {"diagnoses": 3}, {"diagnoses": [["x"]]}],
)
def test_what_is_damaged_counts_for_nothing(run: Callable[..., Results], damage: dict[str, Any]) -> None:
    first, _ = diagnosis(run())
    _keep({**_kept(), **damage})
    assert diagnosis(run())[0].causes == first.causes


def test_nothing_is_kept_where_that_is_not_wanted(run: Callable[..., Results], tmp_path: Path) -> None:
    _, first = diagnosis(run(), keep_calls=False)
    _, again = diagnosis(run(), keep_calls=False)
    assert first == again
    assert not (tmp_path / "cache").exists()


def test_where_every_cause_is_told_less_time_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(attributes: dict[str, Any], _inputs: Mapping[str, Tensor | None]) -> Response | None:
        return Refused("ValueError", "no reflect") if attributes.get("mode") == "reflect" else None

    diagnosis(run_of(tmp_path, refuse)())
    assert "at most 5 s" in capsys.readouterr().err


def _file() -> Path:
    (path,) = kept_work.KeptWork("experiments").store.folder.iterdir()
    return path


def _kept() -> dict[str, Any]:
    found: dict[str, Any] = kept_work.KeptWork("experiments").find(_file().name)
    return found


def _keep(content: dict[str, Any]) -> None:
    kept_work.KeptWork("experiments").keep(_file().name, content)
