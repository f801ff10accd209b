import multiprocessing
import sqlite3
import time

import numpy as np
import pytest

from graphglass.errors import EncoderError, PrivacyError
from graphglass.glass.encoders import embedding_cache as cache_module
from graphglass.glass.encoders.embedding_cache import EmbeddingCache, encode_cached, private_encoding
from graphglass.glass.encoders.numeric import NumericEncoder
from graphglass.glass.encoders.text_encoder import Fingerprint

FINGERPRINT = Fingerprint("toy", "1", "t", "w", 4)


class Toy:
    """Rows made from a prompt's characters; counts what it is asked."""

    def __init__(self, fingerprint=FINGERPRINT, fail_after=None):
        self.fingerprint, self.dimension = fingerprint, fingerprint.dimension
        self.seen, self.fail_after = [], fail_after

    def encode(self, prompts, *, progress=False):
        if self.fail_after is not None and len(self.seen) >= self.fail_after:
            raise KeyboardInterrupt
        self.seen += list(prompts)
        rows = np.array([[len(p), sum(map(ord, p)), 1, ord(p[-1])] for p in prompts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_a_prompt_is_encoded_once(tmp_path):
    cache, toy = EmbeddingCache(tmp_path), Toy()
    prompts = ["b", "a", "b", "ccc"]
    first = encode_cached(toy, prompts, cache=cache)
    assert sorted(toy.seen) == ["a", "b", "ccc"]
    np.testing.assert_array_equal(first, Toy().encode(prompts))
    second = encode_cached(toy, ["ccc", "new", "a"], cache=EmbeddingCache(tmp_path))
    assert toy.seen[3:] == ["new"]
    np.testing.assert_array_equal(second, Toy().encode(["ccc", "new", "a"]))


@pytest.mark.parametrize("change", ["name", "revision", "template", "weights", "dimension"])
def test_another_fingerprint_is_never_served(tmp_path, change):
    cache = EmbeddingCache(tmp_path)
    encode_cached(Toy(), ["a"], cache=cache)
    other = Fingerprint(**{**FINGERPRINT.to_json(), change: 8 if change == "dimension" else "other"})
    assert not cache.load(other, ["a"])[1].any()
    assert cache.load(FINGERPRINT, ["a"])[1].all()


def test_an_interrupted_run_resumes(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "_PROMPTS_PER_STEP", 10)
    prompts = [f"prompt {i}" for i in range(35)]
    with pytest.raises(KeyboardInterrupt):
        encode_cached(Toy(fail_after=20), prompts, cache=EmbeddingCache(tmp_path))
    resumed = Toy()
    rows = encode_cached(resumed, prompts, cache=EmbeddingCache(tmp_path))
    assert len(resumed.seen) == 15
    np.testing.assert_array_equal(rows, Toy().encode(prompts))


def test_damaged_rows_count_as_absent_and_are_made_again(tmp_path):
    cache, toy = EmbeddingCache(tmp_path), Toy()
    expected = encode_cached(toy, ["a", "b"], cache=cache)
    with sqlite3.connect(cache.path) as database:
        database.execute("UPDATE unit_row SET row = zeroblob(16) WHERE rowid = 1")
        database.execute("UPDATE unit_row SET row = zeroblob(3) WHERE rowid = 2")
    database.close()
    np.testing.assert_array_equal(encode_cached(toy, ["a", "b"], cache=cache), expected)
    assert len(toy.seen) == 4
    assert cache.load(FINGERPRINT, ["a", "b"])[1].all()


def test_a_damaged_file_is_reported_and_can_be_deleted(tmp_path):
    cache = EmbeddingCache(tmp_path)
    encode_cached(Toy(), ["a"], cache=cache)
    cache.path.write_bytes(b"not a database" * 1000)
    with pytest.raises(EncoderError, match="Delete it"):
        cache.load(FINGERPRINT, ["a"])
    cache.path.unlink()
    assert encode_cached(Toy(), ["a"], cache=cache).shape == (1, 4)


def test_wrong_shapes_and_folders_are_refused(tmp_path):
    with pytest.raises(EncoderError, match="dimension 4"):
        EmbeddingCache(tmp_path).store(FINGERPRINT, ["a"], np.ones((1, 3), np.float32))
    (tmp_path / "file").write_text("")
    with pytest.raises(EncoderError, match="GRAPHGLASS_CACHE"):
        EmbeddingCache(tmp_path / "file").store(FINGERPRINT, ["a"], np.ones((1, 4), np.float32))


def test_nan_from_an_encoder_is_never_stored(tmp_path):
    toy = Toy()
    toy.encode = lambda prompts, progress=False: np.full((len(prompts), 4), np.nan, np.float32)
    cache = EmbeddingCache(tmp_path)
    with pytest.raises(EncoderError, match="NaN"):
        encode_cached(toy, ["a"], cache=cache)
    assert not cache.load(FINGERPRINT, ["a"])[1].any()


def _fill(folder, offset):
    cache = EmbeddingCache(folder)
    for i in range(20):
        prompts = [f"{offset + i}/{j}" for j in range(10)]
        encode_cached(Toy(), prompts, cache=cache)


def test_several_processes_share_one_cache(tmp_path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_fill, args=(tmp_path, 10 * i)) for i in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    prompts = [f"{i}/{j}" for i in range(40) for j in range(10)]
    assert EmbeddingCache(tmp_path).load(FINGERPRINT, prompts)[1].all()


def test_loading_every_benchmark_prompt_takes_under_three_seconds(tmp_path):
    fingerprint = Fingerprint("minilm", "1", "t", "w", 384)
    prompts = [f"{'x' * 300}{i}" for i in range(18_817)]
    rows = np.random.default_rng(0).standard_normal((18_817, 384)).astype(np.float32)
    cache = EmbeddingCache(tmp_path)
    cache.store(fingerprint, prompts, rows)
    start = time.process_time()
    loaded, found = cache.load(fingerprint, prompts)
    assert time.process_time() - start < 3
    assert found.all()
    np.testing.assert_array_equal(loaded, rows)


def test_the_numeric_encoder_goes_past_the_cache(tmp_path, fifty_prompts):
    cache = EmbeddingCache(tmp_path)
    rows = encode_cached(NumericEncoder(), fifty_prompts, cache=cache)
    assert rows.shape == (50, 1024)
    assert not cache.path.exists()


def test_the_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("GRAPHGLASS_CACHE", str(tmp_path / "own"))
    assert EmbeddingCache().path == tmp_path / "own" / "embeddings.sqlite"


def test_the_cache_is_for_its_owner_alone(tmp_path):
    """Which prompts were encoded says which graphs were seen."""
    cache = EmbeddingCache(tmp_path)
    cache.path.touch(0o644)
    encode_cached(Toy(), ["a"], cache=cache)
    with cache._connection():
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert set(modes.values()) == {0o600}, modes


def test_a_release_neither_reads_nor_writes_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHGLASS_CACHE", str(tmp_path))
    stored = Toy()
    encode_cached(stored, ["seen"])
    fresh = Toy()
    with private_encoding():
        rows = encode_cached(fresh, ["seen", "private"])
    assert fresh.seen == ["seen", "private"]
    np.testing.assert_array_equal(rows, Toy().encode(["seen", "private"]))
    assert EmbeddingCache().load(FINGERPRINT, ["seen", "private"])[1].tolist() == [True, False]


def test_a_release_asks_no_endpoint(tmp_path):
    remote = Toy(Fingerprint("http://localhost:1/v1#m", "m", "t", "remote", 4))
    with pytest.raises(PrivacyError, match="sends nothing"), private_encoding():
        encode_cached(remote, ["private"], cache=EmbeddingCache(tmp_path))
    assert remote.seen == []
