"""What is known of an operator version, as data: facts, each with its origin, and the calls that it has."""
