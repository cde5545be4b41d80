"""One small module per operator family that turns factor levels into calls; found by name, listed nowhere."""
