"""``anon-sql shell``: answer statements from a terminal or a pipe, one after another.

``interactive`` alone needs prompt_toolkit; all else works without a terminal.
"""
