import json

from graphglass.embedding.training.history import CURVES, TrainingHistory


def test_grows_as_a_value_and_survives_json():
    empty = TrainingHistory()
    epoch = {name: float(index) for index, name in enumerate(CURVES)}
    one = empty.extended(**epoch, seconds=0.5)
    assert len(empty) == 0
    assert len(one) == 1
    assert one.gram == (2.0,)
    assert TrainingHistory.from_json(json.loads(json.dumps(one.to_json()))) == one


def test_time_is_not_compared():
    epoch = dict.fromkeys(CURVES, 1.0)
    assert TrainingHistory().extended(**epoch, seconds=1.0) == TrainingHistory().extended(**epoch, seconds=2.0)
