"""tract, an inference engine in Rust, from its Python package."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="tract",
    first_line="tract on the CPU (package tract): ONNX models, parameters as constants",
    requirements=("tract",),
    worker="tract_worker.py",
    unsupported=(
        UnsupportedRule(
            'TractError: Translating node #1 "Y" Unimplemented(CenterCropPad) ToTypedTranslator\n\n'
            "Caused by:\n    Operator can not be made a TypedOp.",
            kind="TractError",
            message=r"node #\d+ \S+ Unimplemented\(\w+\)",
        ),
        UnsupportedRule(
            'TractError: Translating node #2 "output" Pad ToTypedTranslator\n\n'
            "Caused by:\n    Expect padding to be constant",
            kind="TractError",
            message=r"(?m)^ +Expect (\w+ to be constant|constant .*)$",
        ),
        UnsupportedRule(
            'TractError: Translating node #2 "output" Pad ToTypedTranslator\n\n'
            "Caused by:\n    Pad constant input must be constant",
            kind="TractError",
            message=r"(?m)^ +.* must be (constant|a const)$",
        ),
        UnsupportedRule(
            "TractError: Building node  (QuantizeLinear)\n\n"
            "Caused by:\n    QuantizeLinear: blocked quantization is not supported",
            kind="TractError",
            message=r"(?m)^ +\w+: .* is not supported$",
        ),
        UnsupportedRule(
            "TractError: Building node  (Cast)\n\nCaused by:\n    Unknown DatumType Float8e4m3fn",
            kind="TractError",
            message="Unknown DatumType ",
        ),
        UnsupportedRule(
            "TractError: Building node  (Cast)\n\n"
            "Caused by:\n    unknown ONNX TensorProto.DataType (26): unknown enumeration value 26",
            kind="TractError",
            message=r"unknown ONNX TensorProto\.DataType \(\d+\)",
        ),
        UnsupportedRule(
            "TractError: Unsupported DatumType in the public API TDim",
            kind="TractError",
            message="Unsupported DatumType in the public API",
        ),
        UnsupportedRule(
            'TractError: Evaluating #1 "reduced.sum" Reduce<Sum>\n\nCaused by:\n    U8 is not a number',
            kind="TractError",
            message=r"(?m)^ +(\d+: )?(Bool|[UIF]\d+|String) is not a number$",
        ),
        UnsupportedRule(
            'TractError: Evaluating #1 "Y" HardSwish\n\nCaused by:\n    HardSwish does not support F64',
            kind="TractError",
            message=r"(?m)^ +(\d+: )?\w+ does not support (Bool|[UIF]\d+|String)$",
        ),
        UnsupportedRule(
            "TractError: Building node  (Pad)\n\nCaused by:\n    Unsupported mode wrap",
            kind="TractError",
            message=r"(?m)^ +Unsupported mode \w+$",
        ),
        UnsupportedRule(
            'TractError: Translating node #2 "output" Compress ToTypedTranslator\n\n'
            'Caused by:\n    Node #2 "output" Compress can not be typed',
            kind="TractError",
            message=r'(?m)^ +Node #\d+ ".*" \w+ can not be typed$',
        ),
        UnsupportedRule(
            'TractError: Translating node #1 "output" ConstantOfShape ToTypedTranslator\n\n'
            "Caused by:\n    shape input is variable",
            kind="TractError",
            message=r"(?m)^ +shape input is variable$",
        ),
    ),
)
