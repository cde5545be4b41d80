"""Several runs: two side by side, and those kept over time."""
