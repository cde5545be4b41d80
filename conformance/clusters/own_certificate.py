"""The certificate of a cluster on this machine: its processes know each other by it alone."""

from __future__ import annotations

from datetime import datetime
from typing import Any

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
