"""Single changes of a call: what a runtime may have done in place of what was asked.

They explain wrong answers, and adequacy makes them. How values are misread several kinds bring alike
(`Kind.changes`, `variables/misreadings.py`); a mistake that one kind alone has stands in that kind.
"""
