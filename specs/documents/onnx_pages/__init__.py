"""What the dialects of ONNX pages share: sections, items, and one operator version made of them."""
