"""What the dialects of TensorFlow's texts share: arguments, steps, and worked examples in words."""
