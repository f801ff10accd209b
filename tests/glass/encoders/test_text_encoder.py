import numpy as np
import pytest

from graphglass.errors import EncoderError, GlassError, ParameterError
from graphglass.glass.encoders.numeric import NumericEncoder
from graphglass.glass.encoders.text_encoder import Fingerprint, TextEncoder, checked_rows, load_encoder


def test_unit_rows_scales_and_keeps_order():
    rows = checked_rows([[3, 4], [0, -2]], 2, 2, "x")
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, -1]])
    assert rows.dtype == np.float32


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 2.0]], "2 rows of dimension 2"),
        ([[1.0], [2.0]], "2 rows of dimension 2"),
        ([[1.0, np.nan], [1.0, 2.0]], "NaN or infinity for 1 of 2"),
        ([[1.0, 1.0], [np.inf, 2.0]], "NaN or infinity"),
        ([[1.0, 1.0], [0.0, 0.0]], "zero row for prompt 1"),
    ],
)
def test_unusable_rows_are_refused(rows, message):
    with pytest.raises(EncoderError, match=message):
        checked_rows(rows, 2, 2, "x")


def test_a_fingerprint_survives_json_and_every_part_counts():
    parts = {"name": "a", "revision": "b", "template": "c", "weights": "d", "dimension": 3}
    fingerprint = Fingerprint(**parts)
    assert Fingerprint.from_json(fingerprint.to_json()) == fingerprint
    others = [Fingerprint(**{**parts, key: 4 if key == "dimension" else "z"}) for key in parts]
    assert len({fingerprint.digest, *(other.digest for other in others)}) == 6
    with pytest.raises(EncoderError, match="another version"):
        Fingerprint.from_json({"name": "a"})


@pytest.mark.parametrize("name", ["nope", "Numeric", "/no/such/folder", "./nowhere", "a/b/c", "minilm.onnx"])
def test_an_unknown_encoder_is_named_in_the_error(name):
    with pytest.raises(EncoderError, match=name.replace(".", r"\.")):
        load_encoder(name)


def test_bad_names_and_options():
    for wrong in ("", None, 3):
        with pytest.raises(ParameterError):
            load_encoder(wrong)
    with pytest.raises(GlassError, match="colour"):
        load_encoder("numeric", colour="red")


def test_the_protocol_is_met():
    assert isinstance(NumericEncoder(), TextEncoder)
