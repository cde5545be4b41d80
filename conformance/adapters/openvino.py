"""OpenVINO on the CPU: ONNX models through its front end, its own operators one node at a time."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="openvino",
    first_line="OpenVINO on the CPU, computing in float32: its own operators, and ONNX models",
    issues="https://github.com/openvinotoolkit/openvino/issues/new",
    requirements=("openvino",),
    worker="openvino_worker.py",
    unsupported=(
        UnsupportedRule(
            "RuntimeError: Check 'op_node != nullptr' failed at "
            "src/bindings/python/src/pyopenvino/graph/node_factory.cpp:60:\n"
            "Couldn't create operation: Unheard",
            message="Couldn't create operation:",
        ),
        UnsupportedRule(
            "RuntimeError: While validating node 'opset9::NonMaxSuppression NonMaxSuppression_1': Expected "
            "bf16, fp16 or fp32 as element type for the 'boxes' input.",
            message="Expected bf16, fp16 or fp32 as element type",
        ),
        UnsupportedRule(
            "RuntimeError: Model wasn't fully converted.\nSummary:\n"
            "-- No conversion rule found for operations: StringNormalizer-10",
            message="No conversion rule found for operations:",
        ),
        UnsupportedRule(
            "RuntimeError: Exception from src/frontends/onnx/frontend/src/utils/common.cpp:81:\n"
            "Unsupported data type COMPLEX64 expected: BOOL, BFLOAT16, FLOAT4E2M1",
            message=r"Unsupported data type (\S+ )?\s*expected:",
        ),
        UnsupportedRule(
            "RuntimeError: Model wasn't fully converted. Failed operations detailed log:\n"
            "-- CenterCropPad-18 with a message:\nWhile validating ONNX node '<Node(CenterCropPad): Y>': "
            "Exception from src/core/include/openvino/core/type/element_type.hpp:256:\nUnknown type",
            message=r"(?m)^Unknown type$",
        ),
        UnsupportedRule(
            "RuntimeError: [CPU] ExtractImagePatches node with name 'ExtractImagePatches_1' has unsupported "
            "precision: string",
            message=r"has unsupported ('\w+' input )?precision:",
        ),
        UnsupportedRule(
            "RuntimeError: Unsupported operation of type: Interpolate name: Y\nDetails:\n"
            "Not Implemented:\nInterpolate-4 doesn't support input tensor with rank: 5 for 'cubic' mode",
            message=r"(?m)^Not Implemented:$",
        ),
        UnsupportedRule(
            "RuntimeError: tf_crop_and_resize - this type of coordinate transformation mode is not "
            "supported. Choose one of the following modes: asymmetric",
            message="this type of coordinate transformation mode is not supported",
        ),
        UnsupportedRule(
            "RuntimeError: [CPU] Interpolate node with name 'Y' only supports resize on spatial "
            "dimensions(depth, height and width)",
            message="only supports resize on spatial dimensions",
        ),
        UnsupportedRule(
            "RuntimeError: While validating node 'opset11::Interpolate Interpolate_1': Input element "
            "type must be f32, f16, bf16, i8, u8, i64, i32.",
            message="Input element type must be f32",
        ),
        UnsupportedRule(
            "RuntimeError: Unexpected: CPU plug-in doesn't support Unsqueeze operation with dynamic rank. "
            "Operation name: Y",
            message=r"CPU plug-in doesn't support \w+ operation with dynamic rank",
        ),
        UnsupportedRule(
            "RuntimeError: GridSample is only supported for 4D input tensors. Got rank: 5",
            message=r"is only supported for \dD input tensors",
        ),
        UnsupportedRule(
            "RuntimeError: While validating ONNX node '<Node(Pad): Y>': Unsupported padding mode: [wrap]",
            message="Unsupported padding mode:",
        ),
        UnsupportedRule(
            "RuntimeError: While validating ONNX node '<Node(Dropout): Y>':\n"
            "Non-constant training_mode input is not supported.",
            message=r"Non-constant \w+ input is not supported",
        ),
        UnsupportedRule(
            "RuntimeError: FrontEnd API failed with OpConversionFailure:\n"
            "Model wasn't fully converted. Failed operations detailed log:\n-- Dropout-22 with a message:\n"
            "Check '(!training_mode)' failed at src/frontends/onnx/frontend/src/op/dropout.cpp:20:\n"
            "While validating ONNX node '<Node(Dropout): y, m>':\n"
            "Training mode is not supported for Dropout op\n\nSummary:\n"
            "-- Conversion is failed for: Dropout-22",
            message="Training mode is not supported for Dropout op",
        ),
        UnsupportedRule(
            "RuntimeError: FrontEnd API failed with OpConversionFailure:\nThe axes tensor's shape needs "
            "to be known(static). Node: reduced",
            message=r"shape needs to be known\(static\)",
        ),
        UnsupportedRule(
            "RuntimeError: FrontEnd API failed with OpConversionFailure:\nWhile validating ONNX node "
            "'<Node(TopK): Values, Indices>':\nto_shape was called on a dynamic shape.",
            message="to_shape was called on a dynamic shape",
        ),
        UnsupportedRule(
            "RuntimeError: FrontEnd API failed with OpConversionFailure: MaxRoiPool operator only supports "
            "float16, float32, and float64 datatypes.",
            message=r"\w+ operator only supports [\w, ]+ datatypes",
        ),
        UnsupportedRule("RuntimeError: unsupported src_prc: string", message=r"unsupported src_prc: \w+"),
        UnsupportedRule(
            "RuntimeError: CPU plugin does not support string for use with oneDNN.",
            message=r"CPU plugin does not support \w+ for use with oneDNN",
        ),
        UnsupportedRule(
            "RuntimeError: While validating ONNX node '<Node(Constant): output>': Exception from "
            "src/frontends/onnx/onnx_common/src/utils.cpp:60:\nunsupported element type",
            message=r"utils\.cpp:\d+:\nunsupported element type",
        ),
        UnsupportedRule(
            "RuntimeError: -- Mod-28 with a message:\nIf the input type is floating point, then `fmod` "
            "attribute must be set to 1.",
            message="If the input type is floating point, then `fmod` attribute must be set to 1",
        ),
        UnsupportedRule(
            "RuntimeError: -- Shrink-9 with a message:\nThe provided 'lambd' value: -1.5 must not be "
            "negative.",
            message=r"The provided 'lambd' value: \S+ must not be negative",
        ),
        UnsupportedRule(
            "RuntimeError: -- STFT-17 with a message:\nWhile validating ONNX node '<Node(STFT): "
            "output>':\nframe_step input must be a scalar or Shape{1} constant.",
            message=r"input must be a scalar or Shape\{1\} constant",
        ),
        UnsupportedRule(
            "RuntimeError: -- STFT-17 with a message:\nShape of signal input must be static with the "
            "rank equal to 3.",
            message="input must be static with the rank equal to",
        ),
        UnsupportedRule(
            "RuntimeError: -- GlobalLpPool-22 with a message:\nFirst dimension of input data must be static",
            message="First dimension of input data must be static",
        ),
        UnsupportedRule(
            "RuntimeError: -- RotaryEmbedding-23 with a message:\ncos_cache must have static rank >= 2 "
            "and a static last dimension, got: [?,?]",
            message=r"must have static rank >= \d and a static last dimension",
        ),
        UnsupportedRule(
            "RuntimeError: -- DequantizeLinear-28 with a message:\nDequantizeLinear doesn't support "
            "case when dimension of X at axis 1 (4) cannot be divided by block_size (3)",
            message=r"\w+ doesn't support case when ",
        ),
        UnsupportedRule(
            "RuntimeError: -- DequantizeLinear-28 with a message:\nDequantizeLinear cannot operate with "
            "dynamic shapes of input X",
            message="cannot operate with dynamic shapes of input",
        ),
        UnsupportedRule(
            "RuntimeError: -- DFT-20 with a message:\nFFT op input element type must be f32, f16, or bf16",
            message="FFT op input element type must be f32",
        ),
        UnsupportedRule(
            "RuntimeError: -- Conv-22 with a message:\nExpected a 3D, 4D or 5D tensor for the input. Got: "
            "[1,3,3,2,3,4]",
            message="Expected a 3D, 4D or 5D tensor for the input",
        ),
        UnsupportedRule(
            "RuntimeError: Check 'type == ShapeType::Static' failed at "
            "src/plugins/intel_cpu/src/cpu_shape.h:128:\nCannot get dims for non static shape",
            message="Cannot get dims for non static shape",
        ),
        UnsupportedRule(
            "RuntimeError: -- Pad-25 with a message:\nOnly CONSTANT pad mode is supported for "
            "element::string",
            message=r"Only \w+ pad mode is supported for element::",
        ),
        UnsupportedRule(
            "Unsupported: the Python interface of OpenVINO drops NUL at the end of a string",
            error_class="unsupported",
        ),
    ),
)
