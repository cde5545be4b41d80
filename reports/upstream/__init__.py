"""What is to be sent upstream: issues that can be pasted, one a cause, and a table of the first of them."""
