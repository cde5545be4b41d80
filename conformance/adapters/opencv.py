"""OpenCV's ONNX importer and its networks on the CPU, from its Python package without windows."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="opencv",
    first_line="OpenCV on the CPU (package opencv-python-headless): ONNX models through cv2.dnn",
    issues="https://github.com/opencv/opencv/issues/new",
    requirements=("opencv-python-headless",),
    worker="opencv_worker.py",
    options={"engine": ("auto", "new", "classic")},
    unsupported=(
        UnsupportedRule(
            "error: OpenCV(5.0.0) lrn_layer.cpp:88: error: (-5:Bad argument) LRN layer supports only "
            "positive odd values for local_size in function 'LRNLayerImpl'",
            message=r"\(-5:Bad argument\) \w+ layer supports only ",
        ),
        UnsupportedRule(
            "error: OpenCV(5.0.0) onnx_importer.cpp:1114: error: (-2:Unspecified error) in function "
            "'handleNode'\n> Node [Pad@com.microsoft]:(onnx_node_output_0!output) parse error: OpenCV(5.0.0) "
            "net_impl.hpp:116: error: (-2:Unspecified error) Can't create layer "
            '"onnx_node_output_0!output" of type "com.microsoft.Pad" in function \'getLayerInstance\'',
            message=r"Can't create layer \S+ of type",
        ),
        UnsupportedRule(
            "error: OpenCV(5.0.0) onnx_importer2.cpp:751: error: (-213:The function/feature is not "
            "implemented) unsupported datatype '<unknown_type #17>' in function 'parseValueInfo'",
            message=r"error: \(-213:The function/feature is not implemented\)",
        ),
        UnsupportedRule(
            "error: OpenCV(5.0.0) elementwise_layers.cpp:296: error: (-210:Unsupported format or combination "
            "of formats) ElementWiseLayer: unsupported input/output type; expected CV_32F or CV_64F.",
            message=r"error: \(-210:Unsupported format or combination of formats\)",
        ),
        UnsupportedRule(
            "error: OpenCV(5.0.0) attention_onnxai_layer.cpp:71: error: (-2:Unspecified error) in function "
            "'getMemoryShapes'\n> past key and past value are not supported yet:",
            message=r"(?m)^> [\w ]+ (is|are) not supported",
        ),
        UnsupportedRule(
            "error: OpenCV(5.0.0) eyelike_layer.cpp:99: error: (-17:Input image depth is not supported by "
            "function) Unsupported output depth for EyeLikeLayer in function 'forward'",
            message=r"error: \(-17:Input image depth is not supported by function\)",
        ),
        UnsupportedRule(
            "error: OpenCV(5.0.0) layer.cpp:274: error: (-2:Unspecified error) in function 'virtual void "
            "cv::dnn::Layer::getTypes(const std::vector<int>&, int, int, std::vector<int>&, "
            "std::vector<int>&) const'\n> :\n>     'input == CV_32F || input == CV_64F'\n> where\n"
            ">     'input' is 4 (CV_32SC1)",
            # The element types that a layer has, each by its name, and the one that came.
            message=r"::getTypes\(.*\n> .*:\n> +'(\S+) == CV_\w+( \|\| \1 == CV_\w+)*'\n> where\n> +'\1' is ",
        ),
        UnsupportedRule(
            "error: OpenCV(5.0.0) maxpool_layer.cpp:638: error: (-215:Assertion failed) func != nullptr && "
            "\"MaxPool: unsupported data type\" in function 'runOp'",
            message=r'\(-215:Assertion failed\) .* && ".*\b(unsupported|supported|supports)\b.*"',
        ),
        UnsupportedRule(
            "error: OpenCV(5.0.0) transpose_layer.cpp:129: error: (-215:Assertion failed) ndims <= "
            "TRANSPOSE_MAX_DIMS in function 'transpose'",
            message=r"\(-215:Assertion failed\) \w+ <= (\(\w+\))?\w*MAX_DIMS in function",
        ),
        UnsupportedRule(
            "error: OpenCV(5.0.0) fast_gemm.cpp:720: error: (-2:Unspecified error) in function "
            "'fastGemmBatch'\n> DNN/fastGemmBatch: only support float32 for now "
            "(expected: 'A.type() == CV_32F')",
            message=r"(?m)^> [\w/]+: only (support|\w+ is supported) ",
        ),
        UnsupportedRule(
            "error: OpenCV(5.0.0) is_inf_layer.cpp:56: error: (-2:Unspecified error) IsInf: Unsupported mode "
            "in function 'computeIsInfMask'",
            message=r"error: \(-2:Unspecified error\) \w+: Unsupported ",
        ),
        UnsupportedRule(
            "error: OpenCV(5.0.0) nary_eltwise_layers.cpp:1264: error: (-5:Bad argument) Unsupported "
            "operation. in function 'boolOpDispatch'",
            message=r"error: \(-5:Bad argument\) Unsupported operation",
        ),
    ),
)
