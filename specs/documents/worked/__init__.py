"""Worked examples: their code is read, never executed; their printed arrays are parsed and counted."""
