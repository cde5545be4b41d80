"""A model on runtimes: what each of its calls comes to, in words, on a page, and in files for programs."""
