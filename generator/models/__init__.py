"""Models: chains of nodes, the suite of neighbours, and the models that people check."""
