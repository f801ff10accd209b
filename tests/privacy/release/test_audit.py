"""The audit passes the real mechanism and catches noise that is short; neighbouring files pass one too."""

import math

import numpy as np
import pytest
from scipy.stats import beta
from typer.testing import CliRunner

from graphglass.cli import private
from graphglass.errors import ParameterError
from graphglass.privacy.private_summary import PrivateSummary
from graphglass.privacy.release.audit import audit
from graphglass.privacy.release.ledger import Ledger
from graphglass.privacy.release.mechanism import discrete_gaussian
from graphglass.privacy.release.publish import GraphFeatures, exact_sum, release
from graphglass.privacy.release.records import read_records
from graphglass.privacy.sketch_features import SketchFeatures

from .neighbouring_files import FORMATS, odd_records, rings


def short(factor, seed):
    """Rounded Gaussian noise, smaller than asked for."""
    rng = np.random.default_rng(seed)
    return lambda scale, size: np.rint(rng.normal(0.0, scale / factor, size)).astype(np.int64)


def test_the_real_sampler_passes():
    result = audit(draws=20_000)
    assert result.passed
    assert result.mu_claimed == pytest.approx(0.92493, abs=1e-5)
    assert result.mu_lower > 0.85 * result.mu_claimed


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("factor", [1.11, 2**0.5, 2.0])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_planted_bugs_are_caught(epsilon, factor, seed):
    """Noise that is 10 per cent short makes mu 11 per cent larger."""
    result = audit(epsilon=epsilon, sampler=short(factor, seed))
    assert result.draws == result.draws_needed
    assert not result.passed
    assert result.mu_lower <= factor * result.mu_claimed * 1.02


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_correct_noise_is_not_accused(epsilon, seed):
    assert audit(epsilon=epsilon, sampler=short(1.0, seed)).passed


def test_an_audit_without_power_says_what_it_would_take():
    result = audit(epsilon=0.1, sampler=short(1.0, 0))
    assert result.draws == 500_000 < result.draws_needed
    assert audit(epsilon=1.0, draws=2000, sampler=short(1.0, 0)).draws_needed > 100_000


def test_a_bug_planted_in_the_real_sampler_is_caught():
    result = audit(draws=10_000, sampler=lambda scale, size: discrete_gaussian(round(scale / 2**0.5), size))
    assert not result.passed


def test_too_few_draws_are_refused():
    with pytest.raises(ParameterError):
        audit(draws=10)


DRAWS, RECORDS = 30, 60


def epsilon_proven(alarms, misses, confidence=0.999):
    """The epsilon that so many errors of a test in DRAWS releases a side refute, with this confidence."""
    upper = [1.0 if k == DRAWS else float(beta.ppf((1 + confidence) / 2, k + 1, DRAWS - k)) for k in (alarms, misses)]
    return math.log(max(1.0 - upper[1] - 1e-5, 1e-9) / upper[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_neighbouring_files_keep_the_promise(name, tmp_path):
    """Releases of two files of 60 records, through the command line: no attack proves more than epsilon 1.

    The attack knows both exact sums. Read as sets, the two JSON Lines files would be told apart without an error, which
    proves epsilon 1.24.
    """
    write, graphs = FORMATS[name][0], rings(None, None, RECORDS)
    place = {"smiles csv": 1, "edge csv": -7, "edge parquet": 1, "graph parquet": 8, "networkx": 1, "pyg": 2}
    odd = odd_records(name)[place.get(name, 0)]
    sources = []
    for folder, record in (("one", ()), ("other", (odd,))):
        (tmp_path / folder).mkdir()
        sources.append(write(tmp_path / folder, graphs, *record))
    features = GraphFeatures(SketchFeatures.for_budget(RECORDS, 1.0, 1e-5), None)
    sums = [exact_sum(features, read_records(source, whole=False)).astype(float) for source in sources]
    direction = sums[1] - sums[0]
    assert 0 < np.linalg.norm(direction) <= 2 * 2**30
    middle = direction @ (sums[0] + sums[1]) / 2
    wrong = [0, 0]
    for draw in range(DRAWS):
        for side, source in enumerate(sources):
            ledger, output = tmp_path / f"{draw}-{side}.db", tmp_path / f"{draw}-{side}.summary"
            arguments = [source, "--ledger", ledger, "--epsilon", 1, "-o", output]
            for command in (("budget", "create", ledger, "--dataset", "d", "--epsilon", 1), ("release", *arguments)):
                if command[0] == "release" and isinstance(source, list):
                    release(source, ledger=Ledger(ledger), dataset="d", epsilon=1.0, output=output)
                    continue  # objects have no path
                result = CliRunner().invoke(private.app, [str(argument) for argument in command])
                assert result.exit_code == 0, (result.output, result.exception)
            wrong[side] += (PrivateSummary.load(output).total @ direction > middle) != bool(side)
    assert epsilon_proven(*wrong) < 1.0
    assert epsilon_proven(0, 0) > 1.2  # what an attack without an error would prove
