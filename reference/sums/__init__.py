"""Sums and products, and how far honest ways to add up may lie apart."""
