"""The host for DuckDB tables that do not fit into memory: route, spill, release region by region.

``in_parts.release`` is ``anon_sql.release``; ``in_parts.released_in_parts`` is the same without
the writing. The steps are those of ``anon_sql.routing``:

- ``checked_call``: the roles and parameters of a call, as the SQL functions check them.
- ``spilling``: the domain, the routing tree, and one pass over all rows that finds their leaves.
- ``grouped_files``: Arrow files whose record batches are groups of rows.
- ``spilled_rows``: the files of these rows; ``workspace``: their private folder, which a later call
  can resume.
- ``region_rows``: the counts of regions for the plan, and the rows of one.
- ``region_files``: the release of one region, from its rows to its file.
- ``finished_regions``: these files, and the rows of all of them in the order of a hash.
- ``sealed_files``: checksums, by which a later call takes only what it would write itself.
- ``side_by_side``: all regions, on threads: kernels run without the GIL, and processes would load
  Python and the kernels once each.
- ``whole_check``: the released labels of all regions, checked together.
"""
