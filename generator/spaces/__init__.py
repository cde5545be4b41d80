"""What a declaration comes to: kinds of values, factors, variables and rules, and what is wrong with it."""
