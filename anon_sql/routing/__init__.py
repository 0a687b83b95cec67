"""Divide a table into regions that are released one by one: tables larger than memory, and Spark.

A region is a set of rows that lie near each other in the quasi-identifiers. Classes lie within
regions, so k, l and t hold for the table if they hold in every region. A host does the following;
every statement comes from here, for the dialect 'duckdb' or 'spark', and refers to relations by
plain names that the host has given them.

1. ``whole_table``: run ``summary_select`` and, for each protected column, ``held_select``; pass the
   results to ``table_domain``. The result is the ``Domain`` of the table.
2. ``table_strata``: for a request with strata, their values and exact counts; it raises AnonError
   if one cannot be a class. ``sampling``: run ``sample_select``, some 200,000 rows chosen by a hash
   of their values.
3. ``cutting.grow``: the tree that cuts strata first and then the sample, where the fewest classes
   would be divided.
4. ``planning.plan``: the regions. It merges leaves of the tree until every region is legal as a
   whole (k, l, t, persons) and has about the rows wanted, spreads a region that is too large and
   cannot be cut by a hash of its rows, and raises AnonError if neither is possible. It calls the
   host back for exact counts, which the host makes with ``region_sql.count_select``.
   ``sample_plan.shown_regions`` does without counts where the sample suffices.
5. Every row with the number of its region: ``leaf_rows`` finds the leaves of rows in memory, and
   ``Regions.numbers`` their regions, by a hash (``hashed_select``) where rows are spread.
6. Each region: ``release_table(rows, request, paths, domain)`` in any process, one thread each.
7. The releases put together in the order of a hash, and checked as a whole by the host.

The result depends on the values and the seed, not on the order of rows. Cut points are values of
the data, and stand in no statement. With strata a region holds whole strata or rows of one alone.

Modules here may import ``pipeline``, ``methods``, ``core``, ``kernels`` and ``errors`` only.
"""
