"""Ground floor: names, types, tensors, files and errors that every package speaks of."""
