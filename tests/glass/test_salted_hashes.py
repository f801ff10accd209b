"""Hashes of training graphs: checkable inside a model, useless outside it."""

import json

from graphglass import GLASS, GraphGlass, ReferenceDetector
from graphglass.glass.salted_hashes import SaltedHashes


def test_members_are_found_and_lists_of_two_models_share_nothing():
    one, two = SaltedHashes.of(["a", "b"]), SaltedHashes.of(["a", "c"])
    assert "a" in one
    assert "c" not in one
    assert "c" in one.union(["c"])
    assert len(one.union(["a"])) == 2
    assert not one.digests & two.digests
    assert SaltedHashes.from_json(one.to_json()) == one == SaltedHashes.of(["b", "a"])
    assert "a" not in SaltedHashes()


def test_a_saved_model_lists_no_plain_hash(normals, tmp_path):
    """Members of an unsalted list were recognised by anyone with a table of hashes."""
    GraphGlass().fit(normals).save(tmp_path / "default")
    GLASS(encoder="numeric", epochs=1).fit(normals).save(tmp_path / "paper")
    plain = normals.content_hashes()
    for name in ("default", "paper"):
        stored = b"".join(file.read_bytes() for file in (tmp_path / name).iterdir())
        assert not [item for item in plain if item.encode() in stored]
    assert not list((tmp_path / "default").glob("training-*"))
    (listed,) = (tmp_path / "paper").glob("training-*")
    assert len(json.loads(listed.read_text())["hashes"]) == len(set(plain))
    assert all(item in ReferenceDetector.load(tmp_path / "paper").training_hashes() for item in plain)
