"""A worker finds no answers: neither in the suite, nor in the user's cache, nor in records."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.recording.records import read_record
from conformance.suite.suite_files import write_zip
from tests.conformance.samples import FAKES, expect, make_case, make_suite, sample
from tests.conformance.test_confinement import CLOSES_USER_NAMESPACES, needs_namespaces

THIEF = "thief_worker.py"
CASES = 4


def steal(
    folder: Path, suite: Path, worker: Path = FAKES / THIEF, command: str = "run", within: Sequence[str] = ()
) -> dict[str, Any]:
    """What `opcert` made of a worker that looks for suites in `folder`: verdicts, and what surrounded it."""
    record = folder / "results" / "run.jsonl"
    words = [sys.executable, "-m", "opcert", command, f"exec:{sys.executable} {worker} {folder}", "-s", suite,
             "-o", record if command == "run" else record.parent]  # fmt: skip
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run([*within, *map(str, words)], env=environment, cwd=folder, capture_output=True,
                          text=True, check=False)  # fmt: skip
    found = read_record(record)
    verdicts = dict(Counter(result.verdict for result in found.results))
    return {"verdicts": verdicts, "confinement": found.header["confinement"], "err": done.stderr}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Of calls whose answers nobody computes."""
    cases = [make_case(seed=each, expectations=(expect(sample(each + 9)),)) for each in range(CASES)]
    return make_suite(tmp_path, cases)


def zipped(suite: Path) -> Path:
    path = suite.with_suffix(".zip")
    write_zip(suite, path)
    shutil.rmtree(suite)
    return path


def kept(suite: Path) -> Path:
    """The same in the user's cache, too, and in results of before."""
    for place in ("cache/opcert/suites/kept", "out/before"):
        shutil.copytree(suite, suite.parent / place)
    return suite


@pytest.mark.nightly
@pytest.mark.slow
@needs_namespaces
@pytest.mark.parametrize("place", [lambda suite: suite, zipped, kept])
def test_no_answer_is_found(tmp_path: Path, suite: Path, place: Any) -> None:
    found = steal(tmp_path, place(suite))
    assert found["verdicts"] == {"mismatch": CASES}, found
    assert found["confinement"]["expected"] == "hidden"


@pytest.mark.slow
@needs_namespaces
def test_a_worker_that_lies_in_the_folder_of_the_suite_runs_and_finds_nothing(
    tmp_path: Path, suite: Path
) -> None:
    (suite / "helper.py").write_text(f"import sys; THIEF = {str(FAKES / THIEF)!r}")
    (suite / "worker.py").write_text(
        "import runpy, helper\nrunpy.run_path(helper.THIEF, run_name='__main__')"
    )
    found = steal(tmp_path, suite, suite / "worker.py")
    assert found["verdicts"] == {"mismatch": CASES}, found


@pytest.mark.slow
@needs_namespaces
def test_where_answers_can_be_read_the_record_and_the_certificate_say_so(tmp_path: Path, suite: Path) -> None:
    found = steal(tmp_path, suite, command="certify", within=CLOSES_USER_NAMESPACES)
    assert found["verdicts"] == {"pass": CASES}, found
    assert found["confinement"]["expected"] == "could be read"
    results = tmp_path / "results"
    believed = json.loads((results / "certificate.json").read_bytes())["predicate"]["believed"]
    says = f"{CASES} rows answered by a worker that could have read the expected outputs"
    assert [each["kind"] for each in believed if each["says"].startswith(says)] == ["expected"]
    assert says in (results / "certificate.html").read_text("utf-8")
    words = [sys.executable, "-m", "opcert", "verify", str(results / "certificate.json"), "-s", str(suite)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout
