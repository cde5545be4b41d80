"""Pages that need no network: what their sections say, their data, templates put together."""
