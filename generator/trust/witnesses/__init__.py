"""Witnesses: whether ONNX itself, and runtimes, take calls for valid."""
