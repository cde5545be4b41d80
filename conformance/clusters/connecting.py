"""Connecting to a scheduler of Dask, or starting one on this machine, and looking at its workers."""

from __future__ import annotations

import ipaddress
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

from conformance.clusters.cluster import Cluster, within
from conformance.clusters.strict_messages import reading_strictly
from conformance.clusters.worker_answers import check_machine, machine_here
from conformance.processes.scratch_folders import scratch_folder
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.strict_json import parse_json

_LOCAL = re.compile(r"local:([0-9]{1,3})", re.ASCII)
_ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx|ucxx)://\S+", re.ASCII)
_EXPECTED = "tcp://HOST:PORT of a scheduler (`dask scheduler`), or local:N for N workers on this machine"
_MOST_LOCAL = 256
CONNECTING = 10.0
"""Seconds that a scheduler has for answering."""
ARRIVING = 120.0
"""Seconds that the first worker has for coming to its scheduler."""
_LOSSES = 10
"""So many workers may be lost with one unit of work before that is not given to another one, on `local:N`."""
PROBING = 45.0
"""Seconds that the workers who are there have for saying what they are."""
_PROBES = 3
_LONGEST_PROBE = 1 << 20
_CODE = """
import json
try:
    from conformance.clusters.worker_answers import machine_here
    found = {"machine": dict(machine_here())}
except BaseException as error:
    name = getattr(error, "name", None)
    found = {"error": [type(error).__name__, str(name or ""), str(error)[:300]]}
answer = json.dumps(found).encode("ascii")
"""
_PROBE = f"(lambda names: (exec({_CODE!r}, names), names['answer'])[1])({{}})"
"""Needs nothing on a worker but Python, whichever it is: what is missing there is an answer as well."""
_PLAIN = ("tcp", "ws", "ucx", "ucxx")
_INSECURE = (
    "Have TLS (tls://, see docs/ci.md), a tunnel to this machine (tcp://127.0.0.1:PORT), or say "
    "--insecure-scheduler where all who reach the network are trusted."
)


@contextmanager
def open_cluster(
    address: str,
    tell: Callable[[str], object],
    arriving: float = ARRIVING,
    *,
    insecure: bool = False,
) -> Iterator[Cluster]:
    """The cluster behind an address, with at least one worker that has this opcert.

    `tell` is told in a sentence what takes time, `arriving` is how many seconds the first worker has. With
    `insecure` the address may be one beyond this machine without TLS. Raises UserError where it is one
    without that, `distributed` is not installed, nobody answers at the address, no worker comes, or one has
    no opcert or another one.
    """
    local = _LOCAL.fullmatch(address)
    if local is None and _ADDRESS.fullmatch(address) is None:
        raise UserError("not a scheduler", got=repr(address), expected=_EXPECTED)
    if local is not None and not 1 <= int(local[1]) <= _MOST_LOCAL:
        raise UserError(
            "not a number of workers", got=repr(address), expected=f"local:1 to local:{_MOST_LOCAL}"
        )
    if local is None and not insecure and _is_open(address):
        raise UserError(
            "this scheduler is beyond this machine, and nothing says who it is or who listens",
            got=address,
            expected="tls://HOST:PORT",
            remedy=_INSECURE,
        )
    distributed = _engine()
    _silence()
    opened = _local(distributed, int(local[1])) if local is not None else _remote(distributed, address)
    with opened as client:
        cluster = Cluster(client, address, tell)
        _await_workers(cluster, arriving)
        check_workers(cluster)
        yield cluster


def _silence() -> None:
    """What Dask logs of lost connections, and of what it cannot read, is told by who waits, in a sentence."""
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _is_open(address: str) -> bool:
    """Whether an address leads beyond this machine, in plain text."""
    scheme, _, rest = address.partition("://")
    if scheme not in _PLAIN:
        return False
    host = rest.partition("/")[0].rpartition("@")[2]
    host = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if host == "localhost":
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True


def _engine() -> Any:
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise UserError(
            "--scheduler needs Dask's distributed, which is not installed here",
            got=f"no module {error.name}",
            remedy="Install it: pip install 'opcert[dask]', here and on every worker.",
        ) from error
    return distributed


@contextmanager
def _remote(distributed: Any, address: str) -> Iterator[Any]:
    class Client(distributed.Client):  # type: ignore[misc] # distributed is typed in part
        def __del__(self) -> None:
            """Whoever had no answer is not waited for once more; the others are closed by `_closing`."""

    with reading_strictly():
        try:
            client = Client(address, timeout=CONNECTING, set_as_default=False)
        except Exception as error:
            raise UserError(
                "no scheduler of Dask answers there",
                got=one_line(f"{address}: {error}", 300),
                expected=_EXPECTED,
                remedy="Look whether it runs, and whether this machine reaches it; `dask scheduler` starts "
                "one. With TLS, both need certificates (docs/ci.md).",
            ) from error
        with _closing(client):
            yield client


@contextmanager
def _local(distributed: Any, workers: int) -> Iterator[Any]:
    import dask

    with (
        scratch_folder("cluster") as folder,
        dask.config.set({"distributed.scheduler.allowed-failures": _LOSSES}),
    ):
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",  # where none is in anybody's way
            local_directory=str(folder),
            silence_logs=logging.CRITICAL,
            protocol="tls://",
            security=own_security(),
        )
        try:
            with _closing(distributed.Client(cluster, set_as_default=False)) as client:
                yield client
        finally:
            with suppress(Exception):
                cluster.close(timeout=CONNECTING)


@contextmanager
def _closing(client: Any) -> Iterator[Any]:
    try:
        yield client
    finally:
        # A scheduler that is gone cannot be told that its client goes, too.
        with suppress(Exception):
            within(2 * CONNECTING, lambda: client.close(timeout=CONNECTING))


def _await_workers(cluster: Cluster, arriving: float) -> None:
    if cluster.threads():
        return
    cluster.tell(f"waiting for workers at {cluster.address}")
    try:
        within(arriving + CONNECTING, lambda: cluster.client.wait_for_workers(1, timeout=arriving))
    except TimeoutError as error:
        raise UserError(
            f"no worker has come to the scheduler within {arriving:g} s",
            got=cluster.address,
            remedy=f"Start some: dask worker {cluster.address}, in an environment that has opcert[dask].",
        ) from error


def check_workers(cluster: Cluster) -> list[Mapping[str, Any]]:
    """What every worker's machine says of itself; UserError with those that have not this opcert."""
    own, machines, wrong = machine_here(), [], []
    for address, raw in sorted(_probed(cluster).items()):
        answer = _read_probe(raw)
        problem = _problem(answer, own)
        if problem is None:
            machines.append(answer["machine"])
        else:
            machine = answer.get("machine")
            name = machine.get("name") if isinstance(machine, dict) else "a machine"
            wrong.append(f"{one_line(str(name), 200)} ({one_line(str(address), 200)}): {problem}")
    if wrong:
        told = "; ".join(wrong[:8]) + (f"; and {len(wrong) - 8} more" if len(wrong) > 8 else "")
        raise UserError(
            "workers cannot do what this opcert asks of them",
            got=told,
            expected=f"opcert {own['opcert']} with sources {own['sources'][:12]} on each, as here",
            remedy="Install this opcert in the environment of these workers and start them again.",
        )
    return machines


def _probed(cluster: Cluster) -> dict[str, Any]:
    """What each worker says to the probe, in bytes."""
    for left in reversed(range(_PROBES)):
        try:
            found: dict[str, Any] = within(
                PROBING, lambda: cluster.client.run(eval, _PROBE, on_error="return")
            )
            return found
        except TimeoutError as error:
            raise UserError(
                f"workers have not said what they are within {PROBING:g} s",
                got=cluster.address,
                remedy="Look whether they all run, and end those that do not answer.",
            ) from error
        except Exception as error:
            if not left:
                raise UserError(
                    "workers do not say what they are",
                    got=one_line(f"{cluster.address}: {type(error).__name__}: {error}", 300),
                    remedy="Look at the scheduler and its workers, and start them again.",
                ) from error
    raise AssertionError


def _read_probe(raw: Any) -> dict[str, Any]:
    """What a worker has said, an object in any case; with `error` where it is something else."""
    if not isinstance(raw, bytes):
        return {"error": [type(raw).__name__, "", str(raw)]}
    try:
        found = parse_json(raw[:_LONGEST_PROBE])
    except ValueError as error:
        return {"error": ["bytes that are none of ours", "", str(error)]}
    return found if isinstance(found, dict) else {"error": ["an answer that is none of ours", "", ""]}


def _problem(said: Mapping[str, Any], own: Mapping[str, Any]) -> str | None:
    """What is wrong with a worker, by what it said to the probe."""
    error, answer = said.get("error"), said.get("machine")
    if isinstance(error, list) and len(error) == 3:
        kind, missing, text = map(str, error)
        if kind == "ModuleNotFoundError" and missing == "conformance":
            return "opcert is not installed"
        if kind in ("ModuleNotFoundError", "ImportError", "AttributeError"):
            return "it has an older opcert, which knows nothing of clusters"
        return one_line(f"it cannot say what it is: {kind}: {text}", 300)
    if not isinstance(answer, dict):
        return "it cannot say what it is"
    if answer.get("opcert") != own["opcert"]:
        return f"it has opcert {one_line(str(answer.get('opcert')), 60)}"
    if answer.get("sources") != own["sources"]:
        told = one_line(str(answer.get("sources")), 60)[:12]
        return f"its opcert {own['opcert']} has other sources: {told}"
    try:
        check_machine(answer)
    except ValueError as error:
        return f"it cannot say what it is: {error}"
    return None


_ROLES = ("client", "scheduler", "worker")
_NAME = "dask-internal"
_FROM, _TO = datetime(1970, 1, 1), datetime(9999, 1, 1)
"""It lives as long as the command, whatever a clock that is set meanwhile says."""


def own_security() -> Any:
    """What `distributed` asks of a connection: TLS, and on both sides a key that this process has made now.

    The key is in the memory of these processes, and in a file of theirs alone while it is read.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID
    from distributed.security import Security

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _NAME)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(_NAME)]), critical=False)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_FROM)
        .not_valid_after(_TO)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    public = made.public_bytes(serialization.Encoding.PEM).decode()
    told = {f"tls_{role}_{what}": pem for role in _ROLES for what, pem in (("key", secret), ("cert", public))}
    return Security(require_encryption=True, tls_ca_file=public, **told)
