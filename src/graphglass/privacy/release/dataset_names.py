"""Names of datasets that nobody can take for one another."""

from __future__ import annotations

import unicodedata

from graphglass.errors import ParameterError

_ALPHABETS = frozenset({"LATIN", "GREEK", "CYRILLIC", "CHEROKEE", "ARMENIAN"})  # their letters look alike


def check_name(dataset: str) -> None:
    words = {unicodedata.name(c, "").split(" ")[0] for c in dataset if c.isalpha()}  # LATIN, GREEK, CYRILLIC, ...
    lookalike = len(words & _ALPHABETS) > 1
    if not 1 <= len(dataset) <= 200 or not dataset.isprintable() or dataset != dataset.strip() or lookalike:
        raise ParameterError(
            "Ledger.grant", "dataset", "1 to 200 printable characters of one alphabet, without spaces around", dataset
        )


def skeleton(dataset: str) -> str:
    """Equal for names a reader could take for one another: case, accents, separators, 0 and O, 1, I and l."""
    letters = unicodedata.normalize("NFKD", dataset).casefold()
    kept = "".join(c for c in letters if c.isalnum()) or dataset
    return kept.translate(str.maketrans("01i", "oll"))
