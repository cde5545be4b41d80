"""Suites and records from strangers: nothing in them is executed, nothing outside their folder touched."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto, helper

from conformance.running.harness import run_suite
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case
from conformance.suite.manifests import MANIFEST, manifest_digest
from conformance.suite.suites import open_suite
from opcert.vocabulary.errors import UserError
from tests.conformance.samples import FAKES, IDENTITY, make_case, make_suite


def rewrite(suite: Path, change: Any) -> None:
    """Change a suite's manifest, as somebody does who knows how its digest is made."""
    manifest = json.loads((suite / MANIFEST).read_text())
    change(manifest)
    manifest["digest"] = manifest_digest(manifest)
    (suite / MANIFEST).write_text(json.dumps(manifest))


def move(manifest: dict[str, Any], to: str) -> None:
    (name,) = manifest["goldens"]
    manifest["goldens"] = {to: manifest["goldens"][name]}
    for entry in manifest["cases"]:
        entry["file"] = to


@pytest.mark.parametrize(
    "name", ["../outside.pb", "/etc/passwd", "goldens/../../outside.pb", "goldens/../x/Identity-13.pb",
             "goldens/ai.onnx/Identity-13.pb\0", "file:///etc/passwd", "goldens\\..\\x-1.pb"]
)  # fmt: skip
def test_a_golden_s_name_never_leads_outside(tmp_path: Path, name: str) -> None:
    suite = make_suite(tmp_path, [make_case(operator=IDENTITY)])
    (tmp_path / "outside.pb").write_bytes((suite / "goldens/ai.onnx/Identity-13.pb").read_bytes())
    rewrite(suite, lambda manifest: move(manifest, name))
    with pytest.raises(UserError, match="the file name"):
        open_suite(suite)


@pytest.mark.parametrize("part", ["goldens", "goldens/ai.onnx", "goldens/ai.onnx/Identity-13.pb"])
def test_a_link_in_a_suite_never_leads_outside(tmp_path: Path, part: str) -> None:
    suite = make_suite(tmp_path, [make_case(operator=IDENTITY)])
    (suite / part).rename(tmp_path / "outside")
    (suite / part).symlink_to(tmp_path / "outside")
    with pytest.raises(UserError, match="lies outside"):
        open_suite(suite)


@pytest.mark.parametrize("case_id", ["../../../x", "ai.onnx/../x-1/cover/0123456789ab", "/etc/passwd", "a/b"])
def test_a_case_s_id_is_no_path(tmp_path: Path, case_id: str) -> None:
    suite = make_suite(tmp_path, [make_case(operator=IDENTITY)])
    rewrite(suite, lambda manifest: manifest["cases"][0].update(id=case_id))
    with pytest.raises(UserError, match="the entry of case number 0"):
        open_suite(suite)


def carrying_case(location: str, deep: bool) -> Case:
    """A case with a model of its own whose data would be read from a file."""
    tensor = TensorProto(name="W", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    node = helper.make_node("Constant", [], ["Y"])
    node.attribute.append(helper.make_attribute("value", tensor))
    value = helper.make_tensor_value_info("Y", TensorProto.FLOAT, [1])
    graph = helper.make_graph([node] if deep else [], "g", [], [value], initializer=[] if deep else [tensor])
    if deep:
        inner = helper.make_node("If", ["c"], ["Z"], then_branch=graph, else_branch=graph)
        graph = helper.make_graph([inner], "outer", [], [])
    return replace(make_case(operator=IDENTITY), model=helper.make_model(graph).SerializeToString())


@pytest.mark.parametrize("deep", [False, True])
def test_a_model_in_a_case_reads_no_file(tmp_path: Path, deep: bool) -> None:
    suite = make_suite(tmp_path, [carrying_case("../../secret", deep)])
    with open_suite(suite) as opened, pytest.raises(UserError, match="keeps data in another file"):
        opened.case(opened.case_ids[0])


class Canary:
    """Unpickled, it leaves a file."""

    def __reduce__(self) -> Any:
        return os.system, ("touch unpickled",)


WATCHER = Path(__file__).with_name("watched_opcert.py")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite and a record that hold what a stranger might put into them."""
    folder = tmp_path_factory.mktemp("stranger")
    trap = pickle.dumps(Canary()).decode("latin-1")
    plain = "{{ ''.__class__ }} !!python/object/apply:os.system ['touch unpickled'] $(touch unpickled) "
    hostile = plain + trap
    cases = [
        replace(make_case(seed=each, operator=IDENTITY), rule=hostile, levels={"do": plain})
        for each in range(3)
    ]
    suite = make_suite(folder, cases)
    rewrite(suite, lambda manifest: manifest.update(facts={"operators": {}, "x": hostile}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(FAKES))
        with open_suite(suite) as opened:
            run_suite(opened, find_runtime("fake_backends:Raises"), folder / "run.jsonl")
    lines = [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]
    for line in lines[1:-1]:
        line.update(reason=hostile, message=hostile, pattern=hostile, stderr=hostile)
    lines[0]["runtime"].update(name=hostile, source="../../../outside")
    # Without its footer: the digest there would tell that somebody has been at it.
    (folder / "run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines[:-1]))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("report", "run.jsonl", "-s", "suite", "-o", "out", "--format", "html"),
        ("report", "run.jsonl", "-s", "suite", "-o", "out", "--format", "junit"),
        ("export", "suite", "-o", "exported"),
        ("repro", "CASE", "-s", "suite", "-o", "repro"),
        ("compare", "run.jsonl", "run.jsonl"),
    ],
    ids=lambda words: "-".join(words[:1] + words[-1:]),
)
def test_reading_what_a_stranger_sent_executes_nothing(stranger: Path, words: tuple[str, ...]) -> None:
    with open_suite(stranger / "suite") as suite:
        case = suite.case_ids[0]
    given = [case if word == "CASE" else word for word in words]
    done = subprocess.run(
        [sys.executable, str(WATCHER), str(stranger), *given],
        cwd=stranger, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "WATCHED" not in done.stderr, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in (0, 1), done.stderr
    assert not list(stranger.rglob("unpickled"))


def test_the_watcher_watches(tmp_path: Path) -> None:
    words = [sys.executable, str(WATCHER), str(tmp_path), "misbehave"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert "WATCHED pickle.find_class" in done.stderr
    assert "WATCHED open ('/dev/full'" in done.stderr
