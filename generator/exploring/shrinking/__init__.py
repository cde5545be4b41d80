"""Changes of a call; one call tried on a runtime, and made as small as it gets while it fails alike."""
