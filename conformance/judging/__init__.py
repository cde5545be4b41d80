"""A case and what a runtime did with it become a verdict: comparison, properties, patterns, totals."""
