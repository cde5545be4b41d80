"""What a cluster finds of a suite's adequacy is what one machine finds."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.clusters.cluster import Cluster, Lost
from conformance.suite.suites import open_suite
from generator.adequacy.cluster_measures import measure_on_cluster
from generator.adequacy.jobs import measure_operator
from generator.adequacy.kept import cases_digest, expectations_in, kept_json
from generator.adequacy.measured_before import find_measured, measurement_key
from generator.making.suite_making import write_generated
from generator.making.workshop import Options
from opcert.vocabulary.errors import InternalError, UserError
from opcert.vocabulary.names import OperatorName

pytestmark = pytest.mark.nightly
_SIZE = OperatorName.parse("ai.onnx::Size-13")


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_generated(tmp_path / "suite", [_SIZE], Options.of("small", None))
    return tmp_path / "suite"


def test_what_is_found_and_kept(
    cluster: Cluster, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []
    with open_suite(suite) as opened:
        measure_on_cluster(cluster, opened, [_SIZE], (), told.append)
        assert len(told) == 1
        measure_on_cluster(cluster, opened, [_SIZE], (), told.append)
        assert len(told) == 1
        key = measurement_key(_SIZE, cases_digest(expectations_in(map(opened.entry, opened.case_ids))), False)
    kept = find_measured(_SIZE, key)
    assert kept is not None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert kept_json(measure_operator(suite, _SIZE)) == kept_json(kept)


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (lambda each: replace(each, kept="{}"), InternalError, "is damaged"),
        (lambda _: Lost("lost"), UserError, "were lost again and again; got ai.onnx::Size-13"),
    ],
)
def test_what_cannot_be_taken(
    cluster: Cluster, suite: Path, change: Callable[[Any], Any], kind: type[Exception], words: str
) -> None:
    class Answering(Cluster):
        def each(self, *asked: Any) -> Generator[tuple[Any, Any], None, None]:
            for unit, answer in cluster.each(*asked):
                yield unit, change(answer)

    changed = Answering(cluster.client, cluster.address, cluster.tell)
    with open_suite(suite) as opened, pytest.raises(kind) as caught:
        measure_on_cluster(changed, opened, [_SIZE], (), lambda _: None)
    assert words in str(caught.value)
