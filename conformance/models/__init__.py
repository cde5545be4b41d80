"""Cases in ONNX's messages: models of one node, packed structures, descriptions of nodes."""
