"""The host for DuckDB tables that do not fit into memory: route, spill, release region by region.

``release.released_in_parts`` gives the rows of a release. Its steps are those of
``anon_sql.regions``:

- ``call``: whether a call can be released in parts, and how its columns travel.
- ``spilling``: the domain, the routing tree, one pass over all rows that finds their leaves, and
  the rows of one region.
- ``workspace``: the private folder of these rows and of finished regions, which a later call can
  resume, with checksums by which it takes only what it would write itself.
- ``regions``: the release of one region, and the rows of all of them in the order of a hash.
- ``running``: all regions, on threads: kernels run without the GIL, and processes would load Python
  and the kernels once each.
- ``checking``: the released labels of all regions, checked together.
"""
