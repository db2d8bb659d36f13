"""A real HTTP server that answers as a language model's API does, as scripted."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Said:
    """What the server does with one request."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    #: sends headers and a byte, then nothing until the test ends
    hangs: bool = False


def chat(content: str | None, *, read: int = 11, written: int = 7, finish: str = "stop") -> Said:
    """An answer in the form of OpenAI's chat completions."""
    message = {"role": "assistant", "content": content}
    return Said(
        json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, "finish_reason": finish, "message": message}],
                "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
            }
        ).encode()
    )


def anthropic(content: list[dict[str, Any]], *, stop: str = "tool_use") -> Said:
    """An answer in the form of Anthropic's messages."""
    return Said(
        json.dumps(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": content,
                "stop_reason": stop,
                "stop_sequence": None,
                "usage": {"input_tokens": 13, "output_tokens": 5},
            }
        ).encode()
    )


def refusal(status: int, message: str = "no", **headers: str) -> Said:
    """An error in the form that both use, to be tried again at once."""
    body = json.dumps({"error": {"message": message, "type": "error"}}).encode()
    return Said(body, status, {"retry-after-ms": "1"} | headers)


class ModelServer(ThreadingHTTPServer):
    """Answers as scripted, in turn; keeps what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: list[Said] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.ended = threading.Event()

    @property
    def host(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self.server_port}"

    @property
    def url(self) -> str:
        """Base of the API."""
        return f"http://{self.host}/v1"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelServer

    def do_POST(self) -> None:
        self.server.requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.server.paths.append(self.path)
        said = self.server.script.pop(0) if self.server.script else refusal(418, "the script is at its end")
        self.send_response(said.status)
        for name, value in ({"content-type": "application/json"} | said.headers).items():
            self.send_header(name, value)
        self.send_header("content-length", str(10_000 if said.hangs else len(said.body)))
        self.end_headers()
        if said.hangs:
            self.wfile.write(b" ")
            self.server.ended.wait()
            self.close_connection = True
        else:
            self.wfile.write(said.body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def running_server() -> Iterator[ModelServer]:
    """A server for as long as the block lasts."""
    server = ModelServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()
