"""Why cases fail: failures of one cause put together, in words, and the conditions that go with them."""
