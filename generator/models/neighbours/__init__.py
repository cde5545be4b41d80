"""The suite of neighbours: every chain of the patterns, in the versions of one opset."""
