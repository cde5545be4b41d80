"""One case as people see it: its call, the answer, pictures, a folder or a script that reproduces it."""
