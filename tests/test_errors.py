"""Errors travel between processes with their message and fields."""

import pickle

import pytest

from graphglass.errors import GlassError, GraphError, MissingExtraError, ParameterError, UnknownColumnsError

ERRORS = [
    GraphError("odd"), ParameterError("GLASS", "alpha", "positive", -1), MissingExtraError("SMILES", "chem"),
    UnknownColumnsError("no graphs", ["day", "from"]),
]  # fmt: skip


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_keeps_its_kind_message_and_fields(error: GlassError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
