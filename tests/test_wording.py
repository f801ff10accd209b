from graphglass.wording import counted, listing, setting


def test_words():
    assert [counted(number, "graph") for number in (0, 1, 2)] == ["0 graphs", "1 graph", "2 graphs"]
    assert listing([]) == "none"
    assert listing(["a", "b"]) == "a, b"
    assert listing("abcd", 2) == "a, b, ... (4 in all)"
    assert setting("id_column", "NAME") == "--id-column NAME (id_column='NAME' in Python)"
