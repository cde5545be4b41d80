"""What a certificate states, and whether it is so: statements, signatures, and everything made anew."""
