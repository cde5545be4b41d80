"""The space of an operator version's calls: factors, variables and rules, and tensors drawn for them."""
