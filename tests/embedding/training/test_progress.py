from graphglass.embedding.training.progress import epoch_progress


def test_draws_on_a_terminal_when_asked(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with epoch_progress(3, 1, show=True) as advance:
        advance(0.25)
        advance(0.125)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "epochs" in shown.err
    assert "0.1250" in shown.err


def test_is_silent_otherwise(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with epoch_progress(3, 0, show=False) as advance:
        advance(1.0)
    monkeypatch.delenv("FORCE_COLOR")
    with epoch_progress(3, 0, show=True) as advance:
        advance(1.0)
    assert capsys.readouterr() == ("", "")
