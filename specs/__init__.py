"""opcert: operator specs: facts read out of documents, what people add, and the importers that read them."""
