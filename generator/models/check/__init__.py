"""Cases for the very calls of a model: made of declarations, with what the nodes say held fixed."""
