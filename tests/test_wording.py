"""Plain technical English: the words messages share, and turns of phrase that must not come back."""

import re
from pathlib import Path

import pytest

from graphglass.messages import command_line, counted, listing, setting

ROOT = Path(__file__).parents[1]
TEXTS = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "src").rglob("*.py"),
    *(ROOT / "examples").glob("*.py"),
    *(ROOT / "bench" / "src").rglob("*.py"),
    *(ROOT / "bench" / "docs").glob("*.md"),
]
# Personified components, archaic words, and questions where an instruction belongs.
ODD = re.compile(
    r"not to be had|\bhears?\b|\bheard\b|(is|are) silent\b|without a word|\banew\b|Where to\?|stands? twice|"
    r"says little|"
    r"\b(thereof|hitherto|herein|whence|thence|amidst|whosoever|nought|naught)\b|left out, and said|handed in",
    re.IGNORECASE,
)
# Sentences that reviews rewrote, by the words that no other sentence has.
REWRITTEN = re.compile(
    r"has another ending|tells? of them without noise|lack no edge label|meeting the other's leftovers|"
    r"ended when its time is over|that the detector knows already|deviation of a small set may have missed|"
    r"has a say in the units|how readily wealth moves|count on where they clash|flows into and out of nodes|"
    r"have lines of their own|tells how many it does not|one half is the$|useful middle",
    re.IGNORECASE,
)
# Habits: a few uses are fine, a page full of them is not.
HABITS = {"so that": 12, "beside": 5, "of its own": 9, "apart": 8, "alike": 22}
# The project speaks of itself alone.
ELSEWHERE = re.compile(r"\.\./shared|/work/|\bthis session\b|\bissue \d+", re.IGNORECASE)


def test_words():
    assert [counted(number, "graph") for number in (0, 1, 2)] == ["0 graphs", "1 graph", "2 graphs"]
    assert listing([]) == "none"
    assert listing(["a", "b"]) == "a, b"
    assert listing("abcd", 2) == "a, b, ... (4 in all)"
    assert setting("id_column", "NAME") == "id_column='NAME'"
    with command_line():
        assert setting("id_column", "NAME") == "--id-column NAME"
        assert [setting("directed", value) for value in (True, False)] == ["--directed", "--undirected"]
        assert setting("ignore", ["a", "b"]) == "--ignore a --ignore b"
        assert setting("graph_column", "case") == "--graph-id case"


@pytest.mark.parametrize("pattern", [ODD, REWRITTEN, ELSEWHERE], ids=["odd", "rewritten", "elsewhere"])
def test_no_odd_turn_of_phrase(pattern):
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in TEXTS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("words", HABITS)
def test_habits_stay_rare(words):
    found = sum(len(re.findall(rf"\b{words}\b", path.read_text(encoding="utf-8"), re.IGNORECASE)) for path in TEXTS)
    assert found <= HABITS[words]


def test_help_is_made_of_sentences():
    """Every help text starts with a capital or a literal and ends with a full stop or a default."""
    from typer.main import get_command

    from graphglass.cli.app import COMMANDS, app

    group = get_command(app)
    commands = [group.get_command(None, name) for name in COMMANDS]
    commands += [
        item.get_command(None, name)
        for item in commands
        if hasattr(item, "list_commands")
        for name in item.list_commands(None)
    ]
    for command in commands:
        assert command.help.strip().endswith("."), command.name
        for parameter in command.params:
            text = getattr(parameter, "help", None)
            assert text, (command.name, parameter.name)
            assert text.rstrip().endswith((".", "]")), (command.name, parameter.name, text)
