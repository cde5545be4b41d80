"""Apache TVM on the CPU: its importer of ONNX models, compiled by way of relax."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="apache-tvm",
    first_line="Apache TVM on the CPU (package apache-tvm): ONNX models through relax, compiled by LLVM",
    requirements=("apache-tvm", "onnx", "ml-dtypes"),
    worker="apache_tvm_worker.py",
    unsupported=(
        UnsupportedRule(
            "OpNotImplemented: The following operators are not supported for frontend ONNX: Foo",
            message="operators are not supported for frontend ONNX",
        ),
        UnsupportedRule(
            "AssertionError: Currently only 1D/2D/3D/ pooling is supported.",
            message=r"^Currently only \S+ pooling is supported\.$",
        ),
        UnsupportedRule(
            "NotImplementedError: Ndim > 5 not supported for convolution.",
            message=r"^Ndim > \d+ not supported for \w+\.$",
        ),
        UnsupportedRule(
            "ValueError: QuantizeLinear blocked quantization is not supported yet.",
            message=r"(is|are) not supported yet\.$",
        ),
        UnsupportedRule(
            "ValueError: TopK k must be a constant",
            message=r"^\w+ \w+ must be a constant$",
        ),
        UnsupportedRule(
            "AssertionError: Only constant depth currently supported.",
            message=r"^Only constant \w+ currently supported\.$",
        ),
        UnsupportedRule(
            "ValueError: LRN only supports 3D or 4D input, got 5D.",
            message=r"^\w+ only supports \dD or \dD input, got \dD\.$",
        ),
    ),
)
