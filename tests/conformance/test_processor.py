"""What a record says of the processor that it ran on, and of the build of the runtime."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from conformance.runtimes.installers import find_node_package, find_wheel
from conformance.runtimes.processor import (
    FLAGS,
    processor_here,
    processor_text,
    read_cpuinfo,
    read_sysctl,
)

LINUX = """\
processor\t: 0
model name\t: AMD  EPYC 9354
flags\t\t: fpu sse4_2 avx avx2 fma f16c avx512f avx512_vnni

processor\t: 1
model name\t: AMD EPYC 9354
flags\t\t: fpu sse4_2 avx avx2 fma f16c
"""
ARM = """\
processor\t: 0
Features\t: fp asimd evtstrm asimdhp asimddp sve i8mm bf16
CPU implementer\t: 0x41
CPU part\t: 0xd40
"""
INTEL_MAC = """\
hw.optional.avx512f: 0
hw.optional.avx2_0: 1
machdep.cpu.brand_string: Intel(R) Core(TM) i7
machdep.cpu.features: FPU SSE4.2 FMA AVX1.0 F16C
machdep.cpu.leaf7_features: BMI1 AVX2
"""
APPLE = """\
machdep.cpu.brand_string: Apple M2
hw.optional.AdvSIMD: 1
hw.optional.arm.FEAT_DotProd: 1
hw.optional.arm.FEAT_I8MM: 1
hw.optional.arm.FEAT_SME: 0
"""


def test_linux_says_what_all_processors_have() -> None:
    found = read_cpuinfo(LINUX)
    assert found == {"model": "AMD EPYC 9354", "flags": ["sse4_2", "avx", "avx2", "fma", "f16c"]}
    assert processor_text(found) == "AMD EPYC 9354 (sse4_2, avx, avx2, fma, f16c)"


def test_arm_on_linux() -> None:
    assert read_cpuinfo(ARM) == {
        "model": "CPU implementer 0x41 CPU part 0xd40",
        "flags": ["asimd", "asimdhp", "asimddp", "bf16", "i8mm", "sve"],
    }


@pytest.mark.parametrize(
    ("said", "model", "flags"),
    [
        (INTEL_MAC, "Intel(R) Core(TM) i7", ["sse4_2", "avx", "avx2", "fma", "f16c"]),
        (APPLE, "Apple M2", ["asimd", "asimddp", "i8mm"]),
    ],
)
def test_macos(said: str, model: str, flags: list[str]) -> None:
    assert read_sysctl(said) == {"model": model, "flags": flags}


def test_this_machine_is_named() -> None:
    found = processor_here()
    assert found["model"]
    assert set(found["flags"]) <= set(FLAGS)


def test_what_nobody_knows_is_said_as_nothing() -> None:
    assert processor_text({}) == ""
    assert processor_text({"model": "x", "flags": 7}) == "x"


def test_a_wheel_is_known_by_its_own_files_whoever_installed_it(tmp_path: Path) -> None:
    own = ["example/__init__.py,sha256=a,1", "example_pkg-2.0.dist-info/WHEEL,sha256=b,2"]
    added = [
        "../../../bin/example,sha256=c,3",
        "example_pkg-2.0.dist-info/INSTALLER,sha256=d,4",
        "example/__pycache__/x.pyc,,",
        "example_pkg-2.0.dist-info/RECORD,,",
    ]
    facts = tmp_path / "lib/python3.11/site-packages/example_pkg-2.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "WHEEL").write_text("Wheel-Version: 1.0\nTag: cp311-cp311-manylinux_2_28_x86_64\n")
    for lines in (own, [*reversed(own), *added]):
        (facts / "RECORD").write_text("\n".join(lines) + "\n")
        found = find_wheel(tmp_path, "Example-Pkg")
        assert found == {
            "file": "example_pkg-2.0-cp311-cp311-manylinux_2_28_x86_64.whl",
            "contents": hashlib.sha256(
                b"example/__init__.py,sha256=a\nexample_pkg-2.0.dist-info/WHEEL,sha256=b\n"
            ).hexdigest(),
        }
    (facts / "RECORD").write_text("example/__init__.py,sha256=other,1\n")
    assert find_wheel(tmp_path, "example_pkg") != found
    assert find_wheel(tmp_path, "another") is None


def test_a_package_of_npm_is_known_by_what_its_registry_states(tmp_path: Path) -> None:
    listed = {"node_modules/example": {"version": "1.2.0", "integrity": "sha512-abc="}}
    (tmp_path / "package-lock.json").write_text(json.dumps({"packages": listed}))
    assert find_node_package(tmp_path, "example") == {
        "file": "example-1.2.0.tgz",
        "integrity": "sha512-abc=",
    }
    assert find_node_package(tmp_path, "another") is None
