"""Facts in prose: allowed values, defaults, formulas and shapes, each with the rule that found it."""
