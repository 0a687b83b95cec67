"""Release linked tables so that they can still be joined, without the join making anyone unique.

``schema`` is the tree of tables below the table of people, ``folds`` checks a release, and
``release`` makes one: bins of people with similar numbers of rows, classes, slots and labels.
"""
