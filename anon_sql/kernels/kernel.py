"""The decorator of every kernel, with what all of them ask of numba."""

from typing import Any

from numba import njit


def kernel(function: Any = None, **options: Any) -> Any:
    """Return a function compiled by numba, kept on disk, that runs without the GIL.

    To compile less, no wrapper for callbacks from C is made, and division by zero does not raise.
    """
    always = {"cache": True, "nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy"}
    return njit(function, **always, **options)
