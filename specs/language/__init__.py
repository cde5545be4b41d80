"""The language of specs: expressions, shapes, and the functions that both know."""
