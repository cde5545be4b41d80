"""Nodes beside each other: chains of operators, and what comes out of them however they are fused."""
