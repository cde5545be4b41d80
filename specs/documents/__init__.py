"""Documents of every dialect: their text, their prose, their examples, and the pages of each project."""
