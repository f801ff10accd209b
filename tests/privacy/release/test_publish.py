"""A release end to end with a stand-in model: order of charge and draw, refusals, and what comes out."""

import inspect
import re
import sqlite3
import subprocess
import sys
import textwrap
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from graphglass.errors import ArtifactError, BudgetError, InputError, LedgerError, ParameterError, PrivacyError
from graphglass.glass.joint_features import MAIN_CHANNELS, JointFeatures
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.privacy.private_summary import PrivateSummary, merge
from graphglass.privacy.release import hash_chain
from graphglass.privacy.release import publish as module
from graphglass.privacy.release.ledger import Ledger
from graphglass.privacy.release.publish import GraphFeatures, default_features, release
from graphglass.privacy.sketch_features import SketchFeatures

SMALL = JointFeatures(MAIN_CHANNELS, frequencies=8)


def no_noise(scale, size):
    return np.zeros(size, np.int64)


def go(model, graphs, ledger, *, sampler=no_noise, **settings):
    values = {"dataset": "clinic", "epsilon": 2.0, "features": SMALL, **settings}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "discrete_gaussian", sampler)
        return release(graphs, ledger=ledger, model=model, **values)


def test_main_configuration_and_statement(model, graphs, ledger, tmp_path):
    summary = release(
        graphs, model=model, ledger=ledger, dataset="clinic", epsilon=4.0, output=tmp_path / "summary.glass"
    )
    assert summary.features.dimension == 1024
    assert summary.features.kappa == 4.0  # the kernel of the paper
    assert summary.sites[0].sigma == pytest.approx(0.1351452, abs=1e-6)  # 2 / 16 * 1.0811618
    for word in ("one whole graph", "replacing", "(4, 1e-05)", "delta includes", "mu = 0.92493", "n = 16", "1024",
                 "stand-in/1",
                 summary.sites[0].ledger_head, "Not covered"):  # fmt: skip
        assert word in summary.statement
    loaded = PrivateSummary.load(tmp_path / "summary.glass")
    queries = model.channel_embeddings(graphs)
    np.testing.assert_array_equal(loaded.scores(queries), summary.scores(queries))
    assert ledger.check(loaded) == loaded.sites


def test_a_summary_of_another_ledger_is_not_in_this_one(model, graphs, ledger, tmp_path):
    other = Ledger.create(tmp_path / "other.db")
    other.grant("clinic", epsilon=4.0, delta=1e-5)
    own, foreign = go(model, graphs, ledger), go(model, graphs, other)
    with pytest.raises(LedgerError, match=r"ledger\.db.*another ledger"):
        ledger.check(foreign)
    merged = merge([own, foreign], disjoint=True)
    assert ledger.check(merged) == own.sites
    assert other.check(merged) == foreign.sites


def test_a_summary_cannot_claim_the_charge_of_another_release(model, graphs, ledger):
    summary = go(model, graphs, ledger)
    with pytest.raises(LedgerError, match=r"'made up' is not in the ledger"):
        ledger.check(replace(summary, sites=(replace(summary.sites[0], release="made up"),)))


def test_a_summary_is_as_large_as_the_documentation_says(model, graphs, make_graphs, ledger):
    bare, mixed = (release(graphs, model=model, ledger=ledger, dataset="clinic", epsilon=1.0, source=source)
                   for source in (None, make_graphs([30, 31, 32])))  # fmt: skip
    assert bare.total.nbytes == 8192
    assert 9_500 < len(bare.to_bytes()) < 10_500
    assert 8192 <= len(mixed.to_bytes()) - len(bare.to_bytes()) < 8500


def test_noise_has_the_promised_size(model, graphs, ledger):
    """Sixteen default releases, 16,384 draws in units of sigma; a bound of five standard errors fails once in 10^6."""
    draws = []
    for dataset in map(str, range(16)):
        ledger.grant(dataset, epsilon=4.0, delta=1e-5)
        summary = release(graphs, model=model, ledger=ledger, dataset=dataset, epsilon=4.0, disjoint=True)
        exact = summary.features(model.channel_embeddings(graphs)).mean(axis=0)
        draws.append((summary.mean - exact) / summary.sigma)
    rows = np.stack(draws)
    assert rows.mean() == pytest.approx(0, abs=5 / np.sqrt(rows.size))
    assert (rows**2).mean() == pytest.approx(1, abs=5 * np.sqrt(2 / rows.size))  # 5.5 per cent of the variance
    # Along the exact mean itself, where a summary of other features would fall short by its whole length.
    assert rows.mean(axis=0) @ exact / np.linalg.norm(exact) == pytest.approx(0, abs=5 / np.sqrt(len(rows)))


def test_without_noise_the_summary_is_the_mean_feature(model, graphs, ledger):
    summary = go(model, graphs, ledger)
    np.testing.assert_allclose(summary.mean, SMALL(model.channel_embeddings(graphs)).mean(axis=0), atol=1e-8)


def test_same_release_id_returns_the_stored_summary(model, graphs, ledger, tmp_path):
    first = release(
        graphs, model=model, ledger=ledger, dataset="clinic", epsilon=2.0, features=SMALL, release_id="march"
    )
    again = release(
        graphs, model=model, ledger=ledger, dataset="clinic", epsilon=2.0, features=SMALL, release_id="march",
        output=tmp_path / "again",
    )  # fmt: skip
    np.testing.assert_array_equal(first.total, again.total)
    assert (tmp_path / "again").read_bytes() == first.to_bytes()
    assert ledger.budget("clinic").releases == 1
    with pytest.raises(PrivacyError, match="another request"):
        go(model, graphs, ledger, epsilon=1.0, release_id="march")


def test_an_empty_release_id_costs_nothing(model, graphs, ledger):
    """An id from an unset variable would be a new release every time."""
    with pytest.raises(ParameterError, match="release_id"):
        go(model, graphs, ledger, release_id=" ")
    assert ledger.budget("clinic").releases == 0


def test_a_release_id_stands_for_its_source_too(model, graphs, make_graphs, ledger):
    source, other = make_graphs([30, 31, 32]), make_graphs([30, 31, 33])
    go(model, graphs, ledger, epsilon=1.0, release_id="bare")
    mixed = go(model, graphs, ledger, epsilon=1.0, source=source, release_id="mixed")
    for name, asked in (("bare", source), ("mixed", None), ("mixed", other)):
        with pytest.raises(PrivacyError, match="another request"):
            go(model, graphs, ledger, epsilon=1.0, source=asked, release_id=name)
    again = go(model, graphs, ledger, epsilon=1.0, source=source[[2, 0, 1]], release_id="mixed")
    np.testing.assert_array_equal(again.prior, mixed.prior)


def test_two_releases_use_fresh_noise(model, graphs, ledger):
    first, second = (
        release(graphs, model=model, ledger=ledger, dataset="clinic", epsilon=1.0, features=SMALL) for _ in range(2)
    )
    assert (first.total != second.total).mean() > 0.9


def test_charge_is_on_disk_before_the_draw(model, graphs, ledger, tmp_path):
    seen = []

    def sampler(scale, size):
        seen.append((size, Ledger(tmp_path / "ledger.db").budget("clinic").releases))
        return np.zeros(size, np.int64)

    go(model, graphs, ledger, sampler=sampler)
    assert seen == [(1, 0), (SMALL.dimension, 1)]


def test_overspending_draws_nothing(model, graphs, ledger):
    drawn = []

    def sampler(scale, size):
        drawn.append(size)
        return np.zeros(size, np.int64)

    go(model, graphs, ledger, epsilon=3.5)
    with pytest.raises(BudgetError):
        go(model, graphs, ledger, epsilon=3.5, sampler=sampler)
    assert drawn == [1]
    assert ledger.budget("clinic").releases == 1


def test_a_failing_draw_spends_and_blocks_the_id(model, graphs, ledger):
    def sampler(scale, size):
        if size > 1:
            raise RuntimeError("power cut")
        return np.zeros(size, np.int64)

    with pytest.raises(RuntimeError):
        go(model, graphs, ledger, sampler=sampler, release_id="r")
    assert ledger.budget("clinic").releases == 1
    with pytest.raises(PrivacyError, match="never finished"):
        go(model, graphs, ledger, release_id="r")


@pytest.mark.slow
def test_kill_after_the_charge_never_draws_again(graphs, ledger, tmp_path):
    code = """
        import importlib.util, os, signal, sys
        import numpy as np
        spec = importlib.util.spec_from_file_location("stand_in", sys.argv[2])
        stand_in = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(stand_in)
        from graphglass.privacy.release.ledger import Ledger
        from graphglass.privacy.release import publish
        def sampler(scale, size):
            if size > 1:
                os.kill(os.getpid(), signal.SIGKILL)
            return np.zeros(size, np.int64)
        model, graphs = stand_in.StandInModel(), stand_in.path_graphs(range(3, 19))
        ledger = Ledger(sys.argv[1])
        publish.discrete_gaussian = sampler
        publish.release(graphs, ledger=ledger, dataset="clinic", epsilon=2.0, model=model, release_id="march",
                        output=sys.argv[3])
        """
    output = tmp_path / "summary"
    conftest = Path(__file__).parents[1] / "conftest.py"
    arguments = [str(tmp_path / "ledger.db"), str(conftest), str(output)]
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(code), *arguments], capture_output=True, check=False)
    assert killed.returncode == -9, killed.stderr
    assert not output.exists()
    assert ledger.budget("clinic").releases == 1
    with pytest.raises(PrivacyError, match="twice"):
        ledger.charge("clinic", "march", mu_squared=ledger.budget("clinic").spent, total_variation=0, request={})


def test_overlap_with_training_graphs_is_refused_before_the_charge(make_model, graphs, ledger):
    trained = make_model(trained_on=graphs[3].content_hashes())
    with pytest.raises(PrivacyError, match="1 of the reference graphs"):
        go(trained, graphs, ledger)
    assert ledger.budget("clinic").releases == 0
    go(trained, graphs[np.arange(len(graphs)) != 3], ledger)


@pytest.mark.parametrize(
    ("rows", "named"), [([3], r"\(record 4\)"), ([1, 3, 4, 9], r"4 of .* \(record 2, 4, 5, \.\.\.\)")]
)
def test_the_overlap_is_named(make_model, graphs, ledger, rows, named):
    """The holder learns which graphs to leave out, up to three of them."""
    with pytest.raises(PrivacyError, match=named):
        go(make_model(trained_on=graphs[rows].content_hashes()), graphs, ledger)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_an_odd_record_becomes_a_zero_row_without_a_word(model, graphs, ledger, value):
    exact = go(model, graphs, ledger, epsilon=1.0)
    lost = SMALL(model.channel_embeddings(graphs[4]))[0]
    model.broken = (int(graphs.sizes[4]), value)
    summary = go(model, graphs, ledger, epsilon=1.0)
    assert summary.references == len(graphs)
    np.testing.assert_allclose(exact.mean - summary.mean, lost / len(graphs), atol=1e-8)


def test_a_record_that_the_feature_map_cannot_take_stops_nothing(model, graphs, ledger, monkeypatch):
    """Alone in its batch, as with a model, or with others, as in a sketch, it costs its own row."""
    exact, lost = go(model, graphs, ledger, epsilon=1.0), SMALL(model.channel_embeddings(graphs[4]))[0]
    plain, sketched = model.channel_embeddings, SketchFeatures.__call__

    def failing(batch, embed=plain):
        if graphs.sizes[4] in batch.sizes:
            raise FloatingPointError("a model that failed")
        return embed(batch)

    model.channel_embeddings = failing
    summary = go(model, graphs, ledger, epsilon=1.0)
    np.testing.assert_allclose(exact.mean - summary.mean, lost / len(graphs), atol=1e-8)

    features = GraphFeatures(SketchFeatures(dimension=64), None)
    rows = features(graphs)
    monkeypatch.setattr(SketchFeatures, "__call__", lambda self, batch: failing(batch, partial(sketched, self)))
    np.testing.assert_array_equal(features(graphs), np.where(np.arange(len(graphs))[:, None] == 4, 0, rows))


def test_each_graph_is_embedded_on_its_own(model, graphs, ledger):
    sizes = []
    original = model.channel_embeddings
    model.channel_embeddings = lambda batch: sizes.append(len(batch)) or original(batch)
    go(model, graphs, ledger)
    assert sizes == [1] * len(graphs)


def test_replacing_a_graph_moves_the_integer_sum_by_at_most_two(model, make_graphs, ledger):
    one = go(model, make_graphs([5, 6, 7, 8]), ledger, epsilon=1.0)
    other = go(model, make_graphs([5, 6, 7, 40]), ledger, epsilon=1.0)
    difference = [int(x) for x in one.total - other.total]
    assert 0 < sum(x * x for x in difference) <= (2 * 2**30) ** 2


def test_no_seed_anywhere_on_the_release_path():
    names = set(inspect.signature(release).parameters)
    assert not {name for name in names if "seed" in name or "random" in name or "rng" in name or "sampler" in name}
    source = inspect.getsource(module)
    assert "np.random" not in source
    assert "default_rng" not in source


def test_source_prior_travels_with_the_summary(model, graphs, make_graphs, ledger):
    source = make_graphs([30, 31, 32])
    summary = go(model, graphs, ledger, source=source)
    prior = SMALL(model.channel_embeddings(source)).mean(axis=0)
    np.testing.assert_allclose(PrivateSummary.from_bytes(summary.to_bytes()).prior, prior)
    weight = 16 / 48
    np.testing.assert_allclose(summary.mean_with_prior, (1 - weight) * prior + weight * summary.mean)


def test_the_unit_of_an_account_decides_the_noise(model, graphs, ledger):
    """A budget adds up what one subject loses: an account has one unit, fixed when it is created."""
    account = ledger.grant("pairs", epsilon=4.0, delta=1e-5, graphs_per_subject=2)
    assert (account.graphs_per_subject, account.unit) == (2, "a subject with up to 2 graphs")
    one = go(model, graphs, ledger, epsilon=1.0)
    two = go(model, graphs, ledger, epsilon=1.0, dataset="pairs", disjoint=True)
    assert two.sigma == pytest.approx(2 * one.sigma, rel=1e-6)
    assert "up to 2 whole graphs" in two.statement
    assert ledger.budget("pairs").spent == pytest.approx(ledger.budget("clinic").spent)
    assert "graphs_per_subject" not in inspect.signature(release).parameters
    with pytest.raises(PrivacyError, match="subjects with up to 2 graphs"):
        ledger.charge("pairs", "x", mu_squared=ledger.budget("pairs").spent, total_variation=0,
                      request={"graphs_per_subject": 1})  # fmt: skip
    ledger.grant("wards", epsilon=4.0, delta=1e-5, graphs_per_subject=17)
    with pytest.raises(InputError, match=r"as a subject owns, 17, .* Found 16"):
        go(model, graphs, ledger, dataset="wards")
    for wrong in (0, 1.5, True):
        with pytest.raises(ParameterError, match="a whole number"):
            ledger.grant("odd", epsilon=4.0, delta=1e-5, graphs_per_subject=wrong)


@pytest.mark.parametrize("settings", [{"epsilon": 0.0}, {"delta": 0.9}])
def test_bad_requests_cost_nothing(model, graphs, ledger, settings):
    with pytest.raises(ParameterError):
        go(model, graphs, ledger, **settings)
    assert ledger.budget("clinic").releases == 0


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("folder", "is a directory"),
        ("references.smi", "exists already"),
        ("other.summary", "exists already"),
        ("dangling", "is a link"),
        ("absent/s", "no folder"),
        ("references.smi/s", "no folder"),
        ("/proc/s", "cannot be written"),
        ("x" * 250, "cannot be written"),
    ],
)
def test_an_output_that_cannot_be_written_costs_nothing(model, graphs, make_graphs, ledger, tmp_path, output, reason):
    (tmp_path / "folder").mkdir()
    (tmp_path / "references.smi").write_text("CCO\n")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    other = Ledger.create(tmp_path / "other.db")
    other.grant("clinic", epsilon=4.0, delta=1e-5)
    go(model, make_graphs([4, 5]), other, output=tmp_path / "other.summary")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(InputError, match=reason):
        go(model, graphs, ledger, output=tmp_path / output)
    assert ledger.budget("clinic").releases == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_a_write_that_fails_can_be_repeated_without_new_noise(model, graphs, ledger, tmp_path, monkeypatch):
    """Without an id of the caller's: the message must tell the one that was drawn."""
    from graphglass.privacy import private_summary

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(private_summary, "write_whole", full)
    with pytest.raises(ArtifactError, match=r"No space left.*was charged and is kept in the ledger") as failed:
        go(model, graphs, ledger, output=tmp_path / "s")
    release_id = re.search(r"--release-id ([0-9a-f-]{36}) ", str(failed.value))[1]
    with pytest.raises(ArtifactError, match=rf"Release {release_id} is kept in the ledger"):
        go(model, graphs, ledger, release_id=release_id, output=tmp_path / "s")
    monkeypatch.undo()
    again = go(model, graphs, ledger, release_id=release_id, output=tmp_path / "s", sampler=None)
    assert (tmp_path / "s").read_bytes() == again.to_bytes()
    assert ledger.budget("clinic").releases == 1


def test_a_file_that_appears_during_the_release_is_kept(model, graphs, ledger, tmp_path):
    def sampler(scale, size):
        (tmp_path / "s").write_text("somebody else's")
        return np.zeros(size, np.int64)

    with pytest.raises(ArtifactError, match=r"exists already.*--release-id r "):
        go(model, graphs, ledger, release_id="r", output=tmp_path / "s", sampler=sampler)
    assert (tmp_path / "s").read_text() == "somebody else's"
    go(model, graphs, ledger, release_id="r", output=tmp_path / "t", sampler=None)


def test_repeating_a_release_replaces_nothing_but_itself(model, graphs, ledger, tmp_path):
    go(model, graphs, ledger, epsilon=1.0, release_id="one", output=tmp_path / "one")
    go(model, graphs, ledger, epsilon=1.0, release_id="two", output=tmp_path / "two")
    (tmp_path / "references.smi").write_text("CCO\n")
    go(model, graphs, ledger, epsilon=1.0, release_id="one", output=tmp_path / "one", sampler=None)
    for name in ("two", "references.smi"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(ArtifactError, match="exists already and is not release one"):
            go(model, graphs, ledger, epsilon=1.0, release_id="one", output=tmp_path / name, sampler=None)
        assert (tmp_path / name).read_bytes() == before


def test_a_release_the_ledger_cannot_keep_is_named(model, graphs, ledger, monkeypatch):
    def full(*_):
        raise LedgerError("The disk is full.")

    monkeypatch.setattr(ledger, "complete", full)
    with pytest.raises(LedgerError, match=r"disk is full.*Release march was charged"):
        go(model, graphs, ledger, release_id="march")


def test_default_features_follow_the_model():
    assert default_features((64, 512)).channels == (("graph:64", 64), ("text:64", 64))
    assert default_features((16,)).channels == (("graph:16", 16), ("text:16", 16))


def test_the_chain_is_verified_once(model, graphs, ledger, tmp_path, monkeypatch):
    """A release opens the ledger many times; old entries are hashed once."""
    for i in range(20):
        ledger.grant(f"filler {i:03}", epsilon=1.0, delta=1e-5)
    hashed, original = [], hash_chain._digest
    monkeypatch.setattr(hash_chain, "_digest", lambda *entry: hashed.append(entry[0]) or original(*entry))
    go(model, graphs, Ledger(tmp_path / "ledger.db"))
    assert all(hashed.count(sequence) == 1 for sequence in range(20))


def test_a_second_name_for_released_graphs_is_refused(model, graphs, make_graphs, ledger):
    """The same graphs under two names would have two budgets, and merge as if they were disjoint."""
    ledger.grant("elsewhere", epsilon=4.0, delta=1e-5)
    go(model, graphs, ledger)
    reversed_nodes = canonical_graph_set(np.array([18]), np.arange(17)[::-1], np.arange(1, 18)[::-1])
    for again in (graphs, graphs[3:5], reversed_nodes):
        with pytest.raises(PrivacyError, match="released under the name 'clinic' before"):
            release(again, model=model, ledger=ledger, dataset="elsewhere", epsilon=1.0)
    assert ledger.budget("elsewhere").releases == 0
    release(make_graphs([40, 41]), model=model, ledger=ledger, dataset="elsewhere", epsilon=1.0)
    release(graphs[3], model=model, ledger=ledger, dataset="elsewhere", epsilon=1.0, disjoint=True)


def test_the_published_head_does_not_depend_on_the_graphs(model, make_graphs, tmp_path, monkeypatch):
    """Fingerprints stand outside the chain: other graphs, or none in a record, the same head, entry for entry."""
    monkeypatch.setattr("graphglass.privacy.release.ledger._now", lambda: "2026-01-01T00:00:00+00:00")
    monkeypatch.setattr("secrets.token_hex", lambda size: "ab" * size)
    heads, stored = [], []
    for i, source in enumerate((make_graphs([5, 6, 7]), make_graphs([8, 9, 70]), [{"nodes": 2}, None, {"nodes": "x"}])):
        book = Ledger.create(tmp_path / f"{i}.db")
        book.grant("clinic", epsilon=4.0, delta=1e-5)
        heads.append(go(model, source, book, release_id="one").sites[0].ledger_head)
        connection = sqlite3.connect(tmp_path / f"{i}.db")
        stored.append(connection.execute("SELECT fingerprint FROM fingerprints ORDER BY 1").fetchall())
        connection.close()
    assert heads[0] == heads[1] == heads[2]
    assert stored[0] != stored[1]
