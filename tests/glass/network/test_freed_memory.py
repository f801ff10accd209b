import ctypes
import resource

import pytest
import torch

from graphglass.glass.network.freed_memory import keep_freed_memory

NUMBERS, ROUNDS = 10_000_000, 20  # 40 MB, more than glibc keeps by default


def faults():
    """Pages that the system had to provide for blocks allocated, filled and freed again."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(ROUNDS):
        torch.empty(NUMBERS).fill_(1.0)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="needs glibc")
def test_freed_blocks_are_used_again_inside_and_returned_after():
    with keep_freed_memory():
        faults()
        inside = faults()
    assert inside < faults() / 3


def test_an_error_inside_is_passed_on():
    with pytest.raises(ValueError, match="inside"), keep_freed_memory():
        raise ValueError("inside")
