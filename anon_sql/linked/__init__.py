"""Release tables that belong together, so that they still join and no join singles anybody out.

``schema`` is the tree of tables below the persons, ``folds`` says what a release must satisfy, and
``release`` makes one: bins of persons with near counts of rows, classes, slots, labels, checks.
"""
