"""The embedder that asks an OpenAI-compatible endpoint, against real HTTP servers."""

import email.utils
import json
import logging
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from afterwit import clock
from afterwit.config import Settings, load_settings
from afterwit.embedding import Embedder, HashEmbedder, open_embedder
from afterwit.errors import ConfigError, ProviderError

KEY = "sk-very-secret-key-1234567890"
DIMENSIONS = 256


@dataclass
class Answer:
    """What the server does with one request."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    #: sends a byte, then one more whenever this many seconds have passed, until the test ends
    drip_s: float = 0.0


def embeddings(texts: list[str], *, scale: float = 3.0) -> Answer:
    rows = HashEmbedder(DIMENSIONS).embed(texts) * scale
    data = [{"object": "embedding", "index": index, "embedding": row.tolist()} for index, row in enumerate(rows)]
    return Answer(json.dumps({"object": "list", "data": data[::-1], "model": "m"}).encode())


class Server(ThreadingHTTPServer):
    """Answers as scripted, then properly; keeps what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[Answer | Callable[[list[str]], Answer]] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.ended = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(request)
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.server.paths.append(self.path)
        answer = self.server.script.pop(0) if self.server.script else embeddings
        if not isinstance(answer, Answer):
            answer = answer(request["input"])
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(10_000 if answer.drip_s else len(answer.body)))
        self.end_headers()
        while answer.drip_s and not self.server.ended.wait(answer.drip_s):
            try:
                self.wfile.write(b" ")
            except OSError:
                break
        self.wfile.write(b"" if answer.drip_s else answer.body)
        self.close_connection = bool(answer.drip_s)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("TEST_KEY", KEY)
    running = Server()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running
    running.ended.set()
    running.shutdown()
    thread.join()
    running.server_close()


def settings_for(url: str, **more: str | float) -> Settings:
    values: dict[str, str | int | float] = {
        "embedder": "openai:small",
        "embedder_url": url,
        "embedder_key_env": "TEST_KEY",
        **more,
    }
    return load_settings(environ={"AFTERWIT_DATA_DIR": "/nonexistent"}, overrides=values)


@pytest.fixture
def opened() -> Iterator[Callable[..., Embedder]]:
    made: list[Embedder] = []

    def open_it(url: str, **more: str | float) -> Embedder:
        embedder = open_embedder(settings_for(url, **more))
        assert embedder is not None
        made.append(embedder)
        return embedder

    yield open_it
    for embedder in made:
        embedder.close()


Open = Callable[..., Embedder]


def test_vectors_come_back_in_order_and_of_unit_length(server: Server, opened: Open) -> None:
    texts = [f"text number {number}" for number in range(5)]
    rows = opened(server.url).embed(texts)
    np.testing.assert_allclose(rows, HashEmbedder(DIMENSIONS).embed(texts), atol=1e-6)
    assert rows.dtype == np.float32
    assert server.requests[-1] == {"model": "small", "input": texts}
    assert server.paths[-1] == "/v1/embeddings"
    assert server.headers[-1]["authorization"] == f"Bearer {KEY}"


def test_model_id_comes_from_one_probe(server: Server, opened: Open) -> None:
    embedder = opened(server.url + "/")
    assert server.requests == []
    expected = f"openai/small@127.0.0.1:{server.server_port}/{DIMENSIONS}/p1"
    assert (embedder.model, embedder.model, embedder.dimensions) == (expected, expected, DIMENSIONS)
    assert len(server.requests) == 1


def test_warm_asks_before_the_first_text(server: Server, opened: Open) -> None:
    embedder = opened(server.url)
    embedder.warm()
    assert embedder.dimensions == DIMENSIONS
    assert [request["input"] for request in server.requests] == [["memory"]]


def test_large_batches_are_split_at_64(server: Server, opened: Open) -> None:
    texts = [f"t{number}" for number in range(150)]
    rows = opened(server.url).embed(texts)
    assert [len(request["input"]) for request in server.requests] == [1, 64, 64, 22]
    np.testing.assert_allclose(rows, HashEmbedder(DIMENSIONS).embed(texts), atol=1e-6)
    assert opened(server.url).embed([]).shape == (0, DIMENSIONS)


def test_blank_and_long_texts_are_made_acceptable(server: Server, opened: Open) -> None:
    opened(server.url).embed(["  ", "x" * 9_000, "\ud800"])
    assert server.requests[-1]["input"] == ["-", "x" * 2_000, "?"]


def test_repeated_query_is_not_sent_again(server: Server, opened: Open) -> None:
    embedder = opened(server.url)
    np.testing.assert_array_equal(embedder.embed(["tea"]), embedder.embed(["tea"]))
    assert len(server.requests) == 2


def test_local_server_needs_no_key(server: Server, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_KEY")
    opened(server.url).embed(["x"])
    assert "authorization" not in server.headers[-1]


def test_query_string_of_the_url_is_kept(server: Server, opened: Open) -> None:
    opened(server.url + "?api-version=1").embed(["x"])
    assert server.paths[-1] == "/v1/embeddings?api-version=1"


# --- Second tries ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_passing_failure_is_tried_once_more(server: Server, opened: Open, status: int) -> None:
    server.script = [Answer(b"busy", status, {"retry-after": "0"})]
    assert opened(server.url).embed(["x"]).shape == (1, DIMENSIONS)
    assert len(server.requests) == 3


def test_retry_after_may_be_a_date(server: Server, opened: Open) -> None:
    past = email.utils.format_datetime(clock.utc_now() - timedelta(hours=1), usegmt=False)
    server.script = [Answer(b"", 503, {"retry-after": past})]
    assert opened(server.url).dimensions == DIMENSIONS


def test_pause_longer_than_the_timeout_is_not_waited_for(server: Server, opened: Open) -> None:
    server.script = [Answer(b'{"error": {"message": "slow down"}}', 429, {"retry-after": "3600"})]
    with pytest.raises(ProviderError, match="429: slow down"):
        opened(server.url).embed(["x"])
    assert len(server.requests) == 1


def test_lasting_failure_is_reported_after_two_tries(server: Server, opened: Open) -> None:
    server.script = [Answer(b"<html>oops</html>", 500, {"retry-after": "0"})] * 2
    with pytest.raises(ProviderError, match="500") as caught:
        opened(server.url).embed(["x"])
    assert caught.value.next_step
    assert len(server.requests) == 2


def test_failed_probe_is_asked_again(server: Server, opened: Open) -> None:
    server.script = [Answer(b"", 404)]
    embedder = opened(server.url)
    with pytest.raises(ProviderError, match="404"):
        embedder.embed(["x"])
    assert embedder.embed(["x"]).shape == (1, DIMENSIONS)


# --- Bad answers ----------------------------------------------------------------------------------


def data(*items: object) -> bytes:
    return json.dumps({"data": list(items)}).encode()


def item(index: object, vector: object) -> dict[str, object]:
    return {"index": index, "embedding": vector}


BAD_ANSWERS = {
    "prose": b"Sorry, I cannot do that.",
    "empty": b"",
    "invalid UTF-8": b"\xff\xfe\x00",
    "deep": b"[" * 100_000,
    "list": b"[1, 2]",
    "null": b"null",
    "no data": b'{"object": "list"}',
    "data is text": b'{"data": "x"}',
    "data is null": b'{"data": null}',
    "too few": data(),
    "too many": data(item(0, [1.0]), item(1, [1.0])),
    "index twice": data(item(0, [1.0]), item(0, [1.0])),
    "index wrong": data(item(7, [1.0])),
    "index missing": b'{"data": [{"embedding": [1.0]}]}',
    "index is a list": data(item([], [1.0])),
    "vector missing": b'{"data": [{"index": 0}]}',
    "vector null": data(item(0, None)),
    "vector empty": data(item(0, [])),
    "vector of words": data(item(0, ["a", "b"])),
    "vector is base64": data(item(0, "AACAPwAAAEA=")),
    "vector nested": data(item(0, [[1.0, 2.0]])),
    "vector ragged": data(item(0, [1.0, [2.0]])),
    "NaN": b'{"data": [{"index": 0, "embedding": [1.0, NaN]}]}',
    "infinite": b'{"data": [{"index": 0, "embedding": [1.0, 1e999]}]}',
    "huge": b'{"data": [{"index": 0, "embedding": [1e300, 1e300]}]}',
    "huge integer": b'{"data": [{"index": 0, "embedding": [1' + b"0" * 400 + b"]}]}",
    "zeros": data(item(0, [0.0, 0.0])),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_bad_answer_is_a_provider_error(server: Server, opened: Open, name: str) -> None:
    server.script = [Answer(BAD_ANSWERS[name])]
    with pytest.raises(ProviderError) as caught:
        opened(server.url).embed(["x"])
    assert caught.value.next_step
    assert f"127.0.0.1:{server.server_port}" in caught.value.message


def test_vectors_of_different_lengths_are_a_provider_error(server: Server, opened: Open) -> None:
    embedder = opened(server.url)
    assert embedder.dimensions
    server.script = [Answer(data(item(0, [1.0, 2.0]), item(1, [1.0])))]
    with pytest.raises(ProviderError, match="did not answer with embeddings"):
        embedder.embed(["x", "y"])


def test_change_of_dimensions_is_a_provider_error(server: Server, opened: Open) -> None:
    embedder = opened(server.url)
    assert embedder.dimensions == DIMENSIONS
    server.script = [Answer(data(item(0, [1.0, 2.0])))]
    with pytest.raises(ProviderError, match="answered 2 dimensions after 256"):
        embedder.embed(["x"])


# --- Endpoints that do not answer -----------------------------------------------------------------


def test_hanging_server_is_left_at_the_timeout(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ProviderError, match=r"within 0\.2 s") as caught:
            opened(url, embedder_timeout_s=0.2).embed(["x"])
    assert "embedder_timeout_s" in caught.value.next_step


def test_dripping_server_is_left_at_the_timeout(server: Server, opened: Open) -> None:
    server.script = [Answer(b"", drip_s=0.02)]
    with pytest.raises(ProviderError, match=r"within 0\.3 s"):
        opened(server.url, embedder_timeout_s=0.3).embed(["x"])


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}/v1", "https://127.0.0.1:{port}/v1"])
def test_refused_connection_is_a_provider_error(opened: Open, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        opened(url.format(port=port), embedder_timeout_s=0.4).embed(["x"])
    assert "embedder_url" in caught.value.next_step


def test_connection_that_breaks_is_tried_once_more(server: Server, opened: Open) -> None:
    embedder = opened(server.url)
    assert embedder.dimensions == DIMENSIONS

    def cut_off(texts: list[str]) -> Answer:
        raise ConnectionAbortedError

    server.handle_error = lambda request, client_address: None
    server.script = [cut_off]
    assert embedder.embed(["x"]).shape == (1, DIMENSIONS)
    assert len(server.requests) == 3


def test_redirect_is_not_followed_with_the_key(server: Server, opened: Open) -> None:
    server.script = [Answer(b"", 302, {"location": "http://127.0.0.1:1/steal"})]
    with pytest.raises(ProviderError, match="302"):
        opened(server.url).embed(["x"])


def test_closed_embedder_says_so(server: Server, opened: Open) -> None:
    embedder = opened(server.url)
    assert embedder.dimensions
    embedder.close()
    embedder.warm()
    with pytest.raises(ProviderError, match="closed"):
        embedder.embed(["x"])


# --- The key --------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_key_is_in_no_error_and_no_log(
    server: Server, opened: Open, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    caplog.set_level(logging.DEBUG)
    body = json.dumps({"error": {"message": f"Incorrect API key: {KEY}"}}).encode()
    server.script = [Answer(body, status, {"retry-after": "0"})] * 2
    embedder = opened(server.url)
    with pytest.raises(ProviderError) as caught:
        embedder.embed(["x"])
    shown = "".join(traceback.format_exception(caught.value)) + caught.value.next_step + caplog.text + repr(embedder)
    assert KEY not in shown
    assert "sk-very" not in shown
    if status in {401, 403}:
        assert "TEST_KEY" in caught.value.next_step


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "embedder_url is empty"),
        ("   ", "embedder_url is empty"),
        ("api.example.org/v1", "not an http"),
        ("ftp://example.org", "not an http"),
        ("http://", "not an http"),
        ("http://example.org:99999", "not a URL"),
        ("http://[::1", "not a URL"),
        ("http://user:password@example.org", "user name or password"),
    ],
)
def test_malformed_url_is_a_config_error(url: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        open_embedder(settings_for(url))
    assert caught.value.next_step
    assert "password@" not in str(caught.value)


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", "tab\there"])
def test_key_that_no_header_can_carry_is_a_config_error(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("TEST_KEY", key)
    with pytest.raises(ConfigError, match="TEST_KEY") as caught:
        open_embedder(settings_for("http://127.0.0.1:1"))
    assert key not in str(caught.value)
