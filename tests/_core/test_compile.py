"""Compiled code is kept where that is possible, and works where it is not."""

from __future__ import annotations

import pytest
from numba.core import caching

from seqspan._core.compile import compiled


def double(x):
    return x + x


@pytest.mark.parametrize(("writable", "kind"), [(True, "FunctionCache"), (False, "NullCache")])
def test_compiles_whether_or_not_a_folder_can_be_written(writable, kind, monkeypatch):
    if not writable:  # a read-only folder stops everybody but root, so numba is told that it found none
        for cache in (caching.CacheImpl, caching.CompileResultCacheImpl):
            monkeypatch.setattr(cache, "_locator_classes", [])
    quick = compiled(nogil=True)(double)
    assert quick(3) == 6
    assert type(quick._cache).__name__ == kind
