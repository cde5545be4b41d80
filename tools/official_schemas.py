"""Hold a run's JUnit file against the schema that Jenkins' xunit plugin has.

    uv run python -m tools.official_schemas

The run is a sample with every verdict; the schema is fetched from a package that carries it, pytest's source
distribution. Tests hold the same file against a structure that was written down for it, without a network.
"""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
from pathlib import Path

import xmlschema

from reports.formats.junit import render as render_junit
from reports.results.case_results import put_together
from tests.reports.sample import Maker, sample_cases
from tools.asked import parser_of

_PYTEST = "pytest==8.4.2"


def fetch_junit_schema(folder: Path) -> str:
    """The XML schema, from pytest's tests of its own JUnit files."""
    download = [
        "pip",
        "download",
        _PYTEST,
        "--no-binary",
        "pytest",
        "--no-deps",
        "--quiet",
        "-d",
        str(folder),
    ]
    subprocess.run(["uv", "run", "--no-project", "--with", "pip", "python", "-m", *download], check=True)
    return _member(next(folder.glob("pytest-*.tar.gz")), "junit-10.xsd")


def _member(archive: Path, name: str) -> str:
    with tarfile.open(archive) as opened:
        for tar_info in opened:
            if tar_info.name.endswith(f"/{name}"):
                file = opened.extractfile(tar_info)
                assert file is not None
                return file.read().decode("utf-8")
    raise SystemExit(f"{archive.name} does not hold {name}")


def main() -> None:
    parser_of(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        schema = fetch_junit_schema(folder)
        made = Maker(folder).make(list(sample_cases(3)), skip=2)
        with made.suite:
            junit = render_junit(put_together(made.suite, made.record))
        xmlschema.XMLSchema(schema).validate(junit.decode())
        print(f"junit.xml: {len(junit)} bytes, valid by junit-10.xsd of {_PYTEST}")


if __name__ == "__main__":
    main()
