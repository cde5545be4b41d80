"""onnx2torch: ONNX models as modules of PyTorch, which computes on the CPU."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="onnx2torch",
    first_line="onnx2torch with PyTorch on the CPU (package onnx2torch): ONNX models as modules of PyTorch",
    issues="https://github.com/ENOT-AutoDL/onnx2torch/issues/new",
    requirements=("onnx2torch", "torch==2.13.0", "onnx", "ml-dtypes"),
    worker="onnx2torch_worker.py",
    unsupported=(
        UnsupportedRule(
            "NotImplementedError: Converter is not implemented (OperationDescription(domain='', "
            "operation_type='LSTM', version=14))",
        ),
        UnsupportedRule(
            "TypeError: can't convert np.ndarray of type ml_dtypes.bfloat16. The only supported types are: "
            "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, "
            "uint16, uint8, and bool.",
            message=r"^can't convert np\.ndarray of type \S+\. The only supported types are: ",
        ),
        UnsupportedRule(
            "RuntimeError: reflect padding is implemented for padding the last 3 dimensions of 5D input "
            "tensor, or the last 2 dimensions of 4D input tensor, or the last dimension of 3D input tensor.",
            message=r"^\w+ padding is implemented for padding the last \d+ dimensions of ",
        ),
        UnsupportedRule(
            "RuntimeError: Couldn't load custom C++ ops. This can happen if your PyTorch and torchvision "
            "versions are incompatible, or if you had errors while compiling torchvision from source.",
            message=r"^Couldn't load custom C\+\+ ops\. ",
        ),
        UnsupportedRule(
            "RuntimeError: mean(): could not infer output dtype. Input dtype must be either a floating point "
            "or complex dtype. Got: Int",
            message=r"^\w+\(\): could not infer output dtype\. Input dtype must be either a ",
        ),
    ),
)
