"""Numba kernels: arrays in, arrays out. They never raise and know nothing of SQL.

Other packages write ``from anon_sql import kernels`` and call ``kernels.hashing.group``. A file is
imported when it is first used: numba alone takes most of a second, and no connection needs it.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

# Called with True by the thread that begins to compile a kernel, and with False when it has. numba
# holds its lock meanwhile. The list is here because no import of numba must wait for it.
compile_watchers: list[Callable[[bool], None]] = []

if TYPE_CHECKING:
    from anon_sql.kernels import (  # noqa: F401 - what type checkers see
        ahead,
        annealing,
        annealing_few,
        basic_mondrian,
        cof,
        cohorts,
        distance,
        greedy_orders,
        halving,
        hashing,
        k_member,
        kernel,
        label_cover,
        legality,
        loss,
        matching,
        merging,
        microaggregation,
        mondrian,
        moving_window,
        numba_internals,
        oka,
        optimal_mondrian,
        order_cuts,
        orders,
        parallel,
        person_match,
        prices,
        regrouping,
        shipped,
        side_losses,
        sides,
        slot_matching,
        sorting,
        splitting,
        top_down,
        units,
        vp_tree,
    )
else:

    def __getattr__(name):
        """Import a file of kernels."""
        if name.startswith("_") or find_spec(f"{__name__}.{name}") is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f"{__name__}.{name}")
