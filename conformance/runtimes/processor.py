"""The processor that a runtime computes on: its model, and the instruction sets that decide what it computes.

One build of a runtime takes other code on another processor, and some of that code rounds or saturates
otherwise: products of uint8 and int8 in ONNX Runtime do on x86 without VNNI.
"""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

FLAGS = (
    *("sse4_1", "sse4_2", "avx", "avx2", "fma", "f16c", "avx_vnni", "avx_vnni_int8", "avx_vnni_int16"),
    *("avx_ifma", "avx_ne_convert", "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl", "avx512ifma"),
    *("avx512vbmi", "avx512_vbmi2", "avx512_vnni", "avx512_bitalg", "avx512_vpopcntdq", "avx512_bf16"),
    *("avx512_fp16", "avx512_vp2intersect", "avx10", "amx_tile", "amx_int8", "amx_bf16", "amx_fp16"),
    *("asimd", "fphp", "asimdhp", "asimddp", "asimdfhm", "fcma", "bf16", "i8mm", "sve", "sve2", "svei8mm"),
    *("svebf16", "sme", "sme2"),
)
"""Instruction sets that runtimes choose their code by, by Linux's own names and in one order."""
_LONGEST = 200
_SYSCTL = ("/usr/sbin/sysctl", "-a")
_SECONDS = 10
_OF_MACOS: Mapping[str, str] = {
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
    "avx1.0": "avx",
    "avx512vnni": "avx512_vnni",
    "avx512bf16": "avx512_bf16",
    "avx512fp16": "avx512_fp16",
    "avx512vbmi2": "avx512_vbmi2",
    "neon": "asimd",
    "advsimd": "asimd",
    "advsimd_hpfpcvt": "asimdhp",
    "feat_fp16": "asimdhp",
    "feat_dotprod": "asimddp",
    "feat_fhm": "asimdfhm",
    "feat_fcma": "fcma",
    "feat_bf16": "bf16",
    "feat_i8mm": "i8mm",
    "feat_sme": "sme",
    "feat_sme2": "sme2",
}
"""What macOS calls otherwise, in small letters."""


@cache
def processor_here() -> Mapping[str, Any]:
    """`model` and `flags` of this machine's processor; the flags are those of `FLAGS` that it has."""
    with suppress(OSError):
        return read_cpuinfo(Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace"))
    if platform.system() == "Darwin":
        with suppress(OSError, subprocess.SubprocessError):
            finished = subprocess.run(_SYSCTL, capture_output=True, timeout=_SECONDS, check=False)
            return read_sysctl(finished.stdout.decode("utf-8", "replace"))
    return _told("", ())


def read_cpuinfo(text: str) -> Mapping[str, Any]:
    """What Linux says: of several processors what they all have, and the model of the first."""
    models: list[str] = []
    sets: list[frozenset[str]] = []
    told: dict[str, str] = {}
    for line in text.splitlines():
        name, _, value = (part.strip() for part in line.partition(":"))
        if name in ("flags", "Features"):
            sets.append(frozenset(value.split()))
        elif name in ("model name", "Model"):
            models.append(value)
        else:
            told.setdefault(name, value)
    arm = " ".join(f"{name} {told[name]}" for name in ("CPU implementer", "CPU part") if name in told)
    return _told(models[0] if models else arm, frozenset.intersection(*sets) if sets else ())


def read_sysctl(text: str) -> Mapping[str, Any]:
    """What macOS says, of Intel's processors and of Apple's own."""
    lines = (line.partition(":") for line in text.splitlines())
    told = {name.strip(): value.strip() for name, _, value in lines}
    words = [
        word
        for name, value in told.items()
        if re.fullmatch(r"machdep\.cpu\.(leaf7_)?features", name)
        for word in value.split()
    ]
    words += [
        name.rpartition(".")[2]
        for name, value in told.items()
        if name.startswith("hw.optional.") and value == "1"
    ]
    names = (word.lower() for word in words)
    return _told(told.get("machdep.cpu.brand_string", ""), {_OF_MACOS.get(name, name) for name in names})


def processor_text(processor: Mapping[str, Any]) -> str:
    """`AMD EPYC (avx, avx2, fma)`, for people; empty where nothing is known."""
    listed = processor.get("flags")
    flags = ", ".join(map(str, listed)) if isinstance(listed, list | tuple) else ""
    model = str(processor.get("model") or "")
    return f"{model or 'unknown'} ({flags})" if flags else model


def _told(model: str, has: Iterable[str]) -> dict[str, Any]:
    known = frozenset(has)
    name = " ".join((model or platform.processor() or platform.machine()).split())[:_LONGEST]
    return {"model": name, "flags": [flag for flag in FLAGS if flag in known]}
