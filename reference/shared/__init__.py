"""What operators of several families share: windows, extremes, interpolation, recurrences."""
