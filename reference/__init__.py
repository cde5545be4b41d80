"""opcert: what is right: exact reference operators and the error allowed to each element."""
