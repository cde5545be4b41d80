"""A call with given levels: the search for its values, shapes and tensors."""
