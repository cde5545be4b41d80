"""How good a suite is: faults put into the reference on purpose, and whether its cases notice them."""
