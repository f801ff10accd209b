"""What a terminal must not be told by a graph."""

import io
import warnings

from rich.table import Table

from graphglass.cli import app as cli_app
from graphglass.cli.console import harmless, literal_console, print_table


def test_control_and_direction_characters_are_shown_instead_of_sent():
    screen = io.StringIO()
    console = literal_console(file=screen, width=80)
    table = Table()
    table.add_column("id")
    table.add_row("wipe \x1b[2J and \u202eback")
    console.print("[nH] \x1b[2J :o:")
    console.print(table)
    assert "\x1b" not in screen.getvalue()
    assert "\u202e" not in screen.getvalue()
    assert "[nH] \\x1b[2J :o:" in screen.getvalue()
    assert "wipe \\x1b[2J and \\u202eback" in screen.getvalue()


def test_a_long_id_leaves_room_for_the_other_columns(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    print_table(None, ("id", "score"), [("path/" * 60, "0.1234"), ("short", "0.5678")])
    shown = capsys.readouterr().out
    assert "0.1234" in shown
    assert "0.5678" in shown


def test_other_text_is_kept():
    assert harmless("Zürich 東京 – [nH]\nnext") == "Zürich 東京 – [nH]\nnext"


def test_a_warning_is_one_line_on_standard_error(monkeypatch, capsys):
    monkeypatch.setattr(cli_app, "app", lambda: warnings.warn("Skipped 2 graphs.", stacklevel=1))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        cli_app.main()
    assert capsys.readouterr().err == "glass: Skipped 2 graphs.\n"
