"""Pages as the rules on documents see them."""
