"""Text and pages for people, whatever they are of: counts, values, links, tables, templates."""
