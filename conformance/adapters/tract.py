"""tract, an inference engine in Rust, from its Python package."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="tract",
    first_line="tract on the CPU (package tract): ONNX models, parameters as constants",
    issues="https://github.com/sonos/tract/issues/new",
    requirements=("tract",),
    worker="tract_worker.py",
    unsupported=(
        UnsupportedRule(
            'TractError: Translating node #1 "Y" Unimplemented(CenterCropPad) ToTypedTranslator\n\n'
            "Caused by:\n    Operator can not be made a TypedOp.",
            message=r"node #\d+ \S+ Unimplemented\(\w+\)",
        ),
        UnsupportedRule(
            'TractError: Translating node #2 "output" Pad ToTypedTranslator\n\n'
            "Caused by:\n    Expect padding to be constant",
            message=r"(?m)^ +(\d+: )?Expect (\w+ to be constant|constant .*)$",
        ),
        UnsupportedRule(
            'TractError: Translating node #2 "output" Pad ToTypedTranslator\n\n'
            "Caused by:\n    Pad constant input must be constant",
            message=r"(?m)^ +.* must be (constant|a const|a constant)$",
        ),
        UnsupportedRule(
            "TractError: Building node  (QuantizeLinear)\n\n"
            "Caused by:\n    QuantizeLinear: blocked quantization is not supported",
            message=r"(?m)^ +\w+: .* is not supported$",
        ),
        UnsupportedRule(
            'TractError: Evaluating #3 "output" Dropout\n\n'
            "Caused by:\n    Dropout in training mode with a non-zero ratio is not supported",
            message=r"(?m)^ +Dropout in training mode .* is not supported$",
        ),
        UnsupportedRule(
            'TractError: Evaluating #1 "output" Multinomial\n\n'
            "Caused by:\n    Unsupported input datum type for Multinomial: F16",
            message=r"(?m)^ +Unsupported input datum type for \w+: \w+$",
        ),
        UnsupportedRule(
            'TractError: Translating node #5 "output" MelWeightMatrix ToTypedTranslator\n\nCaused '
            "by:\n    Expect all inputs to be constants",
            message="(?m)^ +Expect all inputs to be constants$",
        ),
        UnsupportedRule(
            'TractError: Translating node #6 "Y" GRU ToTypedTranslator\n\nCaused by:\n    Non '
            "uniform seq_len is not supported",
            message=r"(?m)^ +Non \w+ seq_len is not supported$",
        ),
        UnsupportedRule(
            'TractError: Translating node #6 "Y" GRU ToTypedTranslator\n\nCaused by:\n    seq_len '
            "only supported for trivial noop case",
            message="(?m)^ +seq_len only supported for ",
        ),
        UnsupportedRule(
            'TractError: Translating node #3 "output" Dft ToTypedTranslator\n\nCaused by:\n    Axis '
            "input must be a known scalar",
            message="(?m)^ +Axis input must be a known scalar$",
        ),
        UnsupportedRule(
            'TractError: Translating node #4 "output" STFT ToTypedTranslator\n\nCaused by:\n    '
            "STFT expects a constant window",
            message=r"(?m)^ +\w+ expects a constant \w+$",
        ),
        UnsupportedRule(
            'TractError: Translating node #1 "output" Multinomial ToTypedTranslator\n\nCaused by:\n '
            "   1: Only constant input shape are supported in Multinomial",
            message=r"(?m)^ +(\d+: )?Only constant input shape are supported in \w+$",
        ),
        UnsupportedRule(
            'TractError: Evaluating #4 "Y" Scan\n\nCaused by:\n    2: GruEpilogue only supports f32 '
            "and f16 preactivations, got F64",
            message=r"(?m)^ +(\d+: )?\w+ only supports \w+ and \w+ preactivations, got \w+$",
        ),
        UnsupportedRule(
            'TractError: Evaluating #1 "y" DequantizeLinearF32\n\nCaused by:\n    Unsupported type U16',
            message=r"(?m)^ +Unsupported type \w+$",
        ),
        UnsupportedRule(
            "TractError: Building node  (Cast)\n\nCaused by:\n    Unknown DatumType Float8e4m3fn",
            message="Unknown DatumType ",
        ),
        UnsupportedRule(
            "TractError: Building node  (Cast)\n\n"
            "Caused by:\n    unknown ONNX TensorProto.DataType (26): unknown enumeration value 26",
            message=r"unknown ONNX TensorProto\.DataType \(\d+\)",
        ),
        UnsupportedRule(
            "TractError: Unsupported DatumType in the public API TDim",
            message="Unsupported DatumType in the public API",
        ),
        UnsupportedRule(
            'TractError: Evaluating #1 "reduced.sum" Reduce<Sum>\n\nCaused by:\n    U8 is not a number',
            message=r"(?m)^ +(\d+: )?(Bool|[UIF]\d+|String) is not a number$",
        ),
        UnsupportedRule(
            'TractError: Evaluating #1 "Y" HardSwish\n\nCaused by:\n    HardSwish does not support F64',
            message=r"(?m)^ +(\d+: )?\w+ does not support (Bool|[UIF]\d+|String)$",
        ),
        UnsupportedRule(
            "TractError: Building node  (LinearRegressor)\n\n"
            "Caused by:\n    PROBIT and SOFTMAX_ZERO unsupported",
            message=r"(?m)^ +\w+( and \w+)* unsupported$",
        ),
        UnsupportedRule(
            "TractError: Building node  (Pad)\n\nCaused by:\n    Unsupported mode wrap",
            message=r"(?m)^ +Unsupported mode \w+$",
        ),
        UnsupportedRule(
            'TractError: Translating node #2 "output" Compress ToTypedTranslator\n\n'
            'Caused by:\n    Node #2 "output" Compress can not be typed',
            message=r'(?m)^ +Node #\d+ ".*" \w+ can not be typed$',
        ),
        UnsupportedRule(
            'TractError: Translating node #1 "output" ConstantOfShape ToTypedTranslator\n\n'
            "Caused by:\n    shape input is variable",
            message=r"(?m)^ +shape input is variable(, .*)?$",
        ),
        UnsupportedRule(
            'TractError: Translating node #2 "reduced" Reduce13 ToTypedTranslator\n\n'
            "Caused by:\n    expected axes as a constant",
            message=r"(?m)^ +(\w+ expected to be a const|expected \w+ as a constant|"
            r"Need \w+ to be a constant.*)$",
        ),
        UnsupportedRule(
            'TractError: Translating node #5 "output" StridedSlice ToTypedTranslator\n\n'
            "Caused by:\n    0: in output_facts invocation for output: StridedSlice\n"
            "    1: StridedSlice is typable only if stride is a const",
            message=r"(?m)^ +(\d+: )?\w+ is typable only if \w+ is a const$",
        ),
        UnsupportedRule(
            'TractError: Translating node #3 "output" OneHot ToTypedTranslator\n\n'
            "Caused by:\n    Expected dim and value to be determined, got 1,F32 and 2,F32",
            message=r"(?m)^ +Expected dim and value to be determined, got ",
        ),
        UnsupportedRule(
            'TractError: Translating node #1 "output" DepthToSpace ToTypedTranslator\n\n'
            "Caused by:\n    Undetermined symbol in expression: input_1",
            message=r"(?m)^ +(\d+: )?Undetermined symbol in expression: [\w()*+/ -]+$",
        ),
        UnsupportedRule(
            'TractError: Failed analyse for node #1 "output" Flatten\n\n'
            "Caused by:\n    0: Infering facts\n    1: Applying rule GivenRule { inputs[0].shape }\n"
            "    2: Can not compute a shape with square of symbols",
            message=r"(?m)^ +(\d+: )?Can not compute a shape with square of symbols$",
        ),
        UnsupportedRule(
            'TractError: Failed analyse for node #3 "Y" Gemm\n\n'
            "Caused by:\n    0: Infering facts\n"
            "    1: Applying rule inputs[0].shape[1] == inputs[1].shape[0]\n"
            "    2: Impossible to unify Sym(A_1) with Sym(B_0).",
            message=r"(?m)^ +(\d+: )?Impossible to unify Sym\(\w+\) with .+\.$",
        ),
    ),
)
