import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from graphglass.errors import EncoderError, ParameterError
from graphglass.glass.encoders.endpoint import EndpointEncoder
from graphglass.glass.encoders.text_encoder import Fingerprint, load_encoder, load_saved_encoder


class Server:
    """A real HTTP server on this machine; `failures` are served, first to last, before it behaves."""

    def __init__(self):
        self.failures, self.requests, self.keys = [], [], []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                outer.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                outer.keys.append(self.headers.get("Authorization"))
                outer.respond(self)

            def do_GET(self):
                outer.requests.append("GET")
                self.send_error(404)

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}/v1#toy"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def respond(self, handler):
        texts = self.requests[-1]["input"]
        failure = self.failures.pop(0) if self.failures else None
        if callable(failure):
            failure(handler)
            return
        if isinstance(failure, int):
            self.reply(handler, failure, b'{"error": "injected"}')
            return
        data = [{"index": i, "embedding": row(text)} for i, text in enumerate(texts)]
        body = failure if isinstance(failure, bytes) else json.dumps({"data": data[::-1]}).encode()
        self.reply(handler, 200, body)

    @staticmethod
    def reply(handler, status, body, **headers):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)


def row(text):
    return [float(len(text)), float(sum(map(ord, text)) % 17), 1.0]


@pytest.fixture
def server(monkeypatch):
    for name in ("GRAPHGLASS_API_KEY", "GRAPHGLASS_API_KEY_HOST", "GRAPHGLASS_ENCODER"):
        monkeypatch.delenv(name, raising=False)
    server = Server()
    yield server
    server.http.shutdown()
    server.http.server_close()


def _expected(texts):
    rows = np.array([row(text) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_rows_come_back_in_the_order_of_the_prompts(server):
    encoder = load_encoder(server.address, batch_size=3)
    assert encoder.dimension == 3
    texts = [f"prompt {'x' * i}" for i in range(8)]
    np.testing.assert_allclose(encoder.encode(texts), _expected(texts), atol=1e-6)
    assert [len(request["input"]) for request in server.requests] == [1, 3, 3, 2]
    assert server.requests[1]["model"] == "toy"
    assert encoder.fingerprint.weights == "remote"
    assert encoder.encode([]).shape == (0, 3)


def test_the_key_goes_to_the_host_it_was_configured_for(server, monkeypatch):
    load_encoder(server.address)
    monkeypatch.setenv("GRAPHGLASS_API_KEY", "secret-1")
    with pytest.raises(EncoderError, match=r"GRAPHGLASS_API_KEY_HOST=127\.0\.0\.1:"):
        load_encoder(server.address)
    monkeypatch.setenv("GRAPHGLASS_API_KEY_HOST", "api.example.org")
    load_encoder(server.address)
    monkeypatch.setenv("GRAPHGLASS_API_KEY_HOST", "127.0.0.1")
    load_encoder(server.address)
    monkeypatch.setenv("OTHER", "secret-2")
    monkeypatch.setenv("OTHER_HOST", server.address.split("/")[2])
    encoder = load_encoder(server.address, key_variable="OTHER")
    assert server.keys == [None, None, "Bearer secret-1", "Bearer secret-2"]
    assert "secret" not in json.dumps(encoder.fingerprint.to_json())


def test_passing_failures_are_retried(server):
    def hang_up(handler):
        handler.connection.shutdown(socket.SHUT_RDWR)

    encoder = load_encoder(server.address, dimension=3, backoff=0.01)
    server.failures = [503, 429, hang_up, 500]
    np.testing.assert_allclose(encoder.encode(["a"]), _expected(["a"]), atol=1e-6)
    assert len(server.requests) == 5


def test_the_server_may_ask_for_a_pause(server, monkeypatch):
    encoder = load_encoder(server.address, dimension=3, backoff=50)
    server.failures = [lambda handler: Server.reply(handler, 429, b"", Retry_After="3")]
    pauses = []
    monkeypatch.setattr("graphglass.glass.encoders.endpoint.time.sleep", pauses.append)
    encoder.encode(["a"])
    assert pauses == [3]


def test_lasting_failures_end_in_an_error(server):
    encoder = load_encoder(server.address, dimension=3, backoff=0.01, retries=2)
    server.failures = [503] * 3
    with pytest.raises(EncoderError, match=r"3 attempts.*503"):
        encoder.encode(["a"])
    assert len(server.requests) == 3


def test_a_refusal_is_not_retried_and_keeps_the_key_out(server, monkeypatch):
    monkeypatch.setenv("GRAPHGLASS_API_KEY", "secret-1")
    monkeypatch.setenv("GRAPHGLASS_API_KEY_HOST", "127.0.0.1")
    encoder = load_encoder(server.address, dimension=3)
    server.failures = [401]
    with pytest.raises(EncoderError, match=r"status 401.*injected") as caught:
        encoder.encode(["a"])
    assert "secret-1" not in str(caught.value)
    assert len(server.requests) == 1


def test_redirects_are_not_followed(server):
    encoder = load_encoder(server.address, dimension=3)
    server.failures = [lambda handler: Server.reply(handler, 307, b"", Location=server.address.split("#")[0])]
    with pytest.raises(EncoderError, match="307"):
        encoder.encode(["a"])
    assert len(server.requests) == 1


def test_a_silent_server_times_out(server):
    encoder = load_encoder(server.address, dimension=3, timeout=0.2, retries=0)
    server.failures = [lambda handler: time.sleep(1)]
    with pytest.raises(EncoderError, match="did not answer"):
        encoder.encode(["a"])


def test_nobody_listens():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(EncoderError, match="did not answer after 2 attempts"):
        load_encoder(f"http://127.0.0.1:{port}/v1#toy", retries=1, backoff=0.01)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>", "one embedding per prompt"),
        (b"[]", "one embedding per prompt"),
        (b'{"data": []}', "0 embeddings for 1"),
        (b'{"data": [{"index": 1, "embedding": [1, 2, 3]}]}', "one embedding per prompt"),
        (b'{"data": [{"index": 0, "embedding": [1, 2]}]}', "dimension 3"),
        (b'{"data": [{"index": 0, "embedding": [1, null, 3]}]}', "NaN"),
        (b'{"data": [{"index": 0, "embedding": [1, NaN, 3]}]}', "NaN"),
        (b'{"data": [{"index": 0, "embedding": [0, 0, 0]}]}', "zero row"),
        (b'{"data": [{"index": 0, "embedding": "text"}]}', "one embedding per prompt"),
        (b'{"data": [{"index": 0, "embedding": [1, "x", 3]}]}', "one embedding per prompt"),
    ],
)
def test_unusable_answers(server, body, message):
    encoder = load_encoder(server.address, dimension=3)
    server.failures = [body]
    with pytest.raises(EncoderError, match=message):
        encoder.encode(["a"])


@pytest.mark.parametrize(
    "address", ["http://host/v1", "http://#model", "ftp://host/v1#model", "http://user:pw@host/v1#model"]
)
def test_bad_addresses(address):
    with pytest.raises(ParameterError):
        EndpointEncoder(address)


@pytest.mark.parametrize("option", [{"batch_size": 0}, {"retries": -1}, {"timeout": 0}])
def test_bad_options(option):
    with pytest.raises(ParameterError):
        EndpointEncoder("http://127.0.0.1:1/v1#model", dimension=3, **option)


@pytest.mark.parametrize("named", [None, "http://elsewhere.example/v1#toy", "numeric"])
def test_an_endpoint_in_a_model_is_not_contacted(server, named, monkeypatch):
    """A model file may not decide where data goes."""
    stored = Fingerprint(server.address, "toy", "t", "remote", 3)
    with pytest.raises(EncoderError, match=r"name it: GLASS\.load"):
        load_saved_encoder(stored, named, "a model")
    upper = Fingerprint(server.address.replace("http", "HTTP"), "toy", "t", "remote", 3)
    with pytest.raises(EncoderError, match="name it"):
        load_saved_encoder(upper, named, "a model")
    assert server.requests == []
    assert load_saved_encoder(stored, server.address, "a model").dimension == 3
    monkeypatch.setenv("GRAPHGLASS_ENCODER", server.address)
    assert load_saved_encoder(stored, None, "a model").dimension == 3
