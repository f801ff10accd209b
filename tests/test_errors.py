"""Errors travel between processes with their message."""

import pickle

import pytest

from graphglass.errors import GlassError, GraphError, MissingExtraError, ParameterError

ERRORS = [GraphError("odd"), ParameterError("GLASS", "alpha", "positive", -1), MissingExtraError("SMILES", "chem")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_keeps_its_kind_and_message(error: GlassError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
