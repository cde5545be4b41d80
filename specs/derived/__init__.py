"""What a document alone says of the calls of an operator, in the form of a spec.yaml."""
