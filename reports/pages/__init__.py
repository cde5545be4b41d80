"""The pages of a run: what each section says, its cases, and one file of all."""
