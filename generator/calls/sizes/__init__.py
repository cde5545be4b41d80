"""Calls of sizes at which kernels have blocks, tiles, vectors and what is left over of each."""
