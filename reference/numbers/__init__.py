"""Exact numbers, alone and in arrays, and the error that each carries."""
