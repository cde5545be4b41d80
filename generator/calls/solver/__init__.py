"""The search for a call: variables with domains, and rules decided as soon as they can be."""
