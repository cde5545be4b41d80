"""Documents as lines and passages with places, and pages to fill in."""
