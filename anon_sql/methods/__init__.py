"""Release methods and the steps that several of them share; ``method.py`` is their registry."""
