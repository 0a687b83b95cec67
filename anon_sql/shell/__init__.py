"""``anon-sql shell``: statements typed or piped, answered one after another.

``interactive`` alone needs prompt_toolkit; all else works without a terminal.
"""
