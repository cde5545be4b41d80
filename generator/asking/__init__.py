"""What a case gives to its operator and what must come out of it: calls, questions, expectations."""
