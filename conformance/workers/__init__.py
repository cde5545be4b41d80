"""Scripts that run inside a runtime's own environment; they import nothing of this project but each other."""
