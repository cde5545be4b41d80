"""`tls://` and `local:N`: who has a certificate of the own authority is spoken to, and nobody else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.clusters.connecting import check_workers, open_cluster
from tests.conformance.clusters.services import Services

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made with openssl"),
]


def certificates(folder: Path, name: str) -> dict[str, str]:
    """An authority and a certificate of it, as Dask's configuration names them."""
    ca, key, own = (folder / f"{name}-{each}.pem" for each in ("ca", "key", "own"))
    authority = folder / f"{name}-ca-key.pem"
    subject = ["-subj", f"/CN={name} authority"]
    new = ["-newkey", "rsa:2048", "-nodes"]
    signed = ["-CA", str(ca), "-CAkey", str(authority), "-CAcreateserial", "-days", "2"]
    for words in (
        ["req", "-x509", *new, *subject, "-days", "2", "-keyout", str(authority), "-out", str(ca)],
        ["req", *new, "-subj", "/CN=own", "-keyout", str(key), "-out", f"{own}.csr"],
        ["x509", "-req", "-in", f"{own}.csr", *signed, "-out", str(own)],
    ):
        subprocess.run(["openssl", *words], check=True, capture_output=True)
    found = {"DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(ca)}
    for who in ("SCHEDULER", "WORKER", "CLIENT"):
        found[f"DASK_DISTRIBUTED__COMM__TLS__{who}__CERT"] = str(own)
        found[f"DASK_DISTRIBUTED__COMM__TLS__{who}__KEY"] = str(key)
    return found


def told(address: str, environment: Mapping[str, str]) -> str:
    """What a client says that has these certificates."""
    code = (
        "import sys\nfrom conformance.clusters.connecting import check_workers, open_cluster\n"
        "with open_cluster(sys.argv[1], print) as cluster:\n    print(len(check_workers(cluster)), 'worker')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, address],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.stdout + done.stderr


def test_own_certificates_open_the_way_and_others_do_not(services: Services, tmp_path: Path) -> None:
    own, other = certificates(tmp_path, "own"), certificates(tmp_path, "other")
    services.scheme, services.environment = "tls", own
    services.scheduler(["--protocol", "tls"])
    services.worker(nanny=False)
    assert "1 worker" in told(services.address, own)
    for settings in (other, {}):
        assert "no scheduler of Dask answers there" in told(services.address, settings)


def _outsider(code: str, address: str) -> str:
    """What another process of this machine says, which has no certificate of the cluster's."""
    words = [sys.executable, "-c", code, address]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    return (done.stdout + done.stderr).strip()


_ASKS = (
    "import distributed, os, sys\n"
    "try:\n"
    "    with distributed.Client(sys.argv[1], timeout=8) as client:\n"
    "        print('ran', client.run_on_scheduler(os.getpid))\n"
    "except Exception as error:\n"
    "    print('refused', type(error).__name__)\n"
)


def test_a_cluster_on_this_machine_takes_its_own_processes_alone(tmp_path: Path) -> None:
    """Whoever has an account here reaches its port; over TCP, Dask would run code for them."""
    with open_cluster("local:1", print) as cluster:
        address = cluster.client.scheduler.address
        assert address.startswith("tls://127.0.0.1:")
        workers = list(cluster.client.scheduler_info()["workers"])
        assert [worker.startswith("tls://127.0.0.1:") for worker in workers] == [True]
        stranger = certificates(tmp_path, "other")
        for reached in (address, *workers):
            plain = reached.replace("tls://", "tcp://")
            assert _outsider(_ASKS, plain).startswith("refused")
            assert _outsider(_ASKS, reached).startswith("refused")
        words = [sys.executable, "-c", _ASKS, address]
        done = subprocess.run(
            words, env={**os.environ, **stranger}, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.stdout.startswith("refused")
        assert len(check_workers(cluster)) == 1
