"""What a run found, counted: suite and record put together, the matrix, what was not tested."""
