"""Runtimes as they are named on the command line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.runtimes.runtimes import find_runtime, install, list_runtimes
from opcert.commands import cli
from opcert.vocabulary.errors import UserError


def test_a_built_in_runtime_may_have_a_version_and_options() -> None:
    plain = find_runtime("onnxruntime")
    assert plain.requirements[0] == "onnxruntime"
    assert plain.options["optimization"] == "all"
    for text in ("onnxruntime==1.20.1[optimization=none]", "onnxruntime[optimization=none]==1.20.1"):
        found = find_runtime(text)
        assert found.requirements[0] == "onnxruntime==1.20.1"
        assert found.options["optimization"] == "none"
    both = find_runtime("onnxruntime[provider=CPU, optimization=none]").options
    assert both == {"provider": "CPU", "optimization": "none"}
    assert find_runtime("onnxruntime==1.20.1").slug == "onnxruntime-1.20.1"


@pytest.mark.parametrize(
    ("text", "name", "requirements", "options"),
    [
        ("[ep=openvino]==1.24.1", "onnxruntime-openvino", ("onnxruntime-openvino==1.24.1", "numpy"),
         {"provider": "OpenVINO", "package": "onnxruntime-openvino"}),
        ("[ep=CPU]==1.18.1", "onnxruntime", ("onnxruntime==1.18.1", "numpy", "numpy<2"),
         {"provider": "CPU", "package": "onnxruntime"}),
        ("[ep=onnxruntime_ggml,fallback=on]==0.2.0", "onnxruntime-ggml",
         ("onnxruntime-ggml==0.2.0", "onnxruntime"), {"package": "onnxruntime-ggml", "fallback": "on"}),
        ("[ep=/opt/npu/libnpu_ep.so,options=a=1;b=2]", "onnxruntime-npu_ep", ("onnxruntime",),
         {"library": "/opt/npu/libnpu_ep.so", "name": "npu_ep", "options": "a=1;b=2"}),
        ("[ep=/opt/npu/libnpu_ep.so,name=npu]", "onnxruntime-npu", ("onnxruntime",),
         {"library": "/opt/npu/libnpu_ep.so", "name": "npu"}),
    ],
)  # fmt: skip
def test_a_provider_of_onnx_runtime_is_a_runtime_of_its_own_name(
    text: str, name: str, requirements: tuple[str, ...], options: dict[str, str]
) -> None:
    """Its name is its own, so that no entry about the CPU's kernels explains what it does."""
    found = find_runtime(f"onnxruntime{text}")
    assert (found.adapter.name, found.requirements) == (name, requirements)
    assert found.options == {"optimization": "all", **options}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("onnxrutime", "Did you mean onnxruntime"),
        ("zzz", "unknown runtime"),
        ("backend", "unknown runtime"),
        ("onnxruntime==", "not a runtime"),
        ("onnxruntime[a=1]==1[b=2]", "not a runtime"),
        ("onnxruntime[speed=high]", "no such option"),
        ("onnxruntime[optimization]", "no such option"),
        ("onnxruntime[optimization=some]", "does not take this value"),
        ("onnxruntime[optimisation=none]", "Did you mean optimization"),
        ("onnxruntime[optimization=extend]", "Did you mean extended"),
        ("onnxruntime[optimization=none,optimization=all]", "given twice"),
        ("openvino[device=GPU]", "expected no options"),
        ("onnxruntime[ep=opnvino]", "unknown provider.*Did you mean openvino"),
        ("onnxruntime[ep=./npu.so]", "is relative.*Write ep=/.*npu.so"),
        ("onnxruntime[ep=cpu,provider=CPU]", "two options name a provider"),
        ("onnxruntime[fallback=on]", "says nothing without a provider"),
        ("onnxruntime[options=a=1]", "says nothing without a provider"),
        ("onnxruntime[ep=openvino,fallback=some]", "does not take this value"),
        ("onnxruntime[ep=openvino,options=fast]", "not an option of a provider"),
        ("onnxruntime[ep=/x/a.so,name=a/b]", "not a name for a provider"),
        ("", "not a runtime"),
        ("../x", "not a runtime"),
        ("exec:", "no such program"),
        ("exec:program-of-nowhere --x", "no such program"),
        ("exec:'", "not a command"),
    ],
)
def test_what_is_no_runtime_is_said_to_be_none(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        find_runtime(text)


def test_a_backend_gets_the_path_of_the_caller_made_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"relative{os.pathsep}/absolute{os.pathsep}")
    installed = install(find_runtime("package.module:Outer.Inner"), lambda sentence: None)
    assert installed.launch.options == {"backend": "package.module:Outer.Inner"}
    assert installed.launch.environment["PYTHONPATH"] == f"{Path.cwd() / 'relative'}{os.pathsep}/absolute"
    assert installed.launch.command[0] == sys.executable


def test_a_program_gets_absolute_paths_of_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "worker.py").write_text("")
    monkeypatch.chdir(tmp_path)
    found = find_runtime(f"exec:{sys.executable} worker.py --flag 'two words'")
    assert found.command == (sys.executable, str(tmp_path / "worker.py"), "--flag", "two words")
    with pytest.raises(UserError, match="--python has no meaning"):
        find_runtime("exec:cat", "python3")


def test_runtimes_are_listed() -> None:
    printed = CliRunner().invoke(cli, ["list", "runtimes"]).stdout
    for name in (*list_runtimes(), "module:Backend", "exec:COMMAND"):
        assert name in printed
