"""glass private, from budget to merged summary, with a stand-in model."""

import json
import re
import sys
import types

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from graphglass.errors import ArtifactError, BudgetError, InputError, LedgerError, PrivacyError
from graphglass.privacy.commands import app
from graphglass.privacy.private_summary import PrivateSummary


class StandIn:
    @classmethod
    def load(cls, path):
        return cls()

    def channel_embeddings(self, graphs):
        rows = np.sin(np.outer(graphs.sizes, np.linspace(0.1, 2.0, 64)))
        return dict.fromkeys(("graph:64", "text:64"), rows / np.linalg.norm(rows, axis=1, keepdims=True))

    @property
    def embedder_(self):
        return types.SimpleNamespace(slices=(64,))

    def encoder_fingerprint(self):
        return "stand-in"

    def training_hashes(self):
        return frozenset()


def paths(counts):
    """A JSON record per number of nodes."""
    return [{"nodes": n, "edges": [[i, i + 1] for i in range(n - 1)]} for n in counts]


def write(path, records):
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))


@pytest.fixture
def glass(monkeypatch, tmp_path):
    """The command in a folder with ten private and three public graphs, and a stand-in for the model."""
    module = types.ModuleType("graphglass.glass.estimator")
    module.GLASS = StandIn
    monkeypatch.setitem(sys.modules, "graphglass.glass.estimator", module)
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "r.jsonl", paths(range(3, 13)))
    write(tmp_path / "public.jsonl", paths([30, 31, 32]))

    def run(*arguments, code=0):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if code is not None:
            assert result.exit_code == code, (result.output, result.exception)
        return result

    return run


def budget(glass, ledger):
    glass("budget", "create", ledger, "--dataset", "d", "--epsilon", 4)


def release(ledger, epsilon=1):
    return "release", "r.jsonl", "--model", "m", "--ledger", ledger, "--dataset", "d", "--epsilon", epsilon


def show(glass, ledger):
    return glass("show", ledger).output


def test_from_budget_to_merged_summary(glass, tmp_path):
    for site in "ab":
        ledger = tmp_path / f"{site}.db"
        assert "mu^2 0.855497" in glass("budget", "create", ledger, "--dataset", "d", "--epsilon", 4).output
        out = glass(
            "release",
            "r.jsonl",
            "--model",
            "m",
            "--ledger",
            ledger,
            "--dataset",
            "d",
            "--epsilon",
            2,
            "-o",
            tmp_path / site,
        ).output
        assert "(2, 1e-05)-differential privacy" in out
        assert "has spent epsilon 2 of 4" in out
    assert "n = 10" in glass("show", tmp_path / "a").output
    shown = glass("show", tmp_path / "a.db", "--summary", tmp_path / "a").output
    assert f"{tmp_path / 'a'}: release {PrivateSummary.load(tmp_path / 'a').sites[0].release} is entry 2\n" in shown
    assert "chain intact" in shown
    assert "in 1 release;" in shown
    merged = tmp_path / "merged"
    refused = glass("merge", tmp_path / "a", tmp_path / "b", "-o", merged, code=1)
    assert isinstance(refused.exception, PrivacyError)
    assert "20 graphs" in glass("merge", tmp_path / "a", tmp_path / "b", "--disjoint", "-o", merged).output
    assert PrivateSummary.load(merged).references == 20
    before = (tmp_path / "a").read_bytes()
    refused = glass("merge", tmp_path / "a", tmp_path / "b", "--disjoint", "-o", tmp_path / "a", code=1)
    assert "exists already" in str(refused.exception)
    assert (tmp_path / "a").read_bytes() == before
    shown = glass("show", tmp_path / "b.db", "--summary", merged).output
    assert shown.count("is entry 2") == shown.count("is not of this ledger") == 1


def test_show_refuses_a_summary_of_another_ledger(glass, tmp_path):
    for site in "ab":
        budget(glass, tmp_path / f"{site}.db")
        glass(*release(tmp_path / f"{site}.db"), "-o", tmp_path / site)
    refused = glass("show", tmp_path / "a.db", "--summary", tmp_path / "b", code=1)
    assert isinstance(refused.exception, LedgerError)
    assert str(refused.exception).startswith(f"{tmp_path / 'b'}: No release of the summary")
    assert isinstance(glass("show", tmp_path / "a", "--summary", tmp_path / "b", code=1).exception, InputError)


def test_a_failed_write_is_recovered_by_the_id_it_tells(glass, tmp_path, monkeypatch):
    from graphglass.privacy import private_summary

    def full(*_):
        raise OSError(28, "No space left on device")

    ledger = tmp_path / "l.db"
    budget(glass, ledger)
    with monkeypatch.context() as patch:
        patch.setattr(private_summary, "write_whole", full)
        failed = glass(*release(ledger), "-o", tmp_path / "s", code=1)
    release_id = re.search(r"was charged .* --release-id (\S+) ", str(failed.exception))[1]
    assert re.search(rf"release {release_id}: entry 2, .*, epsilon 1 at delta 1e-05, finished\n", show(glass, ledger))
    assert f"release {release_id}." in glass(*release(ledger), "--release-id", release_id, "-o", tmp_path / "t").output
    assert PrivateSummary.load(tmp_path / "t").sites[0].release == release_id
    assert "in 1 release;" in show(glass, ledger)


def test_outputs_in_the_way_cost_nothing(glass, tmp_path):
    ledger, graphs = tmp_path / "l.db", tmp_path / "graphs.smi"
    budget(glass, ledger)
    graphs.write_text("CCO\n")
    (tmp_path / "folder").mkdir()
    for output in (graphs, tmp_path / "folder", tmp_path / "absent" / "s", ledger):
        assert isinstance(glass(*release(ledger), "-o", output, code=1).exception, InputError)
    assert graphs.read_text() == "CCO\n"
    assert "in 0 releases" in show(glass, ledger)


def test_loud_noise_is_told_before_the_charge_and_not_for_a_stored_release(glass, tmp_path, monkeypatch):
    from graphglass.privacy.release.ledger import Ledger

    ledger = tmp_path / "l.db"
    budget(glass, ledger)
    charge = Ledger.charge

    def telling(self, *arguments, **settings):
        typer.echo("CHARGED", err=True)
        return charge(self, *arguments, **settings)

    monkeypatch.setattr(Ledger, "charge", telling)
    loud = glass(*release(ledger), "--release-id", "one", "-o", tmp_path / "s")
    # 2 / 10 times the multiplier 3.7306 of (1, 1e-5); 2 * 3.7306 / 0.25 = 29.8
    assert re.search(r"^Warning: .*10 graphs .*sigma = 0\.746 .*30 graphs.*\nCHARGED\n$", loud.stderr)
    assert "Warning" not in loud.stdout
    assert glass(*release(ledger), "--release-id", "one", "-o", tmp_path / "t").stderr == ""
    budget(glass, tmp_path / "quiet.db")
    assert glass(*release(tmp_path / "quiet.db", epsilon=4), "-o", tmp_path / "u").stderr == "CHARGED\n"


def test_other_files_are_named_for_what_they_are(glass, tmp_path):
    other = tmp_path / "new.smi"
    other.write_text("CCO\n")
    assert f"{other} is not a graphglass-private-summary" in str(glass("show", other, code=1).exception)
    refused = glass("budget", "create", other, "--dataset", "d", "--epsilon", 1, code=1)
    assert f"{other} is not a ledger but another kind of file" in str(refused.exception)
    assert other.read_text() == "CCO\n"


def test_release_ids_and_overspending(glass, tmp_path):
    ledger = tmp_path / "l.db"
    glass("budget", "create", ledger, "--dataset", "d", "--epsilon", 2)
    command = ("release", "r.jsonl", "--model", "m", "--ledger", ledger, "--dataset", "d")
    glass(*command, "--epsilon", 2, "--release-id", "one", "-o", tmp_path / "first")
    glass(*command, "--epsilon", 2, "--release-id", "one", "-o", tmp_path / "again")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "again").read_bytes()
    more = glass(*command, "--epsilon", 1, "-o", tmp_path / "s", code=1)
    assert isinstance(more.exception, BudgetError)
    assert not (tmp_path / "s").exists()


def test_source_graphs_become_a_prior(glass, tmp_path):
    glass("budget", "create", tmp_path / "l.db", "--dataset", "d", "--epsilon", 2)
    glass(*release(tmp_path / "l.db"), "--public", "public.jsonl", "-o", tmp_path / "s")
    assert PrivateSummary.load(tmp_path / "s").prior is not None


def test_a_merge_without_a_common_prior_is_reported(glass, tmp_path):
    for site, source in (("a", ("--public", "public.jsonl")), ("b", ())):
        budget(glass, tmp_path / f"{site}.db")
        glass(*release(tmp_path / f"{site}.db"), *source, "-o", tmp_path / site)
    merged = glass("merge", tmp_path / "a", tmp_path / "b", "--disjoint", "-o", tmp_path / "merged")
    assert "the merged summary has none" in merged.stderr


def test_sigma_prints_the_noise_of_the_paper(glass):
    assert "sigma = 0.01689" in glass("sigma", "--epsilon", 4, "--delta", "1e-5", "--n", 128).output
    assert "sigma = 0.2703" in glass("sigma", "--epsilon", 4, "--n", 8).output


def test_audit_reports_and_fails_on_a_broken_promise(glass, monkeypatch):
    from graphglass.privacy.release import audit as module

    rng = np.random.default_rng(0)

    def noise(factor):
        return lambda scale, size: np.rint(rng.normal(0, scale / factor, size)).astype(np.int64)

    original = module.audit
    monkeypatch.setattr(module, "audit", lambda **settings: original(**settings, sampler=noise(1.0)))
    assert "consistent with the promise" in glass("audit").output
    monkeypatch.setattr(module, "audit", lambda **settings: original(**settings, sampler=noise(1.1)))
    assert "BROKEN" in glass("audit", code=1).output


def test_show_needs_a_file(glass, tmp_path):
    assert isinstance(glass("show", tmp_path / "absent", code=1).exception, ArtifactError)


def test_a_record_of_another_form_counts_as_zero_and_the_holder_is_told(glass, tmp_path):
    """The number of references is published: no record may be left out, and no error may tell that one is odd."""
    records = paths(range(3, 13))
    records[4]["nodes"] = [{"id": i, "label": "C"} for i in range(7)]
    write(tmp_path / "r.jsonl", records)
    with (tmp_path / "r.jsonl").open("a") as file:
        file.write("no JSON\n")
    budget(glass, tmp_path / "l.db")
    options = (*release(tmp_path / "l.db")[:2], "--ledger", tmp_path / "l.db", "--epsilon", 2)
    for declared, fitting in (((), 10), (("--node-label-type", "none"), 9), (("--edge-label-type", "text"), 0)):
        told = glass(*options, "-o", tmp_path / "s", *declared, "--dry-run")
        assert told.stderr.startswith(f"{fitting} of 11 records can be read and have the form: node labels ")
    assert "in 0 releases" in show(glass, tmp_path / "l.db")
    assert not (tmp_path / "s").exists()
    made = glass(*options, "-o", tmp_path / "s", "--node-label-type", "none", "--undirected")
    assert "9 of 11 records" in made.stderr
    assert "as node labels none; edge labels any; direction no edge has one" in made.stdout
    assert "n = 11 is public" in made.stdout
    wrong = glass(*options, "-o", tmp_path / "t", "--node-label-type", "colour", code=1)
    assert "one of any, none, number, text" in str(wrong.exception)


def test_the_unit_of_a_budget_is_shown(glass, tmp_path):
    ledger = tmp_path / "l.db"
    made = glass("budget", "create", ledger, "--dataset", "d", "--epsilon", 4, "--graphs-per-subject", 5)
    assert "for a subject with up to 5 graphs" in made.output
    assert "for a subject with up to 5 graphs" in glass(*release(ledger), "-o", tmp_path / "s").output
    assert "for a subject with up to 5 graphs" in show(glass, ledger)
    assert "up to 5 whole graphs" in glass("show", tmp_path / "s").output
    assert glass(*release(ledger), "--graphs-per-subject", 1, "-o", tmp_path / "t", code=2).exit_code == 2


def test_private_graphs_are_no_public_ones(glass, tmp_path):
    """Their mean would be published without noise."""
    budget(glass, tmp_path / "l.db")
    write(tmp_path / "both.jsonl", [*paths([30]), {"directed": True, **paths([5])[0]}])
    for public, shared in (("r.jsonl", "10 of the 10"), ("both.jsonl", "1 of the 2")):
        refused = glass(*release(tmp_path / "l.db"), "--public", public, "-o", tmp_path / "s", code=1).exception
        assert isinstance(refused, PrivacyError)
        assert f"{shared} public graphs are among the private ones" in str(refused)
    assert "in 0 releases" in show(glass, tmp_path / "l.db")


def test_a_release_without_a_model(glass, tmp_path):
    """From budget to scores with nothing but graphs."""
    ledger = tmp_path / "l.db"
    budget(glass, ledger)
    out = glass("release", "r.jsonl", "--ledger", ledger, "--epsilon", 4, "-o", tmp_path / "s").output
    assert "public sketch, version 1" in out
    assert "d has spent epsilon 4 of 4" in out
    assert PrivateSummary.load(tmp_path / "s").encoder is None
    glass("budget", "create", ledger, "--dataset", "second", "--epsilon", 4)
    several = glass("release", "r.jsonl", "--ledger", ledger, "--epsilon", 1, "-o", tmp_path / "t", code=1)
    assert "Name one with --dataset" in str(several.exception)


def test_sharpness_beside_a_model_is_refused(glass, tmp_path):
    budget(glass, tmp_path / "l.db")
    options = ("--model", "m", "--sharpness", 2)
    refused = glass(
        "release", "r.jsonl", "--ledger", tmp_path / "l.db", "--epsilon", 1, "-o", tmp_path / "s", *options, code=1
    )
    assert "--sharpness is for sketches" in str(refused.exception)
