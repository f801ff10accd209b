"""How kernels are compiled, and the array types they take."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property, partial, update_wrapper
from pathlib import Path
from typing import Any, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Ends = NDArray[np.int32]

F = TypeVar("F", bound=Callable[..., Any])


class Kernel:
    """A function that numba compiles when it is first called; numba itself is not imported before.

    Compiled without the interpreter lock, the machine code kept next to the source. Other kernels may call it.
    """

    def __init__(self, function: Callable[..., object], options: dict[str, object]) -> None:
        self.function, self.options = function, options
        update_wrapper(self, function)

    @cached_property
    def compiled(self) -> Any:
        """As called from Python."""
        return self._compile(cache=True)

    @property
    def _numba_type_(self) -> Any:
        """As called by another kernel, whose machine code includes it: neither kept nor callable from Python."""
        return self._inner._numba_type_

    @cached_property
    def _inner(self) -> Any:
        return self._compile(no_cpython_wrapper=True)

    def _compile(self, **options: Any) -> object:
        from numba import njit

        return njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **self.options, **options)(self.function)

    def __call__(self, *arguments: Any) -> Any:
        return self.compiled(*arguments)


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(function: None = None, **options: Any) -> Callable[[F], F]: ...
def kernel(function: Any = None, **options: Any) -> Any:
    """Make a function a :class:`Kernel`; `options` go to numba."""
    return partial(Kernel, options=options) if function is None else cast(Any, Kernel(function, options))


def announce_compilation(function: Any, *, show: bool) -> None:
    """Print one line to standard error if ``show`` and ``function`` has never been compiled on this machine."""
    if not show:
        return
    place = Path(function.compiled.stats.cache_path)
    if not any(place.glob(f"*.{function.__name__}-*.nbi")):
        print("Compiling kernels (once, about 20 s) ...", file=sys.stderr, flush=True)  # noqa: T201
