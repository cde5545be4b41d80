"""Neighbours that optimisers fuse, fold or drop; one module for each group of them."""
