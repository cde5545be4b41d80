"""One call tried on a runtime, and made as small as it gets while it fails in the same way."""
