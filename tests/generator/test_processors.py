"""A part of the suite, made as on other processors and with other numbers of threads: the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.determinism import digest_under, processors

PART = ("Resize-11", "Resize-18", "--size", "small")
"""128 cases, many with weighted sums: five of them differ where one of two kernels of OpenBLAS adds up."""


def test_the_processors_differ_in_all_that_matters() -> None:
    variables = [processor.variables for processor in processors()]
    for name, least in (("OPENBLAS_CORETYPE", 3), ("OPENBLAS_NUM_THREADS", 2)):
        assert len({variable[name] for variable in variables}) >= least, name
    if len(variables[2]["NPY_DISABLE_CPU_FEATURES"].split()) > 1:
        assert len({variable["NPY_DISABLE_CPU_FEATURES"] for variable in variables}) >= 3


@pytest.mark.nightly
def test_a_suite_has_the_same_bytes_on_every_processor(tmp_path: Path) -> None:
    digests = {}
    for number, processor in enumerate(processors()):
        folder = tmp_path / str(number)
        folder.mkdir()
        digests[processor.name] = digest_under(processor, PART, folder)
    assert len(set(digests.values())) == 1, digests


@pytest.mark.nightly
def test_the_part_would_show_a_product_of_matrices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python imports this module first in every process that makes a suite, and puts the old product in."""
    (tmp_path / "sitecustomize.py").write_text(
        "import numpy as np\n"
        "import reference.numbers.additions as additions\n"
        "def along(axis, matrix, data):\n"
        "    return np.asarray(np.moveaxis(np.tensordot(matrix, data, axes=(1, axis)), 0, axis))\n"
        "additions.along = along\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    digests = set()
    for number, processor in enumerate(processors()[:3]):
        folder = tmp_path / str(number)
        folder.mkdir()
        digests.add(digest_under(processor, PART, folder))
    if len({processor.variables["OPENBLAS_CORETYPE"] for processor in processors()[:3]}) == 3:
        assert len(digests) > 1, "no case of the part shows it any more: take operators whose cases do"
