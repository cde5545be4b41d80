"""The files that lie beside a certificate: made anew where it gives them, and named where nobody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from reports.certificates.badges import render_certificate_badge, render_run_badge
from reports.certificates.certificate import Certificate
from reports.certificates.certificate_page import render_certificate_page
from reports.results.case_results import Results

NOT_LOOKED_AT = (
    "index.html",
    "junit.xml",
    "report.md",
    "report.json",
    "cases.csv",
    "explanations.json",
)
"""What `certify` and `report` write that hangs on more than the certificate does."""
_LARGEST = 64 << 20


def find_wrong_files(
    folder: Path, results: Results, certificate: Certificate, key_id: str | None
) -> Iterator[tuple[str, bool]]:
    """Each file that the certificate gives and that is there, and whether it has the bytes it must have."""
    made: dict[str, Callable[[], str]] = {
        "certificate-badge.json": lambda: render_certificate_badge(certificate),
        "certificate.html": lambda: render_certificate_page(certificate, key_id),
        "badge.json": lambda: render_run_badge(results),
    }
    for name, render in made.items():
        path = folder / name
        if path.is_file():
            wanted = render().encode("utf-8", "backslashreplace")
            yield name, path.stat().st_size <= _LARGEST and path.read_bytes() == wanted


def list_others(folder: Path) -> list[str]:
    """The files of ours that lie there and that are not looked at."""
    return [each for each in NOT_LOOKED_AT if (folder / each).exists()]
