"""Search an operator's input space at random for calls that a runtime gets wrong."""
