"""schemathesis reads the API's description and sends what it allows and what it does not."""

import shutil

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

from graphglass.serve.app import create_app
from graphglass.serve.service import Service

OPERATIONS = [
    ("GET", "/v1/model"), ("GET", "/v1/map"), ("POST", "/v1/score"), ("POST", "/v1/explain"),
    ("GET", "/v1/references"), ("POST", "/v1/references"), ("DELETE", "/v1/references"), ("GET", "/readyz"),
    ("GET", "/v1/anomalies"), ("POST", "/v1/anomalies"), ("DELETE", "/v1/anomalies"),
    ("GET", "/v1/example"), ("POST", "/v1/read"), ("POST", "/v1/drift"),
    ("POST", "/v1/place"), ("POST", "/v1/reviews"), ("POST", "/v1/reviews/{review}/graphs"),
    ("POST", "/v1/reviews/{review}/marks"),
]  # fmt: skip


@pytest.fixture(scope="module")
def described(model, limits, serving, tmp_path_factory):
    """A server on a model of its own, and the description it gives of itself."""
    path = tmp_path_factory.mktemp("described") / "model"
    shutil.copytree(model, path)
    with serving(create_app(Service(path), limits=limits)) as address:
        yield schemathesis.openapi.from_dict(httpx.get(f"{address}/openapi.json").json()), address


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_no_request_breaks_the_service(described, method, path):
    schema, address = described
    operation = schema[path][method]

    for mode, examples in ((GenerationMode.POSITIVE, 10), (GenerationMode.NEGATIVE, 8)):
        if mode == GenerationMode.NEGATIVE and not _takes_input(schema, method, path):
            continue

        @settings(
            max_examples=examples, deadline=None, derandomize=True, database=None,
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case):
            response = case.call(base_url=address, timeout=120)
            assert response.status_code < 500, response.text
            documented = schema.raw_schema["paths"][path][method.lower()]["responses"]
            assert str(response.status_code) in documented

        check()


def _takes_input(schema, method, path):
    described = schema.raw_schema["paths"][path][method.lower()]
    return "requestBody" in described or "parameters" in described


def test_every_operation_is_tried(described):
    schema, _ = described
    listed = {(method.upper(), path) for path, item in schema.raw_schema["paths"].items() for method in item}
    assert listed - set(OPERATIONS) == {("GET", "/healthz"), ("GET", "/metrics")}
