"""Generates a suite under other versions of packages and in other surroundings, and compares the bytes.

    uv run python -m tools.determinism                       # two operators, size small
    uv run python -m tools.determinism --size default Resize-18
    uv run python -m tools.determinism --processors --size default ALL  # the whole suite, in CI

Each row is a suite made by a process of its own. The answer is 1 where a digest differs from the first. The
older packages are put over the project's own by uv, for that process alone. `--processors` makes it as other
processors and other numbers of threads would, and no more; `ALL` is every operator.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from uv import find_uv_bin

ALL = "ALL"


@dataclass(frozen=True)
class Surroundings:
    """What differs from one process to the next: packages, environment variables, the folder it runs in."""

    name: str
    packages: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    elsewhere: bool = False


AS_IT_IS = Surroundings("as it is", variables={"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8"})
OTHER_PROCESS = Surroundings(
    "other hash seed, time zone, locale, threads, folder",
    variables={
        "PYTHONHASHSEED": "4242", "TZ": "Asia/Kathmandu", "LC_ALL": "C", "LANG": "tr_TR.UTF-8",
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
        "PYTHONUTF8": "0", "PYTHONOPTIMIZE": "1", "SOURCE_DATE_EPOCH": "0",
    },
    elsewhere=True,
)  # fmt: skip


def _vector_instructions() -> tuple[str, ...]:
    """What numpy uses of this processor beyond what every processor has, the newest last."""
    described = np.show_config(mode="dicts")
    assert described is not None
    return tuple(described.get("SIMD Extensions", {}).get("found", ()))


def _processor(core: str, without: Sequence[str], threads: int) -> Surroundings:
    named = f"numpy without {' '.join(without)}" if without else "all of numpy's instructions"
    return Surroundings(
        f"OpenBLAS for {core}, {named}, {threads} thread{'s' if threads > 1 else ''}",
        variables={
            "OPENBLAS_CORETYPE": core,
            "NPY_DISABLE_CPU_FEATURES": " ".join(without),
            "OPENBLAS_NUM_THREADS": str(threads),
            "OMP_NUM_THREADS": str(threads),
        },
    )


def processors() -> tuple[Surroundings, ...]:
    """What this processor can be taken for: kernels of OpenBLAS, instructions of numpy, threads.

    A kernel of a newer processor than this one would end the process.
    """
    found = _vector_instructions()
    newest = "SkylakeX" if "X86_V4" in found else "Haswell" if "X86_V3" in found else "Nehalem"
    older = "Haswell" if "X86_V3" in found else "Core2"
    return (
        _processor(newest, (), 2),
        _processor(older, found[1:], 1),
        _processor("Prescott", found, 2),
        _processor("Sandybridge" if "X86_V3" in found else "Prescott", found[-1:], 1),
    )


OLDER = Surroundings("numpy 1.26.4, onnx 1.16.0", ("numpy==1.26.4", "onnx==1.16.0"))
EVERY = (
    AS_IT_IS,
    OTHER_PROCESS,
    OLDER,
    Surroundings("numpy 2.0.2, onnx 1.17.0", ("numpy==2.0.2", "onnx==1.17.0")),
    *processors(),
)


def digest_under(surroundings: Surroundings, words: Sequence[str], folder: Path) -> str:
    """The digest of the suite that `opcert generate` makes there; CalledProcessError where it fails.

    It has a cache of its own, so that nothing is taken from what was made in other surroundings.
    """
    python = [sys.executable]
    if surroundings.packages:
        over = [each for package in surroundings.packages for each in ("--with", package)]
        python = [find_uv_bin(), "run", "--project", str(Path(__file__).parents[1]), *over, "python"]
    ran = subprocess.run(
        [*python, "-m", "opcert", "generate", *words, "-o", str(folder / "suite")],
        env={**os.environ, **surroundings.variables, "XDG_CACHE_HOME": str(folder / "cache")},
        cwd=folder if surroundings.elsewhere else None,
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.split()[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operators", nargs="*", default=["Pad", "Resize-11"])
    parser.add_argument("--size", default="small")
    parser.add_argument("--processors", action="store_true")
    given = parser.parse_args()
    words = [*(operator for operator in given.operators if operator != ALL), "--size", given.size]
    digests = []
    for processor in processors() if given.processors else EVERY:
        with tempfile.TemporaryDirectory(prefix="opcert-") as folder:
            digests.append(digest_under(processor, words, Path(folder)))
        print(f"{digests[-1][:16]}  {processor.name}", flush=True)
    return 0 if len(set(digests)) == 1 else 1


if __name__ == "__main__":
    raise SystemExit(main())
