"""Suites made from tests that are there already: ONNX's node tests, and folders in their layout."""
