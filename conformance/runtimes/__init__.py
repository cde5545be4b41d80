"""Runtimes by name: their adapters' form, their environments, and how these are installed."""
