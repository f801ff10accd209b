import os

import numpy as np
import pytest

from graphglass.files import disk_arrays as module
from graphglass.files.disk_arrays import disk_zeros


def in_a_file(array):
    return isinstance(array.base, np.memmap)


def test_a_large_array_is_in_a_file_and_a_small_one_is_not(monkeypatch):
    monkeypatch.setattr(module, "LARGE", 2**16)
    large, small = disk_zeros((64, 256), np.float32), disk_zeros((64, 16), np.float32)
    assert in_a_file(large)
    assert not in_a_file(small)
    assert type(large) is np.ndarray
    assert not large.any()
    assert not small.any()
    large[3] = 2.5
    assert large.sum() == 256 * 2.5


def test_nothing_is_left_in_the_temporary_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "LARGE", 2**16)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    kept = disk_zeros((64, 256), np.float64)
    assert in_a_file(kept)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="room on disk cannot be reserved here")
def test_a_full_disk_gives_an_ordinary_array(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "LARGE", 2**16)
    monkeypatch.setattr(os, "posix_fallocate", full)
    array = disk_zeros((64, 256), np.float64)
    assert not in_a_file(array)
    assert array.shape == (64, 256)
