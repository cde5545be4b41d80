"""OpenCV's ONNX importer and its networks on the CPU, from its Python package without windows."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="opencv",
    first_line="OpenCV on the CPU (package opencv-python-headless): ONNX models through cv2.dnn",
    requirements=("opencv-python-headless",),
    worker="opencv_worker.py",
    options={"engine": ("auto", "new", "classic")},
    unsupported=(
        UnsupportedRule(
            "error: OpenCV(5.0.0) onnx_importer.cpp:1114: error: (-2:Unspecified error) in function "
            "'handleNode'\n> Node [Pad@com.microsoft]:(onnx_node_output_0!output) parse error: OpenCV(5.0.0) "
            "net_impl.hpp:116: error: (-2:Unspecified error) Can't create layer "
            '"onnx_node_output_0!output" of type "com.microsoft.Pad" in function \'getLayerInstance\'',
            kind="error",
            message=r"Can't create layer \S+ of type",
        ),
        UnsupportedRule(
            "error: OpenCV(5.0.0) onnx_importer2.cpp:751: error: (-213:The function/feature is not "
            "implemented) unsupported datatype '<unknown_type #17>' in function 'parseValueInfo'",
            kind="error",
            message=r"error: \(-213:The function/feature is not implemented\)",
        ),
        UnsupportedRule(
            "error: OpenCV(5.0.0) elementwise_layers.cpp:296: error: (-210:Unsupported format or combination "
            "of formats) ElementWiseLayer: unsupported input/output type; expected CV_32F or CV_64F.",
            kind="error",
            message=r"error: \(-210:Unsupported format or combination of formats\)",
        ),
        UnsupportedRule(
            "error: OpenCV(5.0.0) attention_onnxai_layer.cpp:71: error: (-2:Unspecified error) in function "
            "'getMemoryShapes'\n> past key and past value are not supported yet:",
            kind="error",
            message=r"(?m)^> [\w ]+ (is|are) not supported",
        ),
    ),
)
