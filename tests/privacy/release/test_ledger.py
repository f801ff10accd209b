"""The ledger: never overspent, never a second draw, whatever happens to the process or the disk."""

import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.channels.sketch import DIMENSION
from graphglass.errors import BudgetError, LedgerError, ParameterError, PrivacyError
from graphglass.privacy.noise_scale import gaussian_delta, noise_multiplier
from graphglass.privacy.release import hash_chain as chain
from graphglass.privacy.release.accounts import Budget
from graphglass.privacy.release.ledger import Ledger
from graphglass.privacy.release.mechanism import Mechanism

TINY = Fraction(1, 10**30)


def spend(ledger, release, mu_squared, dataset="clinic"):
    return ledger.charge(dataset, release, mu_squared=mu_squared, total_variation=TINY, request={"n": 1})


def run(code, *arguments, check=True):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], capture_output=True, text=True, check=check
    )


@pytest.fixture
def path(ledger, tmp_path):
    return tmp_path / "ledger.db"


def test_one_release_at_the_full_promise_fits_exactly(ledger):
    mechanism = Mechanism(4.0, 1e-5, 1024)
    ledger.charge(
        "clinic", "r1", mu_squared=mechanism.mu_squared, total_variation=mechanism.total_variation, request={}
    )
    budget = ledger.budget("clinic")
    assert budget.releases == 1
    assert budget.epsilon_spent == pytest.approx(4.0, rel=1e-6)
    with pytest.raises(BudgetError, match="left"):
        spend(ledger, "r2", Fraction(1, 1000))


def test_displayed_remainder_can_be_spent(ledger):
    first = Mechanism(2.0, 1e-5, 1024)
    ledger.charge("clinic", "a", mu_squared=first.mu_squared, total_variation=TINY, request={})
    left = Mechanism(ledger.budget("clinic").epsilon_remaining, 1e-5, 1024)
    ledger.charge("clinic", "b", mu_squared=left.mu_squared, total_variation=TINY, request={})
    assert ledger.budget("clinic").epsilon_remaining < 0.2


@pytest.mark.parametrize("epsilon", [4.0, 10.0, 12.0, 14.0])
def test_integer_noise_bounds_the_displayed_remainder(ledger, epsilon):
    ledger.grant("large", epsilon=epsilon, delta=1e-5)

    def ask(release, wanted):
        noise = Mechanism(wanted, 1e-5, DIMENSION)
        return ledger.charge(
            "large", release, mu_squared=noise.mu_squared, total_variation=noise.total_variation, request={}
        )

    ask("first", 1.0)
    left = ledger.budget("large").epsilon_remaining
    with pytest.raises((BudgetError, PrivacyError), match=r"left|does not suffice|too large for integer noise"):
        ask("more", left + 0.01)
    ask("all", left)
    assert ledger.budget("large").epsilon_remaining < epsilon - 1


@pytest.mark.parametrize("short", [1e-9, 5e-9])
def test_a_remainder_just_below_a_thousandth_is_rounded_down(short):
    mu = 1 / Fraction(noise_multiplier(2.0 - short, gaussian_delta(1e-5)))
    budget = Budget("clinic", 4.0, 1e-5, 1, mu**2, Fraction(0), Fraction(0), 0)
    assert budget.epsilon_remaining == 1.999
    assert Mechanism(1.999, 1e-5, DIMENSION).mu_squared <= budget.remaining


def test_errors_do_not_round_the_remainder_up(ledger):
    ledger.grant("large", epsilon=11.0, delta=1e-3)
    first = Mechanism(1.0, 1e-3, DIMENSION)
    cost = {"mu_squared": first.mu_squared, "total_variation": first.total_variation}
    ledger.charge("large", "first", **cost, request={})
    assert ledger.budget("large").epsilon_remaining == 10.838
    with pytest.raises(BudgetError, match=r"a release of epsilon 10\.838 at delta"):
        ledger.charge("large", "more", mu_squared=Fraction(1000), total_variation=TINY, request={})


@settings(max_examples=10, deadline=None)
@given(st.lists(st.fractions(Fraction(1, 500), Fraction(1, 2), max_denominator=997), min_size=2, max_size=5))
def test_sums_are_exact_and_never_exceed_the_budget(tmp_path_factory, costs):
    ledger = Ledger.create(tmp_path_factory.mktemp("ledger") / "l.db")
    total = ledger.grant("d", epsilon=4.0, delta=1e-5).mu_squared
    spent = Fraction(0)
    for i, cost in enumerate(costs):
        if spent + cost <= total:
            spend(ledger, str(i), cost, "d")
            spent += cost
        else:
            with pytest.raises(BudgetError):
                spend(ledger, str(i), cost, "d")
    assert ledger.budget("d").spent == spent <= total


def test_budget_is_fixed_at_creation_and_per_dataset(ledger):
    with pytest.raises(BudgetError, match="already"):
        ledger.grant("clinic", epsilon=8.0, delta=1e-5)
    with pytest.raises(BudgetError, match="no budget"):
        spend(ledger, "r", Fraction(1, 100), "unknown")
    ledger.grant("other", epsilon=1.0, delta=1e-6)
    spend(ledger, "r", Fraction(1, 100), "other")
    assert ledger.budget("clinic").spent == 0
    assert ledger.datasets() == ("clinic", "other")
    for name in ("", "x" * 201):
        with pytest.raises(ParameterError):
            ledger.grant(name, epsilon=1.0, delta=1e-5)


def test_a_budget_that_no_release_could_spend_is_refused(ledger):
    with pytest.raises(BudgetError, match="epsilon = 64 is too large a budget"):
        ledger.grant("ward", epsilon=64, delta=1e-5)
    assert "ward" not in ledger.datasets()
    ledger.grant("ward", epsilon=14, delta=1e-5)


def test_slack_is_limited_too(ledger):
    with pytest.raises(BudgetError, match="integer noise"):
        ledger.charge("clinic", "r", mu_squared=Fraction(1, 10**6), total_variation=Fraction(1, 10**12), request={})


def test_one_release_id_is_charged_once_and_completed_once(ledger):
    spend(ledger, "r", Fraction(1, 10))
    with pytest.raises(PrivacyError, match="twice"):
        spend(ledger, "r", Fraction(1, 10))
    assert ledger.find("r").artifact is None
    assert ledger.budget("clinic").spent == Fraction(1, 10)  # pending counts as spent
    ledger.complete("r", b"summary")
    assert ledger.artifact("r") == b"summary"
    with pytest.raises(PrivacyError):
        ledger.complete("r", b"another")
    with pytest.raises(PrivacyError):
        ledger.complete("never charged", b"x")
    assert ledger.find("never charged") is None


def test_file_is_private_and_settings_are_durable(ledger, path):
    assert path.stat().st_mode & 0o777 == 0o600
    with ledger._chain._locked() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    path.chmod(0o644)
    with pytest.raises(LedgerError, match="chmod 600"):
        Ledger(path)


class WithoutWal(sqlite3.Connection):
    """A database on a file system that has no write-ahead log."""

    def execute(self, sql, *arguments):
        return super().execute(sql.replace("= WAL", "= DELETE"), *arguments)


def _no_wal(monkeypatch):
    monkeypatch.setattr(chain.sqlite3, "connect", partial(sqlite3.connect, factory=WithoutWal))


def _bad_schema(monkeypatch):
    monkeypatch.setattr(chain, "_SCHEMA", chain._SCHEMA + "CREATE NONSENSE;")


def _no_head(monkeypatch):
    def full(*_, **__):
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(chain, "write_whole", full)


@pytest.mark.parametrize("failure", [_no_wal, _bad_schema, _no_head])
def test_a_failed_creation_leaves_nothing_in_the_way(tmp_path, monkeypatch, failure):
    with monkeypatch.context() as patch:
        failure(patch)
        with pytest.raises(LedgerError, match=r"write-ahead log|cannot be created|head cannot be written"):
            Ledger.create(tmp_path / "new.db")
    assert list(tmp_path.iterdir()) == []
    Ledger.create(tmp_path / "new.db").grant("clinic", epsilon=1.0, delta=1e-5)


def test_rows_cannot_be_updated_or_deleted(ledger, path):
    spend(ledger, "r", Fraction(1, 10))
    connection = sqlite3.connect(path)
    for statement in ("UPDATE entries SET kind = 'x'", "DELETE FROM entries", "DELETE FROM contents"):
        if statement.endswith("contents"):
            ledger.complete("r", b"blob")
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
        connection.rollback()
    connection.close()


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE entries SET body = replace(body, '1/10', '1/10000') WHERE kind = 'charge'",
        "DELETE FROM entries WHERE kind = 'charge'",
        "UPDATE entries SET body = replace(body, '\"epsilon\": 4.0', '\"epsilon\": 9.0') WHERE kind = 'budget'",
        "UPDATE contents SET content = x'00'",
    ],
)
def test_tampering_behind_the_triggers_is_noticed(ledger, path, tampering):
    spend(ledger, "r", Fraction(1, 10))
    ledger.complete("r", b"summary")
    connection = sqlite3.connect(path)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    changed = connection.execute(tampering).rowcount
    connection.commit()
    connection.close()
    assert changed == 1
    with pytest.raises(LedgerError):
        Ledger(path).artifact("r")


def test_a_restored_backup_is_refused(ledger, path, tmp_path):
    spend(ledger, "r1", Fraction(1, 10))
    shutil.copy2(path, tmp_path / "backup.db")
    spend(ledger, "r2", Fraction(1, 10))
    for stale in tmp_path.glob("ledger.db-*"):
        stale.unlink()
    shutil.copy2(tmp_path / "backup.db", path)
    with pytest.raises(LedgerError, match="rolled back"):
        Ledger(path)
    with pytest.raises(LedgerError, match="rolled back"):
        spend(ledger, "r3", Fraction(1, 10))


def test_a_missing_or_foreign_head_is_refused(ledger, path):
    spend(ledger, "r1", Fraction(1, 10))
    head = path.with_name("ledger.db.head")
    saved = head.read_text()
    head.unlink()
    with pytest.raises(LedgerError, match="missing"):
        Ledger(path)
    head.write_text("{}")
    with pytest.raises(LedgerError):
        Ledger(path)
    head.write_text(saved)
    path.unlink()
    with pytest.raises(LedgerError, match="forget"):
        Ledger.create(path)


def test_not_a_ledger(tmp_path, ledger, path):
    with pytest.raises(LedgerError, match="no ledger"):
        Ledger(tmp_path / "absent.db")
    text = tmp_path / "text.db"
    text.write_text("not a database " * 100)
    text.chmod(0o600)
    with pytest.raises(LedgerError):
        Ledger(text)
    with pytest.raises(LedgerError, match="exists"):
        Ledger.create(path)
    with pytest.raises(LedgerError):
        Ledger.create(tmp_path / "no such directory" / "l.db")


def _text(path):
    path.write_text("CCO\n")


def _long_text(path):
    path.write_text("not a database " * 1000)


def _other_database(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE something (x)")
    connection.close()


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, _text, _long_text, _other_database, lambda path: path.touch()])
@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_another_file_is_called_that_and_left_alone(tmp_path, make, mode):
    """And nobody is told to change its permissions."""
    path = tmp_path / "new.smi"
    make(path)
    path.chmod(mode | 0o100 if path.is_dir() else mode)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(LedgerError, match=r"new\.smi is not a ledger but (a|another|no) .*a new file") as refused:
        Ledger(path)
    assert "chmod" not in str(refused.value)
    assert [item.name for item in tmp_path.iterdir()] == ["new.smi"]
    assert (path.read_bytes() if path.is_file() else None) == before


def test_releases_are_listed_with_what_became_of_them(ledger):
    ledger.grant("other", epsilon=1.0, delta=1e-6)
    for name, dataset in (("a", "clinic"), ("b", "other"), ("c", "clinic")):
        request = {"epsilon": 0.5, "delta": 1e-7}
        ledger.charge(dataset, name, mu_squared=Fraction(1, 100), total_variation=TINY, request=request)
    ledger.complete("a", b"summary")
    listed = ledger.releases("clinic")
    assert [(line.release, line.sequence, line.artifact is None) for line in listed] == [
        ("a", 3, False),
        ("c", 5, True),
    ]
    assert {(line.request["epsilon"], line.dataset) for line in listed} == {(0.5, "clinic")}
    assert [line.release for line in ledger.releases("other")] == ["b"]


@pytest.mark.slow
def test_kill_between_charge_and_artifact_spends_and_never_redraws(ledger, path):
    result = run(
        """
        import os, signal, sys
        from fractions import Fraction
        from graphglass.privacy.release.ledger import Ledger
        ledger = Ledger(sys.argv[1])
        ledger.charge("clinic", "r", mu_squared=Fraction(1, 10), total_variation=Fraction(0), request={})
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        path,
        check=False,
    )
    assert result.returncode == -9
    reopened = Ledger(path)
    assert reopened.budget("clinic").spent == Fraction(1, 10)
    assert reopened.find("r").artifact is None
    with pytest.raises(PrivacyError, match="twice"):
        spend(reopened, "r", Fraction(1, 10))


@pytest.mark.slow
def test_kill_inside_the_transaction_leaves_the_ledger_whole(ledger, path):
    result = run(
        """
        import os, signal, sys
        from graphglass.privacy.release.hash_chain import HashChain
        with HashChain(sys.argv[1]).transaction() as transaction:
            transaction.append("charge", {"dataset": "clinic", "release": "r", "mu_squared": "1/2"})
            os.kill(os.getpid(), signal.SIGKILL)
        """,
        path,
        check=False,
    )
    assert result.returncode == -9
    assert Ledger(path).budget("clinic").spent == 0


@pytest.mark.slow
def test_four_racing_processes_never_overspend(ledger, path):
    code = """
        import sys
        from fractions import Fraction
        from graphglass.errors import BudgetError
        from graphglass.privacy.release.ledger import Ledger
        ledger, done = Ledger(sys.argv[1]), 0
        for i in range(4):
            try:
                ledger.charge("clinic", f"{sys.argv[2]}-{i}", mu_squared=Fraction(1, 10), total_variation=Fraction(0),
                              request={})
                done += 1
            except BudgetError:
                pass
        print(done)
        """
    processes = [
        subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), str(path), str(i)], stdout=subprocess.PIPE)
        for i in range(4)
    ]
    done = [int(process.communicate()[0]) for process in processes]
    budget = Ledger(path).budget("clinic")
    assert sum(done) == budget.releases == 8  # floor(0.8555 * 10)
    assert budget.spent == Fraction(8, 10) <= budget.mu_squared


def test_racing_for_one_release_id_charges_it_once(ledger, path):
    code = """
        import sys
        from fractions import Fraction
        from graphglass.errors import PrivacyError
        from graphglass.privacy.release.ledger import Ledger
        try:
            ledger = Ledger(sys.argv[1])
            ledger.charge("clinic", "same", mu_squared=Fraction(1, 12), total_variation=Fraction(0), request={})
            print(1)
        except PrivacyError:
            print(0)
        """
    command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    assert sum(int(process.communicate()[0]) for process in processes) == 1
    assert Ledger(path).budget("clinic").releases == 1


def test_a_full_disk_refuses_and_leaves_the_ledger_whole(ledger, path):
    # No file of the child may grow past 4 KiB: the log cannot take the charge, as on a full disk.
    result = run(
        """
        import resource, signal, sys
        from fractions import Fraction
        from graphglass.errors import LedgerError
        from graphglass.privacy.release.ledger import Ledger
        ledger = Ledger(sys.argv[1])
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            ledger.charge("clinic", "r", mu_squared=Fraction(1, 10), total_variation=Fraction(0), request={})
        except LedgerError as error:
            print("refused", error)
        """,
        path,
    )
    assert result.stdout.startswith("refused")
    assert Ledger(path).budget("clinic").spent in (0, Fraction(1, 10))
    spend(Ledger(path), "later", Fraction(1, 10))


def test_a_head_that_cannot_be_written_stops_the_release_after_the_charge(ledger, monkeypatch):
    from graphglass.privacy.release import hash_chain as chain

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(chain, "write_whole", full)
    with pytest.raises(LedgerError, match="No space left"):
        spend(ledger, "r", Fraction(1, 10))
    monkeypatch.undo()
    assert ledger.budget("clinic").spent == Fraction(1, 10)


@pytest.mark.skipif(os.name != "posix", reason="file permissions")
def test_a_read_only_ledger_refuses_to_charge(ledger, path, tmp_path):
    if os.geteuid() == 0:
        for item in [tmp_path, *tmp_path.iterdir()]:
            os.chown(item, 65534, 65534)
        for parent in tmp_path.parents:
            if parent.stat().st_mode & 0o001:
                break
            os.chmod(parent, 0o755)
    path.chmod(0o400)
    tmp_path.chmod(0o500)
    effective = os.geteuid()
    try:
        if effective == 0:
            os.seteuid(65534)
        with pytest.raises(LedgerError):
            spend(ledger, "r", Fraction(1, 10))
    finally:
        os.seteuid(effective)
        tmp_path.chmod(0o700)
        path.chmod(0o600)
    if effective == 0:
        for item in [tmp_path, *tmp_path.iterdir()]:
            os.chown(item, 0, 0)
    assert Ledger(path).budget("clinic").spent == 0


@pytest.mark.parametrize(
    "other", ["Clinic", "CLINIC ", "cl1nic", "clin-ic", "clinic\u200b", "cl\u00ednic", "\u0441linic"]
)
def test_a_name_that_looks_like_another_is_refused(ledger, other):
    """One space or one Cyrillic letter more would be a second budget for the same graphs."""
    with pytest.raises((BudgetError, ParameterError), match=r"looks like 'clinic'|of one alphabet"):
        ledger.grant(other, epsilon=4.0, delta=1e-5)
    assert ledger.datasets() == ("clinic",)


@pytest.mark.parametrize(
    "name", ["wards-2026", "wards-2027", "\u0431\u043e\u043b\u044c\u043d\u0438\u0446\u0430", "\u75c5\u9662 A", "***"]
)
def test_ordinary_names_are_taken(ledger, name):
    ledger.grant(name, epsilon=4.0, delta=1e-5)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"null", b"{}", b'{"sequence": 1e999, "digest": "x"}', b'{"sequence": -1, "digest": "x"}', b"\xff\xfe",
     b'{"sequence": "one", "digest": 2}', b'{"sequence": ' + b"9" * 5000 + b', "digest": "x"}', b"[" * 100_000,
     b'{"sequence": true, "digest": null}', b" " * 10**6],
)  # fmt: skip
def test_a_damaged_head_is_one_clear_error(ledger, path, content):
    path.with_name("ledger.db.head").write_bytes(content)
    with pytest.raises(LedgerError, match=r"cannot be read|rolled back"):
        Ledger(path)


def test_a_head_that_is_a_device_does_not_hang(ledger, path):
    head = path.with_name("ledger.db.head")
    head.unlink()
    head.symlink_to("/dev/zero")
    with pytest.raises(LedgerError, match="not a regular file"):
        Ledger(path)


def test_a_resealed_entry_without_its_fields_is_one_clear_error(ledger, path):
    with ledger._chain.transaction() as transaction:
        transaction.append("charge", {"dataset": "clinic", "mu_squared": "1/0"})
    for question in (
        lambda book: book.budget("clinic"),
        lambda book: book.releases("clinic"),
        lambda book: book.find("r"),
    ):
        with pytest.raises(LedgerError, match="cannot be read"):
            question(Ledger(path))


def test_a_clock_set_backwards_changes_nothing(ledger, path, monkeypatch):
    times = iter(["2026-05-01T00:00:00+00:00", "1970-01-01T00:00:00+00:00", "2026-04-01T00:00:00+00:00"])
    monkeypatch.setattr("graphglass.privacy.release.ledger._now", lambda: next(times))
    spend(ledger, "first", Fraction(1, 10))
    spend(ledger, "second", Fraction(1, 10))
    ledger.complete("first", b"summary")
    reopened = Ledger(path)
    assert [line.release for line in reopened.releases("clinic")] == ["first", "second"]
    assert reopened.budget("clinic").spent == Fraction(1, 5)
    with pytest.raises(PrivacyError, match="twice"):
        spend(reopened, "first", Fraction(1, 10))


def test_removed_fingerprints_are_noticed(ledger, path):
    marks = [ledger.fingerprint(name) for name in "abc"]
    charge = partial(ledger.charge, mu_squared=Fraction(1, 100), total_variation=TINY, request={})
    charge("clinic", "r", fingerprints=marks)
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER fingerprints_no_DELETE")
    connection.execute("DELETE FROM fingerprints WHERE fingerprint = ?", (marks[0],))
    connection.commit()
    connection.close()
    ledger.grant("other", epsilon=4.0, delta=1e-5)
    with pytest.raises(LedgerError, match="incomplete"):
        charge("other", "s", fingerprints=marks[:1])


def test_fingerprints_of_two_ledgers_cannot_be_compared(ledger, tmp_path):
    other = Ledger.create(tmp_path / "other.db")
    assert ledger.fingerprint("graph") != other.fingerprint("graph")
    assert ledger.fingerprint("graph") == Ledger(tmp_path / "ledger.db").fingerprint("graph")
