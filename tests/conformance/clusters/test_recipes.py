"""The recipe for Kubernetes: its two commands, started as a kubelet would, make a cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.clusters.cluster_run import run_suite_on
from conformance.clusters.connecting import open_cluster
from conformance.running.resuming import RecordPlace
from conformance.running.run_options import RunRequest
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import open_suite
from tests.conformance.clusters.services import Services
from tests.conformance.samples import echo_runtime, make_case, make_suite
from tests.conftest import REPOSITORY, doc_section

_NODES = ("node-1", "node-2")


def _resource() -> dict[str, Any]:
    page = doc_section((REPOSITORY / "docs" / "ci.md").read_text(encoding="utf-8"), "On a cluster")
    blocks = [yaml.safe_load(each) for each in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    (found,) = (block for block in blocks if block["kind"] == "DaskCluster")
    assert isinstance(found, dict)
    return found


def _container(part: str) -> dict[str, Any]:
    (found,) = _resource()["spec"][part]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def _filled(words: list[str], told: dict[str, str]) -> list[str]:
    """A container's command with its `$(NAME)` filled in."""
    return [re.sub(r"\$\((\w+)\)", lambda name: told[name[1]], word) for word in words]


def test_scheduler_and_service_name_the_same_ports() -> None:
    ports = {each["name"]: each["containerPort"] for each in _container("scheduler")["ports"]}
    for each in _resource()["spec"]["scheduler"]["service"]["ports"]:
        assert ports[each["targetPort"]] == each["port"]
    assert ports["tcp-comm"] == 8786


def test_every_mounted_volume_is_there() -> None:
    volumes = {each["name"] for each in _resource()["spec"]["worker"]["spec"]["volumes"]}
    assert {each["name"] for each in _container("worker")["volumeMounts"]} == volumes


@pytest.mark.slow
def test_its_commands_make_a_cluster(services: Services, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    own = ["--port", str(services.port), "--no-dashboard"]
    services.command([*_container("scheduler")["command"], *own], {})
    worker = _container("worker")
    for number, node in enumerate(_NODES):
        told = {"DASK_WORKER_NAME": f"opcert-{number}", "DASK_SCHEDULER_ADDRESS": services.address}
        for each in worker["env"]:
            value = each.get("value") or {"spec.nodeName": node}[each["valueFrom"]["fieldRef"]["fieldPath"]]
            (mounted,) = (each["mountPath"] for each in worker["volumeMounts"])
            told[each["name"]] = value.replace(mounted, str(cache))
        services.command([*_filled(worker["command"], told), "--no-dashboard"], told)
    suite = make_suite(tmp_path, [make_case(seed=each) for each in range(200)])
    with open_suite(suite) as opened, open_cluster(services.address, print) as cluster:
        cluster.client.wait_for_workers(2, timeout=60)
        request = RunRequest(opened, find_runtime(echo_runtime()))
        record = run_suite_on(cluster, request, RecordPlace(tmp_path / "run.jsonl"))
    assert record.counts["pass"] == 200
    assert {result.machine for result in record.results} <= set(_NODES)
