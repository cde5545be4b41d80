"""ONNX Runtime from its Python package, on one execution provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from conformance.adapters.openvino import ADAPTER as OPENVINO
from conformance.runtimes.adapter import Adapter, UnsupportedRule
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import slug
from opcert.vocabulary.near_names import near_names

PROVIDERS: Mapping[str, tuple[str, str]] = {
    "cpu": ("CPU", "onnxruntime"),
    "openvino": ("OpenVINO", "onnxruntime-openvino"),
    "cuda": ("CUDA", "onnxruntime-gpu"),
    "tensorrt": ("Tensorrt", "onnxruntime-gpu"),
    "directml": ("Dml", "onnxruntime-directml"),
    "migraphx": ("MIGraphX", "onnxruntime-migraphx"),
    "rocm": ("ROCM", "onnxruntime-rocm"),
    "qnn": ("QNN", "onnxruntime-qnn"),
    "cann": ("CANN", "onnxruntime-cann"),
    "webgpu": ("WebGpu", "onnxruntime-webgpu"),
}
"""Providers that are built into ONNX Runtime: their names there, and the builds that have them."""

_OF_PROVIDERS = (
    UnsupportedRule(
        "Fail: [ONNXRuntimeError] : 1 : FAIL : This session contains graph nodes that are assigned to the "
        "default CPU EP, but fallback to CPU EP has been explicitly disabled by the user.",
        message="nodes that are assigned to the default CPU EP, but fallback to CPU EP",
    ),
    UnsupportedRule("FellBack: CPUExecutionProvider ran Mod"),
    UnsupportedRule(
        "InvalidGraph: [ONNXRuntimeError] : 10 : INVALID_GRAPH : Non-zero status code returned while running "
        "ggml_1_0 node. Name:'ggml_ggml_1_0_0' Status Message: model: Conv(): model: Conv(): unsupported: "
        "Conv(): only 2-D convolutions (strides [1], pads [0, 0])",
        message="Status Message: .*\\bunsupported: ",
    ),
)
"""What is said of a case that a provider does not take; on the CPU itself none of this is met."""

_OF_OPENVINO = tuple(
    replace(rule, kind=rf"{rule.kind}|Fail|EPFail") for rule in OPENVINO.unsupported if not rule.error_class
)
"""Its provider hands OpenVINO's own words on."""


def _on_provider(adapter: Adapter, options: Mapping[str, str]) -> tuple[Adapter, dict[str, str]]:
    """ONNX Runtime on the provider that `ep` names: by a name, a plug-in's package, or a library's path.

    Raises UserError where there is no such provider, or where an option says nothing without it.
    """
    told = {name: value for name, value in options.items() if name != "ep" and value != "off"}
    ep = options.get("ep")
    if ep is None:
        lost = next((name for name in ("name", "options", "fallback") if name in told), None)
        if lost is not None:
            raise UserError(f"{lost}= says nothing without a provider", got=lost, expected="ep=PROVIDER, too")
        return adapter, told
    if "provider" in told:
        raise UserError("two options name a provider", got="provider= and ep=", expected="ep= alone")
    wrong = [each for each in told.get("options", "").split(";") if each and "=" not in each.strip("=")]
    if wrong:
        raise UserError(
            "not an option of a provider", got=repr(wrong[0]), expected="options=KEY=VALUE;KEY=VALUE"
        )
    if ep.startswith(("/", ".")):
        if not Path(ep).is_absolute():
            raise UserError(
                "the path of a provider's library is relative",
                got=repr(ep),
                expected="an absolute one, so that records name the same file everywhere",
                remedy=f"Write ep={Path(ep).absolute()}",
            )
        name = told.setdefault("name", slug(Path(ep).name.partition(".")[0].removeprefix("lib")))
        if slug(name) != name:
            raise UserError(
                "not a name for a provider", got=repr(name), expected="letters, digits, . _ and -"
            )
        return _subject(adapter, f"onnxruntime-{name}", adapter.requirements), {**told, "library": ep}
    known, package = PROVIDERS.get(ep.lower(), ("", ep.lower().replace("_", "-")))
    if known:
        return _subject(adapter, package, (package, "numpy")), {**told, "provider": known, "package": package}
    if "-" not in package or "/" in package:
        near = near_names(ep.lower(), PROVIDERS)
        raise UserError(
            "unknown provider",
            got=repr(ep),
            expected=f"one of {', '.join(PROVIDERS)}, a plug-in's package such as onnxruntime-ggml, or the "
            "absolute path of its library",
            remedy=f"Did you mean {' or '.join(near)}?" if near else None,
        )
    return _subject(adapter, package, (package, "onnxruntime")), {**told, "package": package}


def _subject(adapter: Adapter, name: str, requirements: tuple[str, ...]) -> Adapter:
    """The adapter under the name of what is tested: no entry about the CPU's kernels speaks of another's."""
    return replace(
        adapter,
        name=name,
        requirements=requirements,
        companions=adapter.companions if requirements[0] == adapter.name else (),
        unsupported=(
            *_OF_PROVIDERS,
            *(_OF_OPENVINO if "openvino" in name else ()),
            *adapter.unsupported,
        ),
    )


ADAPTER = Adapter(
    name="onnxruntime",
    first_line="ONNX Runtime (package onnxruntime)",
    issues="https://github.com/microsoft/onnxruntime/issues/new",
    requirements=("onnxruntime",),
    worker="onnxruntime_worker.py",
    companions=(("1.19", ("numpy<2",)),),
    options={
        "provider": (),
        "optimization": ("all", "none", "basic", "extended"),
        "ep": (),
        "name": (),
        "options": (),
        "fallback": ("off", "on"),
    },
    refine=_on_provider,
    unsupported=(
        UnsupportedRule(
            "NotImplemented: [ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for "
            "Resize(18) node with name ''",
            message="NOT_IMPLEMENTED",
        ),
        UnsupportedRule(
            "InvalidGraph: [ONNXRuntimeError] : 10 : INVALID_GRAPH : This is an invalid model. In Node, "
            '("", Foo, "", -1) : ("X": tensor(float),) -> ("Y": tensor(float),) , '
            "Error No Op registered for Foo with domain_version of 18",
            message=r"No Op registered for \S+ with domain_version of",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Fatal error: com.microsoft:Foo(-1) is not a registered "
            "function/op",
            message="is not a registered function/op",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Exception during loading: MLDataType for: "
            "tensor(complex64) is not currently registered or supported",
            message=r"MLDataType for: \S+ is not currently registered or supported",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : ValidateOpsetForDomain ONNX Runtime only *guarantees* "
            "support for models stamped with official released onnx opset versions. Opset 99 is under "
            "development and support for this is limited.",
            message=r"Opset \d+ is under development and support for this is limited",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running Resize node. "
            "Name:'' Status Message: ScalesValidation 'Linear' mode only supports:\n  * 2-D inputs or",
            message=r"'(Linear|Cubic)' mode only supports?:",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Exception during initialization: "
            "when anti-aliasing is set, Resize only supports mode `LINEAR` and `CUBIC`.",
            message="when anti-aliasing is set, Resize only supports mode",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Exception during initialization: exclude_outside can be "
            "set to 1 when (1) mode is CUBIC, or (2) mode is LINEAR when anti-aliasing is enabled. Current "
            "mode is set to nearest and anti-aliasing is set to 0",
            message=r"exclude_outside can be set to 1 (only )?when",
        ),
        UnsupportedRule(
            "RuntimeException: [ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Non-zero status code returned "
            "while running Attention node. Name:'' Status Message: Rotary embedding is not supported in "
            "Attention CPU kernel. Please fuse the model with MHA + RotaryEmbedding.",
            message=r"is not supported in \w+ CPU kernel",
        ),
        UnsupportedRule(
            "RuntimeException: [ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Non-zero status code returned "
            "while running MultiHeadAttention node. Name:'' Status Message: Packed KV not implemented for "
            "CPU",
            message=r"Packed Q?KV .*not implemented for CPU",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Exception during initialization: moe_cpu.cc:28 "
            "onnxruntime::contrib::MoE<T>::MoE(const onnxruntime::OpKernelInfo&) [with T = float] CPU MoE "
            "only supports interleaved SwiGLU format. Please set swiglu_fusion=1.",
            message=r"CPU \w+ (only supports|does not support) ",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Unsupported model IR version: 14, max supported IR "
            "version: 13",
            message=r"Unsupported model IR version: \d+, max supported IR version",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Exception during initialization: layout_ == 0 was false. "
            "Batchwise recurrent operations (layout == 1) are not supported.",
            message=r"operations \(layout == 1\) are not supported",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running ConvInteger "
            "node. Name:'' Status Message: Non per-tensor quantization is not supported now.",
            message="quantization is not supported now",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Exception during initialization: Unsupported value "
            "attribute datatype: 17",
            message="Unsupported value attribute datatype:",
        ),
        UnsupportedRule(
            "RuntimeException: [ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Non-zero status code returned "
            "while running ScatterND node. Name:'' Status Message: CPU execution provider: MLFloat16 data "
            "type is not supported with ScatterND opset 16 when reduction is 'add'.",
            message=r"data type is not supported with Scatter\w+ .*when reduction is",
        ),
        UnsupportedRule(
            "InvalidArgument: [ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Non-zero status code returned "
            "while running Conv node. Name:'' Status Message: Dilation not supported for "
            "AutoPadType::SAME_UPPER or AutoPadType::SAME_LOWER.",
            message="Dilation not supported for AutoPadType::",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running MaxPool node. "
            "Name:'' Status Message: input_shape.Size() > 0 || input_shape[0] == 0 was false. "
            "Invalid input shape. Only N can be zero. Got:{2,0,3,7}",
            message=r"Invalid input shape\. Only N can be zero\.",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running Col2Im node. "
            "Name:'' Status Message: col2im.cc:89 Compute 'input' dim[1] (0) must be a positive multiple of "
            "prod(block_shape) (2).",
            message=r"'input' dim\[1\] \(0\) must be a positive multiple of prod\(block_shape\)",
        ),
        UnsupportedRule(
            "InvalidArgument: [ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Non-zero status code returned "
            "while running GlobalMaxPool node. Name:'' Status Message: Unsupported pooling size.",
            message="Unsupported (pooling size|kernel dimension)",
        ),
        UnsupportedRule(
            "RuntimeException: [ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Non-zero status code "
            "returned while running GRU node. Name:'' Status Message: GRU operator does not support "
            "double yet",
            message=r"operator does not support \w+ yet",
        ),
        UnsupportedRule(
            "RuntimeException: [ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Non-zero status code "
            "returned while running RotaryEmbedding node. Name:'' Status Message: Updating cos_cache and "
            "sin_cache in RotaryEmbedding is not currently supported",
            message="in RotaryEmbedding is not currently supported",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running "
            "GridSample node. Name:'' Status Message: input_dims.NumDimensions() == 4 || "
            "input_dims.NumDimensions() == 5 was false. Only 4-D or 5-D tensor is supported",
            message=r"Only \d-D or \d-D tensor is supported",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running "
            "GridSample node. Name:'' Status Message: mode_ != Cubic was false. Only support GridSample "
            "Cubic mode in 4-D cases.",
            message=r"Only support \w+ \w+ mode in \d-D cases",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running "
            "DeformConv node. Name:'' Status Message: deform_conv_attributes.h:122 "
            "DeformConvValidateAndParse Input X must be 4D (N, C, H, W).",
            message=r"Input X must be \dD \(",
        ),
        UnsupportedRule(
            "Fail: [ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running "
            "MatMulInteger node. Name:'' Status Message: IsScalarOr1ElementVector(a_zero_point) was "
            "false. MatmulInteger : input1 zero point must be a scalar or 1D tensor of size 1",
            message="zero point must be a scalar or 1D tensor of size 1",
        ),
        UnsupportedRule(
            "Unsupported: the Python interface of ONNX Runtime takes strings in UTF-8 alone",
            message="takes strings in UTF-8 alone",
            error_class="unsupported",
        ),
        UnsupportedRule(
            "Unsupported: the Python interface of ONNX Runtime takes maps to floats alone, and none without "
            "entries",
            message="takes maps to floats alone",
            error_class="unsupported",
        ),
        UnsupportedRule(
            "RuntimeError: Creation of OrtValues is currently only supported from non-string numpy arrays",
            message="OrtValues is currently only supported from non-string",
        ),
    ),
)
