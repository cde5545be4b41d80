"""Suites that a cluster makes are those of one machine, bit for bit."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.clusters.cluster import Cluster
from conformance.clusters.worker_answers import Lost
from generator.making.operators.workshop import Options
from generator.making.suites.suite_making import make_on_cluster, write_generated
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName

pytestmark = pytest.mark.nightly
_NAMES = [OperatorName.parse(f"ai.onnx::{each}") for each in ("Relu-14", "Abs-13")]
_SMALL = Options.of("small", None)


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


class Answering(Cluster):
    """A cluster whose answers somebody has changed."""

    def __init__(self, inner: Cluster, change: Callable[[Any], Any]) -> None:
        super().__init__(inner.client, inner.address, inner.tell)
        self._change = change

    def each(
        self, function: Callable[..., Any], units: Iterator[tuple[Any, tuple[Any, ...]]]
    ) -> Generator[tuple[Any, Any], None, None]:
        for unit, answer in super().each(function, units):
            yield unit, self._change(answer)


def test_a_suite_of_a_cluster(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    digest = write_generated(
        tmp_path / "many",
        _NAMES,
        _SMALL,
        progress=lambda each: told.append(str(each)),
        keep=True,
        cluster=cluster,
    )
    assert sum("was made on" in each for each in told) == 2
    # They are kept: the next suite needs no cluster.
    gone = Answering(cluster, lambda _: pytest.fail("nothing is to be made"))
    assert write_generated(tmp_path / "again", _NAMES, _SMALL, keep=True, cluster=gone) == digest
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert write_generated(tmp_path / "one", _NAMES, _SMALL, keep=True) == digest
    for path in filter(Path.is_file, (tmp_path / "one").rglob("*")):
        assert path.read_bytes() == (tmp_path / "many" / path.relative_to(tmp_path / "one")).read_bytes()


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (lambda each: replace(each, part=zlib.compress(b"0" * 80)), UserError, "are damaged"),
        (lambda each: replace(each, part=each.part[:-20]), UserError, "are damaged"),
        (lambda each: replace(each, key="0" * 64), UserError, "made of something else"),
        (lambda _: Lost("lost"), UserError, "were lost again and again; got ai.onnx::Relu-14"),
    ],
)
def test_a_part_that_cannot_be_taken(
    cluster: Cluster, change: Callable[[Any], Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind) as caught:
        make_on_cluster(Answering(cluster, change), _NAMES[:1], _SMALL)
    assert words in str(caught.value)
