"""The one hash: splitmix64's finaliser."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.structure.kernels.hashing import mix, spread_bits

WORD = 2**64


def finaliser(x: int) -> int:
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % WORD
    return x ^ (x >> 31)


@given(st.integers(0, WORD - 1))
@settings(deadline=None)  # the first call compiles
def test_the_hash_is_splitmix64(word):
    assert int(spread_bits(np.uint64(word))) == finaliser(word)
    assert int(mix(np.uint64(word))) == finaliser((word * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) % WORD)
