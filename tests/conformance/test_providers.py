"""ONNX Runtime on other execution providers: what they do not take is never theirs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from conformance.runtimes.runtimes import environment_state, find_runtime
from conformance.suite.cases import Case
from opcert.vocabulary.tensors import tensor
from tests.conformance.conversation import Conversation, RuntimeRefused, make_case
from tests.conformance.runtime_checks import (
    assert_moved_unharmed,
    converse,
    environment_of,
    numbers,
    refusal,
    rule_of,
)

GGML = pytest.mark.runtimes("onnxruntime-ggml-onnxruntime")
_LINE = numbers((3,))
_TAKEN = make_case("ai.onnx::Identity-13", [("X", _LINE)])
_LEFT = make_case("ai.onnx::Det-11", [("X", numbers((2, 2)))], output=tensor(np.array(0, np.float32)))
_FOLDED = make_case("ai.onnx::Constant-13", [], {"value": ("tensor", _LINE)}, _LINE)


def _on(text: str) -> Conversation:
    found = find_runtime(f"onnxruntime[{text}]")
    return converse(found.adapter, **found.options)


@GGML
def test_what_a_plug_in_does_not_take_is_unsupported_in_the_words_of_the_session() -> None:
    found = find_runtime("onnxruntime[ep=onnxruntime-ggml]")
    with _on("ep=onnxruntime-ggml") as conversation:
        installed = environment_of(found.adapter).packages["onnxruntime-ggml"]
        assert conversation.hello["runtime"] == {"name": "onnxruntime-ggml", "version": installed}
        assert conversation.hello["devices"] == ["ggml"]
        assert_moved_unharmed(conversation, _TAKEN)
        rule = rule_of(found.adapter, conversation, _LEFT)
        assert rule is not None
        assert "fallback to CPU EP has been explicitly disabled" in rule.example
        # What is folded away before a provider sees it would pass without one.
        _assert_fell_back(conversation, _FOLDED, "no node came to ggml")


@GGML
def test_what_fell_back_is_told_with_who_ran_it_and_is_no_answer() -> None:
    with _on("ep=onnxruntime-ggml,fallback=on") as conversation:
        assert_moved_unharmed(conversation, _TAKEN)
        _assert_fell_back(conversation, _LEFT, "CPUExecutionProvider ran Det")
        _assert_fell_back(conversation, _FOLDED, "no node came to ggml")


def _assert_fell_back(conversation: Conversation, case: Case, said: str) -> None:
    seen = refusal(conversation, case)
    assert (seen.kind, seen.message[: len(said)]) == ("FellBack", said)
    adapter = find_runtime("onnxruntime[ep=onnxruntime-ggml]").adapter
    assert adapter.find_rule(seen.kind, seen.message, seen.error_class) is not None


@pytest.mark.runtimes("onnxruntime-openvino-numpy")
def test_a_provider_that_is_built_in_takes_options_of_its_own_and_refuses_others() -> None:
    with _on("ep=openvino,options=device_type=CPU") as conversation:
        assert conversation.hello["runtime"]["name"] == "onnxruntime-openvino"
        assert_moved_unharmed(conversation, _TAKEN)
        assert rule_of(find_runtime("onnxruntime[ep=openvino]").adapter, conversation, _LEFT) is not None
    with pytest.raises(RuntimeRefused, match="Invalid OpenVINO EP option: colour"):
        _on("ep=openvino,options=colour=red")


_SOURCES = {
    "dies": ("__attribute__((constructor)) static void go(void) { __builtin_trap(); }", "ends the process"),
    "other": ("int x;", "undefined symbol: CreateEpFactories"),
}


@pytest.mark.runtimes("onnxruntime")
@pytest.mark.parametrize("name", _SOURCES)
@pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler is absent")
def test_a_library_that_is_no_provider_is_told_in_words(tmp_path: Path, name: str) -> None:
    source, said = _SOURCES[name]
    (tmp_path / f"{name}.c").write_text(source)
    library = tmp_path / f"lib{name}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / f"{name}.c"], check=True)
    with pytest.raises(RuntimeRefused, match=said):
        _on(f"ep={library}")


@pytest.mark.runtimes("onnxruntime")
def test_a_library_beside_the_environment_may_change_unseen() -> None:
    assert environment_state(find_runtime("onnxruntime")) is not None
    assert environment_state(find_runtime("onnxruntime[ep=/opt/npu/libnpu.so]")) is None


@pytest.mark.runtimes("onnxruntime")
def test_a_library_that_is_not_there_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(RuntimeRefused, match=r"Failed to load library \S+/none\.so"):
        _on(f"ep={tmp_path / 'none.so'}")
