import hashlib
import socket
import sys

import pytest

from graphglass.errors import EncoderError, MissingExtraError
from graphglass.glass.encoders.text_encoder import load_encoder
from graphglass.glass.encoders.weights import find_weights, revision_of, weights_digest

pytest.importorskip("huggingface_hub")


@pytest.fixture
def no_network(monkeypatch, tmp_path):
    """Any attempt to open a connection fails the test."""

    def refuse(*args, **kwargs):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))


def test_missing_weights_say_how_to_get_them_without_a_connection(no_network):
    with pytest.raises(EncoderError, match=r"hf download Qwen/Qwen3-Embedding-0\.6B"):
        load_encoder("Qwen/Qwen3-Embedding-0.6B")


def test_a_download_that_fails_is_an_encoder_error(no_network, monkeypatch):
    import huggingface_hub

    def snapshot(name, *, local_files_only=False, **options):
        assert local_files_only or options["etag_timeout"] <= 10
        raise OSError("offline")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    with pytest.raises(EncoderError, match="could not be downloaded"):
        load_encoder("Qwen/Qwen3-Embedding-0.6B", download=True)


def test_a_hub_snapshot_on_disk_is_found(tmp_path, monkeypatch):
    import huggingface_hub

    commit = "a" * 40
    snapshot = tmp_path / "snapshots" / commit
    blobs = tmp_path / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    digest = hashlib.sha256(b"weights").hexdigest()
    (blobs / digest).write_bytes(b"weights")
    (snapshot / "model.safetensors").symlink_to(blobs / digest)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **options: str(snapshot))
    assert find_weights("some/model") == snapshot
    assert revision_of(snapshot) == commit
    assert weights_digest(snapshot) == digest


def test_the_digest_reads_files_and_their_order(tmp_path):
    (tmp_path / "a.safetensors").write_bytes(b"one")
    assert weights_digest(tmp_path) == hashlib.sha256(b"one").hexdigest()
    (tmp_path / "b.safetensors").write_bytes(b"two")
    parts = hashlib.sha256(b"one").hexdigest() + hashlib.sha256(b"two").hexdigest()
    assert weights_digest(tmp_path) == hashlib.sha256(parts.encode()).hexdigest()
    assert revision_of(tmp_path) == "local"


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"graphglass\[text\]"):
        find_weights("some/model")
