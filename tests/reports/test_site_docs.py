"""docs/site.md: its commands are taken out of the page and run as they stand, on fakes and small suites."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.command_line import identity_suite
from tests.conformance.samples import FAKES


def blocks(page: str) -> list[str]:
    return re.findall(r"```bash\n(.*?)```", page, re.DOTALL)


@pytest.mark.slow
def test_the_commands_run_as_they_stand(repository: Path, tmp_path: Path) -> None:
    (all_runs, with_address) = blocks((repository / "docs" / "site.md").read_text())
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "opcert").write_text(f'#!/bin/sh\nexec {sys.executable} -m opcert "$@"\n')
    (binaries / "opcert").chmod(0o755)
    surroundings = {
        **os.environ,
        "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{FAKES}{os.pathsep}{repository}",
        "RUNTIMES": "fake_backends:Good fake_backends:Raises",
        "SUITE": str(identity_suite(tmp_path, 3)),
    }
    for lines in (all_runs, with_address):
        subprocess.run(["bash", "-uc", lines], check=True, cwd=tmp_path, env=surroundings)
    page = (tmp_path / "public" / "index.html").read_text()
    assert "What 2 runtimes make of 1 operator" in page
    assert "https://example.org/opcert/index.html" in (tmp_path / "public" / "feed.xml").read_text()
    broken = {**surroundings, "RUNTIMES": "fake_backends:Missing fake_backends:Good"}
    assert subprocess.run(["bash", "-uc", all_runs], cwd=tmp_path, env=broken).returncode != 0


def test_every_page_and_option_that_the_document_names_is_there(repository: Path) -> None:
    text = (repository / "docs" / "site.md").read_text()
    source = (repository / "opcert" / "commands" / "site_command.py").read_text()
    assert '"--address"' in source
    assert '"-s"' in source
    links = (repository / "reports" / "sites" / "site_page.py").read_text()
    for name in ("operators", "runtimes", "causes", "changes", "feed.xml", "changes.html", "causes.html"):
        assert f"`{name}" in text or f", `{name}" in text
        assert f'"{name}"' in links
    assert (repository / "docs" / "site.png").is_file()
