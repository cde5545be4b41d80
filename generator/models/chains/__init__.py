"""Chains of nodes, and what must come out of them however they are fused."""
