"""A cluster whose scheduler and workers are threads of this process: it is there in a moment."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import distributed
import pytest

from conformance.clusters.cluster import Cluster
from tests.conformance.clusters.services import Services


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
        ) as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        yield Cluster(client, "inproc", lambda _: None)


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    folder = tmp_path / "services"
    folder.mkdir()
    made = Services(folder)
    try:
        yield made
    finally:
        made.stop()
