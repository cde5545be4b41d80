"""Rules for slips that one page alone has shown so far: of its markup, its wrapping, its own wording.

Each was written for a page that people read by hand, and finds nothing in any other document at hand
(docs/findings.md).
A rule of these that finds something elsewhere moves to the folder above.
"""
