"""The neighbours that a model has: its nodes by twos and threes, as chains with data of their own."""
