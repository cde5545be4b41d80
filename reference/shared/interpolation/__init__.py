"""What interpolating operators share: lengths, coordinates, kernels, weights."""
