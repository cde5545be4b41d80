"""Files of specs: imported facts and what people declare, read, checked and merged into one spec."""
