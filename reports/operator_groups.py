"""Operators by what they do, so that a long table can be read: groups of names, not facts of any document."""

from __future__ import annotations

from functools import cache

from opcert.vocabulary.names import OperatorName

_GROUPS = {
    "Arithmetic": (
        "Abs Add Ceil Clip CumProd CumSum Div Floor Max Mean Min Mod Mul Neg Pow Reciprocal Round Sign Sqrt "
        "Sub Sum"
    ),
    "Elementary functions": "Acos Acosh Asin Asinh Atan Atanh Cos Cosh Erf Exp Log Sin Sinh Tan Tanh",
    "Activations": (
        "Celu Elu Gelu HardSigmoid HardSwish Hardmax LeakyRelu LogSoftmax Mish PRelu Relu Selu Shrink "
        "Sigmoid Softmax Softplus Softsign SwiGLU Swish ThresholdedRelu Dropout"
    ),
    "Logic and comparison": (
        "And Or Xor Not Equal Greater GreaterOrEqual Less LessOrEqual BitShift BitwiseAnd BitwiseNot "
        "BitwiseOr BitwiseXor IsInf IsNaN Where"
    ),
    "Moving elements": (
        "Compress Concat DepthToSpace Expand Flatten Gather GatherElements GatherND Identity Reshape "
        "ReverseSequence Scatter ScatterElements ScatterND Slice SpaceToDepth Split Squeeze TensorScatter "
        "Tile Transpose Trilu Unsqueeze"
    ),
    "Padding, cropping, resizing": "AffineGrid CenterCropPad GridSample ImageDecoder Pad Resize Upsample",
    "Reductions": (
        "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
        "ReduceSumSquare"
    ),
    "Sorting and selecting": "ArgMax ArgMin NonMaxSuppression NonZero TopK Unique",
    "Products": "Det Einsum Gemm MatMul MatMulInteger QLinearMatMul",
    "Convolution": "CausalConvWithState Col2Im Conv ConvInteger ConvTranspose DeformConv QLinearConv",
    "Pooling": (
        "AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxRoiPool MaxUnpool "
        "RoiAlign"
    ),
    "Normalization": (
        "BatchNormalization GroupNormalization InstanceNormalization LRN LayerNormalization LpNormalization "
        "MeanVarianceNormalization RMSNormalization"
    ),
    "Attention and recurrence": "Attention FlexAttention GRU LSTM LinearAttention RNN RotaryEmbedding",
    "Casts and quantization": "BitCast Cast CastLike DequantizeLinear DynamicQuantizeLinear QuantizeLinear",
    "Constants and random numbers": (
        "Bernoulli Constant ConstantOfShape EyeLike Multinomial OneHot RandomNormal RandomNormalLike "
        "RandomUniform RandomUniformLike Range Shape Size"
    ),
    "Signals": "BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT",
    "Losses": "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
    "Control flow, sequences, optionals": (
        "ConcatFromSequence If Loop Optional OptionalGetElement OptionalHasElement Scan SequenceAt "
        "SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap "
        "SplitToSequence"
    ),
    "Strings": "RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer",
}
OTHER = "Others"


@cache
def _by_name() -> dict[str, str]:
    return {name: group for group, names in _GROUPS.items() for name in names.split()}


def group_of(operator: OperatorName) -> str:
    """The group of an operator of ai.onnx; the domain of any other."""
    return _by_name().get(operator.name, OTHER) if operator.domain == "ai.onnx" else operator.domain
