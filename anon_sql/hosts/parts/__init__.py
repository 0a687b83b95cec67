"""The host for DuckDB tables that do not fit into memory: route, spill, release region by region.

``in_parts.release`` is ``anon_sql.release``; ``in_parts.released_in_parts`` is the same without
the writing. The steps are those of ``anon_sql.routing``:

- ``checked_call``: the roles and parameters of a call, as the SQL functions check them.
- ``spilling``: the domain, the tree and the plan; rows go to Parquet files, one folder a region.
- ``workspace``: the private folder of these files, which a later call can resume.
- ``region_files``: the release of one region, from file to file.
- ``side_by_side``: all regions, on threads: kernels run without the GIL, and processes would load
  Python and the kernels once each.
- ``whole_check``: the released labels of all regions, checked together.
"""
