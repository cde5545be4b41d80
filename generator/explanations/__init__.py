"""How values are misread: the single mistakes that kinds bring by `Kind.changes`, of one value a module.

They explain wrong answers, and adequacy makes them. A mistake that one kind alone has stands in that kind.
"""
